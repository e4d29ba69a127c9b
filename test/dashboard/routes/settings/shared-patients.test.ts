import { expect, test } from "vitest";
import type { ResultsPage, StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { connection, importEntities, keyPermissions, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, resultsClinic } from "../../results-clinic.ts";
import { rejectStudy, reopenStudy } from "../../../server/study-commands.ts";

// Two clinics share a patient. The notes, reasons and sample numbers of one clinic may name others of its patients.

async function sharedDog() {
  const { ours, theirs, dog, entities } = resultsClinic();
  const server = await startServer(...entities);
  await importEntities(server.store, connection(dog.fp, theirs));
  const sent = chemistry(dog, undefined, { patient_fp: null });
  await server.push(await server.makeKey(ours, keyPermissions), sent);
  const actor = (seconds: number) => ({ fp: sent.fp, by: "Ada", now: server.clock.now + seconds * 1000 });
  await server.store.transaction((session) => rejectStudy(session, { ...actor(1), reason: "it is Boncuk's" }));
  await server.store.transaction((session) => reopenStudy(session, actor(2)));
  await server.push(await server.makeKey(ours, keyPermissions), { ...sent, patient_fp: dog.fp, revision: 2 });
  const [owner, neighbour] = [await makeUser(server, "staff", ours), await makeUser(server, "staff", theirs)];
  await owner.call("POST", `/unmatched/${sent.fp}/assign`, { revision: 4, patient_fp: dog.fp });
  return { sent, owner, neighbour };
}

test("the clinic that sent a study reads its notes, reasons and sample numbers", async () => {
  const { sent, owner } = await sharedDog();
  const { body, text } = await owner.call<StudyPage>("GET", `/results/${sent.fp}`);
  expect(body.notes).toContain("the sample was diluted 1:2");
  expect(text).toContain("it is Boncuk's");
  const { body: list } = await owner.call<ResultsPage>("GET", "/results?q=A-77");
  expect(list.items.map(({ fp, sample_ids }) => [fp, sample_ids])).toEqual([[sent.fp, ["A-77"]]]);
});

test("another clinic of the patient reads the results alone", async () => {
  const { sent, neighbour } = await sharedDog();
  const { body, text } = await neighbour.call<StudyPage>("GET", `/results/${sent.fp}`);
  expect([body.notes, body.sample_ids, body.hint]).toEqual([[], [], null]);
  expect(body.rows.length).toBeGreaterThan(0);
  for (const word of ["Boncuk", "diluted", "A-77"]) expect(text).not.toContain(word);
  const { body: all } = await neighbour.call<ResultsPage>("GET", "/results");
  expect(all.items.map(({ fp, sample_ids }) => [fp, sample_ids])).toEqual([[sent.fp, []]]);
  const { body: found } = await neighbour.call<ResultsPage>("GET", "/results?q=A-77");
  expect(found.items).toEqual([]);
});

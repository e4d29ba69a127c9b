import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { expect, onTestFinished, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { type ListPage, type ListPosition, listResults } from "../../../../server/records/results/results.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { clinic, connection, connectTo, noon, patient, startServer, study } from "../../harness.ts";
import { assignStudy, moveStudy } from "../../study-commands.ts";

// Goal: a stored study that the disk changed is refused, reported and overwritten by a resend, and never served as good.

const LIST = "/api/v1/lab/diagnostics";

async function startWithStudies(count: number) {
  const [ours, dog, other] = [newFp("clinic"), patient(), patient()];
  const server = await startServer(clinic(ours), dog, other, connection(dog.fp, ours), connection(other.fp, ours));
  const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const database = await connectTo(server.database);
  onTestFinished(() => database.close());
  const studies = Array.from({ length: count }, () => study({ patient_fp: dog.fp }));
  await server.push(key, ...studies);

  /** Changes columns of a row as a disk would: its checksum stays. */
  const damage = async ({ fp }: PushedStudy, change: string) =>
    database.run(`update study set ${change} where fp = '${fp}'`);
  // A new URL each time: the cache of responses holds what was right when it was read.
  let reads = 0;
  const read = async ({ fp }: { fp: string }) => server.get(key, `${LIST}/${fp}?read=${(reads += 1)}`);
  const isListed = async ({ fp }: PushedStudy) => {
    const { body } = await server.get(key, LIST);
    return body.data.items.some((item) => item.fp === fp);
  };
  const leftOut = async (url: string) => (await server.get(key, url)).body.data.left_out;
  return { server, key, database, studies, dog, other, damage, read, isListed, leftOut };
}

const clinicOf = query((db) => db.selectFrom("clinic").select("id"));

const OTHER_VALUE = "results = replace(results, '5.2', '9.2')";

test("a damaged study is refused on its own, left out of lists, and reported once with a count", async () => {
  const { server, read, studies, damage, isListed } = await startWithStudies(3);
  const [bad, good] = studies as [PushedStudy, PushedStudy];
  await damage(bad, OTHER_VALUE);
  const answer = await read(bad);
  expect([answer.status, answer.body.error.code]).toEqual([500, "RECORD.DAMAGED"]);
  expect((await read(good)).status).toBe(200);
  expect([await isListed(bad), await isListed(good)]).toEqual([false, true]);
  const said = server.log.filter((line) => line.includes('"damaged":1'));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`the stored study ${bad.fp} is damaged`);
});

test("a list counts the damaged studies that it leaves out, and goes on after them", async () => {
  const { studies, damage, leftOut, server } = await startWithStudies(3);
  expect(await leftOut(LIST)).toBeUndefined();
  await damage(studies[1]!, OTHER_VALUE);
  expect(await leftOut(`${LIST}?page_size=100`)).toBe(1);
  const row = await server.store.transaction(async (session) => {
    const filter = {
      patientId: null,
      device: null,
      modality: null,
      severity: 0,
      from: null,
      to: null,
      search: null,
      units: AS_SENT,
    } as const;
    const { id: clinicId } = (await session.first(clinicOf, {}))!;
    const pages: { fps: string[]; leftOut: number }[] = [];
    for (let after: ListPosition | null = null, isLast = false; !isLast; ) {
      const page: ListPage = await listResults(session, { ...filter, clinicId, after }, 1);
      pages.push({ fps: page.items.map(({ fp }) => fp), leftOut: page.leftOut });
      after = page.next;
      isLast = after === null;
    }
    return pages;
  });
  expect(row.flatMap(({ fps }) => fps)).toHaveLength(2);
  expect(row.reduce((sum, page) => sum + page.leftOut, 0)).toBeGreaterThan(0);
});

test("each column that is served is covered, and the patient", async () => {
  const { read, studies, damage, other } = await startWithStudies(5);
  const changes = [
    "modality = 'HEMATOLOGY'",
    "device_name = 'X'",
    "status = 'PENDING'",
    "acquired_at = acquired_at + 1",
    `patient_id = (select id from patient where fp = '${other.fp}')`,
  ];
  for (const [index, change] of changes.entries()) {
    await damage(studies[index]!, change);
    expect((await read(studies[index]!)).status).toBe(500);
  }
});

test("without a checksum a changed study is served: the check is what finds it", async () => {
  const { read, studies, damage } = await startWithStudies(1);
  await damage(studies[0]!, `${OTHER_VALUE}, checksum = null`);
  const { status, body } = await read(studies[0]!);
  expect([status, body.data.results[0]?.value]).toEqual([200, 9.2]);
});

test("a resend of the agent overwrites a damaged study, and stops none of its neighbours", async () => {
  const { server, read, key, studies, damage } = await startWithStudies(2);
  const [bad, good] = studies as [PushedStudy, PushedStudy];
  const { body: before } = await read(bad);
  await damage(bad, OTHER_VALUE);
  const outcomes = await server.push(key, bad, good, { ...study(), patient_fp: bad.patient_fp });
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["filed", "unchanged", "filed"]);
  expect((await read(bad)).body).toEqual(before);
  await damage(bad, OTHER_VALUE);
  expect((await read(bad)).status).toBe(500);
});

test("an older revision does not replace a damaged later one", async () => {
  const { server, key, studies, damage } = await startWithStudies(1);
  const first = studies[0]!;
  const second = { ...first, revision: 2, results: first.results.slice(0, 1) };
  await server.push(key, second);
  await damage(first, OTHER_VALUE);
  const [outcome] = await server.push(key, first);
  expect(outcome).toMatchObject({ outcome: "rejected", reason: expect.stringContaining("revision 2") as string });
  expect((await server.push(key, second))[0]).toMatchObject({ outcome: "filed" });
});

test("a command of a user on a damaged study is refused with the reason, and leaves the damage to be seen", async () => {
  const { server, read, studies, damage, other } = await startWithStudies(1);
  const { fp } = studies[0]!;
  await damage(studies[0]!, OTHER_VALUE);
  const actor = { now: noon, by: "test" };
  const assigned = server.store.transaction((session) => assignStudy(session, { fp, patientFp: other.fp, ...actor }));
  await expect(assigned).rejects.toThrow(`the stored study ${fp} is damaged`);
  expect((await read(studies[0]!)).status).toBe(500);
});

test("a resend without a patient leaves a damaged study to a person, since the stored patient may be another animal", async () => {
  const { server, read, key, studies, damage, other } = await startWithStudies(1);
  const bad = studies[0]!;
  await damage(bad, `patient_id = (select id from patient where fp = '${other.fp}')`);
  const [outcome] = await server.push(key, { ...bad, revision: 2, patient_fp: null });
  expect(outcome?.outcome).toBe("unmatched");
  expect((await read(bad)).status).toBe(404);
});

test("a damaged study that a person placed is refused, because the disk may have changed the animal", async () => {
  const { server, read, key, studies, damage, other } = await startWithStudies(1);
  const bad = studies[0]!;
  const move = { fp: bad.fp, patientFp: other.fp, reason: "another animal", now: noon, by: "test" };
  await server.store.transaction((session) => moveStudy(session, move));
  await damage(bad, "device_name = 'X'");
  const [outcome] = await server.push(key, { ...bad, revision: 2 });
  expect(outcome).toMatchObject({ outcome: "rejected", reason: expect.stringContaining("restore a backup") as string });
  expect((await read(bad)).status).toBe(500);
});

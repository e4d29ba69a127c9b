import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { expect, test } from "vitest";
import { listMappings, listCodes, mapCode, unmapCode } from "../../../../server/records/codes/codes.ts";
import {
  describeUnmatched,
  findOwnStudy,
  previewAssignment,
  listForPage,
} from "../../../../server/records/unmatched/unmatched-page.ts";
import { findPatient } from "../../../../server/records/patients/patients.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import {
  cat,
  clinicEntities,
  dog,
  foreign,
  ours,
  pushTo,
  theirs,
  unknownCode,
  waiting,
} from "../../../dashboard/unmatched-clinic.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { startServer } from "../../harness.ts";
import { assignStudy, rejectStudy } from "../../study-commands.ts";

// Goal: the queries of unmatched studies show one clinic's studies, patients and codes on both engines.

async function startClinic() {
  const server = await startServer(...clinicEntities);
  const { store, clock } = server;
  const [clinicId = 0, theirId = 0] = [(await findClinic(store, ours))?.id, (await findClinic(store, theirs))?.id];
  const user = await makeUser(server, "staff", ours);
  return { server, store, clinicId, theirId, actor: { by: user.name, userId: user.id, clinicId, now: clock.now } };
}

test("the queue counts waiting and rejected studies, and lists them in the order of their arrival", async () => {
  const { server, store, clinicId, actor } = await startClinic();
  const [first, second, third] = [waiting(), waiting(), waiting()];
  await pushTo(server, ours, first, second, third);
  await pushTo(server, theirs, waiting());
  await store.transaction((session) => rejectStudy(session, { ...actor, fp: second.fp, reason: "a control" }));
  await store.transaction((session) => assignStudy(session, { ...actor, fp: third.fp, patientFp: cat.fp }));
  const counts = { waiting: 1, rejected: 1 };
  const listed = async (isRejected: boolean) => listForPage(store, { clinicId, isRejected, order: "newest" });
  expect(await listed(false)).toMatchObject({ ...counts, studies: [{ fp: first.fp, rejected_reason: null }] });
  expect(await listed(true)).toMatchObject({ ...counts, studies: [{ fp: second.fp, rejected_reason: "a control" }] });
});

test("a study of the clinic is found while the clinic sees its patient, and no other clinic finds it", async () => {
  const { server, store, clinicId, theirId } = await startClinic();
  const [sent, filed] = [waiting(), waiting({}, { patient_fp: foreign.fp })];
  await pushTo(server, ours, sent);
  await pushTo(server, theirs, filed);
  expect((await findOwnStudy(store, clinicId, sent.fp))?.fp).toBe(sent.fp);
  expect(await findOwnStudy(store, theirId, sent.fp)).toBeUndefined();
  expect((await findOwnStudy(store, theirId, filed.fp))?.patient_fp).toBe(foreign.fp);
  expect(await findOwnStudy(store, clinicId, filed.fp)).toBeUndefined();
});

test("a preview stores nothing, and the history names the user of a command", async () => {
  const { server, store, clinicId, actor } = await startClinic();
  const sent = waiting();
  await pushTo(server, ours, sent);
  const stored = await findOwnStudy(store, clinicId, sent.fp);
  const ofDog = await findPatient(store, clinicId, dog.fp);
  if (stored === undefined || ofDog === undefined) throw new Error("expected the study and the dog");
  expect((await previewAssignment(store, stored, ofDog, AS_SENT)).results).toEqual([
    {
      ...{ analyte: "ALT", value: "100", unit: "U/L", number: 100 },
      ...{ reference_range: "17-95", low: 17, high: 95, flag: "high", side: "high", reason: null },
    },
  ]);
  expect(await findOwnStudy(store, clinicId, sent.fp)).toEqual(stored);
  const later = { ...actor, now: actor.now + 1 };
  await store.transaction((session) => assignStudy(session, { ...later, fp: sent.fp, patientFp: dog.fp }));
  const filed = await findOwnStudy(store, clinicId, sent.fp);
  if (filed === undefined) throw new Error("expected the study");
  const { history, patient, can_undo } = await describeUnmatched(store, clinicId, filed);
  expect([patient?.fp, can_undo]).toEqual([dog.fp, true]);
  expect(history.map(({ revision, cause, by }) => [revision, cause, by])).toEqual([
    [2, "assigned", actor.by],
    [1, "pushed", null],
  ]);
});

test("of two users who place one study simultaneously, one does", async () => {
  const { server } = await startClinic();
  const users = await Promise.all([makeUser(server, "staff", ours), makeUser(server, "staff", ours)]);
  const sent = waiting();
  await pushTo(server, ours, sent);
  const answers = await Promise.all(
    users.map((user, index) => {
      const patient_fp = index === 0 ? dog.fp : cat.fp;
      return user.call<object>("POST", `/unmatched/${sent.fp}/assign`, { revision: 1, patient_fp });
    }),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409]);
  const winner = users[statuses.indexOf(200)]?.name;
  const message = expect.stringMatching(`^${winner} changed this study meanwhile: it is filed to `) as string;
  expect(answers[statuses.indexOf(409)]?.body).toMatchObject({ error: { code: "RECORD.REFUSED", message } });
});

test("a mapped code leaves the unknown ones, comes back without its mapping, and is the clinic's alone", async () => {
  const { server, store, clinicId, theirId, actor } = await startClinic();
  await pushTo(server, ours, unknownCode());
  const mapping = { device_id: "chem-1", code: "413", analyte: "GLU" };
  const state = async () => {
    const { unknown, mapped } = await listCodes(store, clinicId);
    return [unknown.map(({ code }) => code), mapped.map(({ analyte, by }) => [analyte, by])];
  };
  expect(await state()).toEqual([["413"], []]);
  await store.transaction((session) => mapCode(session, mapping, actor));
  expect(await state()).toEqual([[], [["GLU", actor.by]]]);
  expect(await listMappings(store, clinicId)).toEqual([mapping]);
  expect(await listMappings(store, theirId)).toEqual([]);
  expect((await listCodes(store, theirId)).mapped).toEqual([]);
  await store.transaction((session) => unmapCode(session, mapping, actor));
  expect(await state()).toEqual([["413"], []]);
});

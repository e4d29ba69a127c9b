import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import { addMessage, openOperations, serverOutcome, settlement, taken } from "../../../../support/spool-operations.ts";
import { alt, studyDraft } from "../../../../support/clinic/study.ts";

test("a resend keeps the fp and the revision of its study and queues nothing", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  const [first] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
  spool.settleStudies([serverOutcome(first!, "filed")], 3000);
  const [second] = spool.settle(settlement("M2", { studies: [studyDraft()] }));
  expect(second).toBe(first);
  expect(taken(spool)).toEqual([]);
  expect(readSpool(folder, listMessages).map(({ state }) => state)).toEqual(["filed", "filed"]);
});

test("a changed value becomes revision 2 of the same fp and keeps the first time", () => {
  const { spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
  const corrected = studyDraft({ results: [alt(51)], acquired_at: "2026-02-02T00:00:00.000Z" });
  spool.settle(settlement("M2", { studies: [corrected] }));
  const queued = taken(spool);
  expect(queued.map((study) => [study.fp, study.revision])).toEqual([
    [fp, 1],
    [fp, 2],
  ]);
  expect(JSON.parse(queued[1]!.body)).toMatchObject({ acquired_at: "2026-01-01T00:00:00.000Z", results: [alt(51)] });
});

test("a resend becomes a new revision when its patient is known, but not when the patient was removed", () => {
  const { spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2", "M3"].entries()) addMessage(spool, id, ordinal);
  spool.settle(settlement("M1", { studies: [studyDraft({ patient_fp: null })] }));
  spool.settle(settlement("M2", { studies: [studyDraft()] }));
  spool.settle(settlement("M3", { studies: [studyDraft({ patient_fp: null })] }));
  const queued = taken(spool);
  expect(queued.map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
    [1, null],
    [2, studyDraft().body.patient_fp],
  ]);
});

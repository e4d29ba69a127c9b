import type Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import type { Operations } from "../../../../../agent/spool/queries/operations.ts";
import type { StudyDraft } from "../../../../../agent/spool/queries/studies/revisions.ts";
import { addMessage, openOperations, serverOutcome, settlement, taken } from "../../../../support/spool-operations.ts";
import { alt, studyDraft } from "../../../../support/clinic/study.ts";

const patient = (fp: string, species = "dog") => ({ fp, body: JSON.stringify({ fp, species, updated_at: AT }) });
const AT = "2026-01-01T00:00:00.000Z";
const DOG = studyDraft().body.patient_fp!;
const OTHER = "patient_01K9TEST000000000000000002";
const due = (spool: Operations) => spool.dueMessages(["chem-1"], 10).map(({ id }) => id);
const rowsOf = (db: Database.Database) =>
  db.prepare("SELECT match_key, message, due FROM pending_match ORDER BY match_key, message").all();
const withoutPatient = (values: Partial<StudyDraft["body"]> = {}) => studyDraft({ patient_fp: null, ...values });

/** A spool with one message that waits for an identifier and for a patient. */
function waitingSpool() {
  const { db, spool } = openOperations();
  addMessage(spool, "M1");
  spool.settle(settlement("M1", { studies: [withoutPatient()], waiting: { keys: ["4711", DOG], version: 0 } }));
  return { db, spool };
}

test.each<[string, (spool: Operations) => unknown]>([
  ["a patient with the fp is added", (spool) => spool.upsertPatients([patient(DOG)], null)],
  [
    "a patient is given the identifier",
    (spool) => spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null),
  ],
  ["the first full sync ends", (spool) => spool.endFullSync(0, "{}", true)],
])("a waiting message is due once %s", (_, change) => {
  const { spool } = waitingSpool();
  spool.upsertPatients([patient(OTHER)], null);
  spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["471", "47110"] }], null);
  expect(due(spool)).toEqual([]);
  change(spool);
  expect(due(spool)).toEqual(["M1"]);
  expect(spool.dueMessages(["chem-2"], 10)).toEqual([]);
});

test.each<[string, (spool: Operations) => unknown]>([
  ["changes", (spool) => spool.upsertPatients([patient(OTHER, "cat")], null)],
  ["is removed", (spool) => spool.removePatients([{ fp: OTHER, at: Date.parse(AT) }])],
  ["is missing from a full sync", (spool) => spool.endFullSync(1, "{}", false)],
])("a waiting message is due once the patient with its identifier %s", (_, change) => {
  const { spool } = openOperations();
  spool.upsertPatients([patient(OTHER)], null);
  spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null);
  const { version } = spool.resolveReferences({ accessions: [], fps: [], identifiers: ["4711"] });
  addMessage(spool, "M1");
  spool.settle(settlement("M1", { studies: [withoutPatient()], waiting: { keys: ["4711"], version } }));
  spool.upsertPatients([patient(OTHER)], null);
  spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null);
  expect(due(spool)).toEqual([]);
  change(spool);
  expect(due(spool)).toEqual(["M1"]);
});

test("a message is due immediately if the directory changed between its lookup and its settlement", () => {
  const { spool } = openOperations();
  addMessage(spool, "M1");
  const { version } = spool.resolveReferences({ accessions: [], fps: [DOG], identifiers: [] });
  spool.upsertPatients([patient(DOG)], null);
  spool.settle(settlement("M1", { studies: [withoutPatient()], waiting: { keys: [DOG], version } }));
  expect(due(spool)).toEqual(["M1"]);
});

test("a message that is settled with a patient has no pending match", () => {
  const { db, spool } = waitingSpool();
  spool.upsertPatients([patient(DOG)], null);
  spool.settle(settlement("M1", { studies: [studyDraft()], rematch: true }));
  expect(rowsOf(db)).toEqual([]);
  expect(taken(spool).map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
    [1, null],
    [2, DOG],
  ]);
});

test("a rematch keeps a later correction, and every message of the study is filed with the patient", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  const [fp] = spool.settle(settlement("M1", { studies: [withoutPatient({ results: [alt(143)] })] }));
  spool.settle(settlement("M2", { studies: [withoutPatient({ results: [alt(34)] })] }));
  for (const [message, value] of [
    ["M1", 143],
    ["M2", 34],
  ] as const) {
    spool.settle(settlement(message, { studies: [studyDraft({ results: [alt(value)] })], rematch: true }));
  }
  const values = taken(spool).map(({ revision, patientFp, body }) => {
    const { results } = JSON.parse(body) as { results: { value: number }[] };
    return [revision, patientFp, results.map(({ value }) => value)];
  });
  expect(values).toEqual([
    [1, null, [143]],
    [2, null, [34]],
    [3, DOG, [34]],
  ]);
  for (const revision of [1, 2, 3]) {
    const outcome = revision === 3 ? "filed" : "unmatched";
    spool.settleStudies([{ ...serverOutcome(fp!, outcome), revision, matched: revision === 3 }], 3000);
  }
  expect(readSpool(folder, listMessages).map(({ state }) => state)).toEqual(["filed", "filed"]);
});

test("a rematch does not undo a correction that was filed before", () => {
  const { spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  spool.settle(settlement("M1", { studies: [withoutPatient({ results: [alt(143)] })] }));
  spool.settle(settlement("M2", { studies: [studyDraft({ results: [alt(34)] })] }));
  spool.settle(settlement("M1", { studies: [studyDraft({ results: [alt(143)] })], rematch: true }));
  expect(taken(spool).map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
    [1, null],
    [2, DOG],
  ]);
});

test("a study whose number moved waits for a person, not for a change of its patient", () => {
  const { db, spool } = openOperations();
  spool.upsertPatients([patient(DOG)], null);
  addMessage(spool, "M1");
  const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
  const moved = { ...serverOutcome(fp!, "unmatched", "it names another now"), code: "MATCH.IDENTIFIER_MOVED" };
  spool.settleStudies([moved], 3000);
  spool.upsertPatients([patient(DOG, "cat")], null);
  expect([due(spool), rowsOf(db)]).toEqual([[], []]);
});

describe("a message whose patient has no connection to the clinic", () => {
  function refused(): { db: Database.Database; spool: Operations; fp: string } {
    const { db, spool } = openOperations();
    spool.upsertPatients([patient(DOG)], null);
    addMessage(spool, "M1");
    const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
    spool.settleStudies([serverOutcome(fp!, "unmatched", "no connection")], 3000);
    return { db, spool, fp: fp! };
  }

  test("a study whose patient had no connection is sent again unchanged when the patient is added again", () => {
    const { db, spool, fp } = refused();
    expect(due(spool)).toEqual([]);
    spool.removePatients([{ fp: DOG, at: Date.parse(AT) }]);
    const { version } = spool.resolveReferences({ accessions: [], fps: [], identifiers: [] });
    spool.settle(settlement("M1", { studies: [withoutPatient()], waiting: { keys: [DOG], version }, rematch: true }));
    expect([due(spool), taken(spool)]).toEqual([[], []]);
    spool.upsertPatients([patient(DOG)], null);
    expect(due(spool)).toEqual(["M1"]);
    spool.settle(settlement("M1", { studies: [studyDraft()], rematch: true }));
    expect(taken(spool)).toMatchObject([{ fp, revision: 1, patientFp: DOG }]);
    spool.settleStudies([serverOutcome(fp, "filed")], 4000);
    expect([due(spool), taken(spool), rowsOf(db)]).toEqual([[], [], []]);
  });

  test("a study whose patient had no connection is filed to another patient with its identifier", () => {
    const { spool, fp } = refused();
    spool.settle(settlement("M1", { studies: [studyDraft({ patient_fp: OTHER })], rematch: true }));
    expect(taken(spool)).toMatchObject([{ fp, revision: 2, patientFp: OTHER }]);
  });
});

test("pruning a message removes its keys", () => {
  const { db, spool } = waitingSpool();
  db.exec("UPDATE message SET state = 'filed'");
  spool.prune(10_000, 100);
  expect(rowsOf(db)).toEqual([]);
});

import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { addMessage, openOperations, serverOutcome, settlement, taken } from "../../../../support/spool-operations.ts";
import { listMessages } from "../../../../../agent/spool/queries/messages/message-summaries.ts";
import { alt, studyDraft } from "../../../../support/clinic/study.ts";

test("a batch has the oldest studies within the limits of a request, and each send is counted", () => {
  const { folder, spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2", "M3"].entries()) {
    addMessage(spool, id, ordinal);
    spool.settle(settlement(id, { studies: [studyDraft({ dedupe_key: id })] }));
  }
  const keys = (limit: number, chars: number) => {
    const { batch, more } = spool.takeQueued(limit, chars, 7000);
    spool.noteAnswered(batch);
    return [batch.map(({ body }) => (JSON.parse(body) as { dedupe_key: string }).dedupe_key), more];
  };
  expect(keys(3, 1_000_000)).toEqual([["M1", "M2", "M3"], false]);
  expect(keys(2, 1_000_000)).toEqual([["M1", "M2"], true]);
  expect(keys(3, 1)).toEqual([["M1"], true]);
  const attempts = readSpool(folder, (db) =>
    db.prepare("SELECT send_attempts, last_sent_at FROM study ORDER BY rowid").all(),
  );
  expect(attempts).toEqual([
    { send_attempts: 3, last_sent_at: 7000 },
    { send_attempts: 2, last_sent_at: 7000 },
    { send_attempts: 1, last_sent_at: 7000 },
  ]);
});

test("a message follows its study to a patient, to the desk, and out of the list, and waits for no patient then", () => {
  const { folder, db, spool } = openOperations();
  addMessage(spool, "M1");
  const draft = studyDraft({ patient_fp: null });
  const [fp = ""] = spool.settle(settlement("M1", { studies: [draft], waiting: { keys: ["4711"], version: 0 } }));
  spool.settleStudies([{ ...serverOutcome(fp, "unmatched"), matched: false }], 3000);
  const waiting = () => db.prepare("SELECT COUNT(*) FROM pending_match").pluck().get();
  expect([readSpool(folder, listMessages)[0]?.state, waiting()]).toEqual(["unmatched", 1]);
  for (const [place, state] of [
    ["patient", "filed"],
    ["desk", "unmatched"],
    ["rejected", "not-for-patients"],
    ["rejected", "not-for-patients"],
    ["patient", "filed"],
  ] as const) {
    spool.notePlacements([{ fp, place, updated_at: "2026-11-21T12:00:00.000Z" }]);
    expect([place, readSpool(folder, listMessages)[0]?.state, waiting()]).toEqual([place, state, 0]);
  }
  spool.notePlacements([
    { fp: "cds_01K9TEST000000000000000009", place: "desk", updated_at: "2026-11-21T12:00:00.000Z" },
  ]);
  expect(readSpool(folder, listMessages)[0]?.state).toBe("filed");
});

test("a study that is queued again keeps its place in the outbox, whatever the desk did with an earlier revision", () => {
  const { folder, spool } = openOperations();
  addMessage(spool, "M1");
  addMessage(spool, "M2", 1);
  const [fp = ""] = spool.settle(settlement("M1", { studies: [studyDraft({ results: [alt(52)] })] }));
  spool.settleStudies([serverOutcome(fp, "filed")], 3000);
  spool.settle(settlement("M2", { studies: [studyDraft({ results: [alt(53)] })] }));
  spool.notePlacements([{ fp, place: "desk", updated_at: "2026-11-21T12:00:00.000Z" }]);
  expect(taken(spool)).toMatchObject([{ fp, revision: 2 }]);
  expect(readSpool(folder, listMessages).map(({ state }) => state)).toContain("pending");
});

test("the studies with an outcome since a time are queued again, for a server that lost them", () => {
  const { spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2"].entries()) {
    addMessage(spool, id, ordinal);
    spool.settle(settlement(id, { studies: [studyDraft({ dedupe_key: id })] }));
    const [study] = taken(spool);
    spool.settleStudies([serverOutcome(study!.fp, "filed")], 5000 + ordinal);
  }
  expect(taken(spool)).toEqual([]);
  expect(spool.resendSince(5001)).toBe(1);
  expect(taken(spool).map(({ body }) => (JSON.parse(body) as { dedupe_key: string }).dedupe_key)).toEqual(["M2"]);
  expect(spool.resendSince(5001)).toBe(0);
});

test("the changes that the server took since a time are queued again, in their order, and refused ones wait for a person", () => {
  const { folder, spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2", "M3", "M4"].entries()) {
    addMessage(spool, id, ordinal);
    spool.settle({ ...settlement(id), changes: [{ source: "PIMS", kind: "patient", body: "{}" }] });
    const [queued] = spool.queuedChanges("PIMS", 10, 1000).batch;
    const state = id === "M2" ? "refused" : "done";
    spool.settleChanges([{ id: queued!.id, state, reason: null, code: null }], 5000 + ordinal);
  }
  spool.resendSince(5001);
  const queued = spool.queuedChanges("PIMS", 10, 1000).batch;
  expect(queued.map(({ message }) => message)).toEqual(["M3", "M4"]);
  const states = () => Object.fromEntries(readSpool(folder, listMessages).map(({ id, state }) => [id, state]));
  expect(states()).toEqual({ M1: "filed", M2: "quarantined", M3: "pending", M4: "pending" });
  spool.settleChanges(
    queued.map(({ id }) => ({ id, state: "done" as const, reason: null, code: null })),
    6000,
  );
  expect(states()).toEqual({ M1: "filed", M2: "quarantined", M3: "filed", M4: "filed" });
});

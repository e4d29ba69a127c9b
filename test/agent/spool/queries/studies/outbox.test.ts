import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { addMessage, openOperations, serverOutcome, settlement, taken } from "../../../../support/spool-operations.ts";
import { studyDraft } from "../../../../support/study.ts";

test("a batch has the oldest studies within the limits of a request, and each send is counted", () => {
  const { folder, spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2", "M3"].entries()) {
    addMessage(spool, id, ordinal);
    spool.settle(settlement(id, { studies: [studyDraft({ dedupe_key: id })] }));
  }
  const keys = (limit: number, chars: number) => {
    const { batch, more } = spool.takeQueued(limit, chars, 7000);
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

test("the studies that the server answered since a time are queued again, for a server that lost them", () => {
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

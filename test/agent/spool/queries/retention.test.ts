import { expect, test } from "vitest";
import { readSpool } from "../../../../agent/spool/access.ts";
import { MESSAGES_KEPT_MS, readRetention } from "../../../../agent/spool/queries/retention.ts";
import { listMessages } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import { addMessage, openOperations, settlement } from "../../../support/spool-operations.ts";

test("pruning removes old settled rows and keeps messages that need review", () => {
  const { folder, db, spool } = openOperations();
  db.exec(
    "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (1, 'chem-1', 'generic-astm', 1, 1), (2, 'chem-1', 'generic-astm', 2, 1)",
  );
  db.exec("INSERT INTO event VALUES (1, 1, 'chunk', 1, NULL), (2, 2, 'chunk', 1, NULL)");
  spool.finishSessions([1], 500);
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  spool.settle(settlement("M1", { state: "not-for-patients", reason: "sign-on" }));
  spool.settle(settlement("M2", { state: "quarantined", reason: "unreadable" }));
  expect(spool.prune(10_000, 100)).toBe(false);
  expect(readSpool(folder, listMessages).map(({ id }) => id)).toEqual(["M2"]);
  expect(readSpool(folder, (own) => own.prepare("SELECT id FROM event").pluck().all())).toEqual([2]);
});

test("the retention tells what stays, what goes, and when", () => {
  const { folder, spool } = openOperations();
  for (const [ordinal, id] of ["M1", "M2", "M3", "M4"].entries()) addMessage(spool, id, ordinal);
  spool.settle(settlement("M1", { state: "quarantined", reason: "unreadable" }));
  spool.settle(settlement("M2", { state: "not-for-patients", reason: "sign-on" }));
  spool.settle(settlement("M3", { state: "not-for-patients", reason: "sign-on" }));
  const { bytes, ...retention } = readSpool(folder, readRetention);
  const next_removal_at = new Date(1001 + MESSAGES_KEPT_MS).toISOString();
  expect(retention).toEqual({ kept_days: 30, settled: 2, unsettled: 1, next_removal_at });
  expect(bytes).toBeGreaterThan(10_000);
});

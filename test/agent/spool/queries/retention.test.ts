import { expect, test } from "vitest";
import { readSpool } from "../../../../agent/spool/access.ts";
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

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

test("making room removes settled sessions of these devices, however young, and nothing that waits for a user", () => {
  const { db, spool } = openOperations();
  for (const [id, device] of ["chem-1", "chem-1", "chem-2", "chem-1"].entries()) {
    db.prepare("INSERT OR IGNORE INTO device (id, profile, connected) VALUES (?, 'generic-astm', 1)").run(device);
    db.prepare("INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (?, ?, 'p', ?, 1)").run(
      id + 1,
      device,
      id + 1,
    );
    // The events of the sessions are interleaved.
    for (const event of [id + 1, id + 11]) {
      db.prepare("INSERT INTO event VALUES (?, ?, 'chunk', 1, x'78')").run(event, id + 1);
    }
    const message = { id: `M${id + 1}`, session: id + 1, ordinal: 0, device, profile: "p", receivedAt: 1 };
    spool.addMessage({ ...message, bytes: Buffer.from("H"), incomplete: null });
  }
  spool.noteNoise("chem-1", { session: 1, firstEvent: 11, lastEvent: 11, bytes: 33 });
  const inFarFuture = Date.now() * 2;
  spool.finishSessions([1, 2, 3], inFarFuture);
  for (const id of ["M1", "M3", "M4"]) spool.settle(settlement(id, { state: "not-for-patients", reason: "sign-on" }));
  spool.settle(settlement("M2", { state: "quarantined", reason: "unreadable" }));
  const before = db.prepare("SELECT stored_bytes FROM device WHERE id = 'chem-1'").pluck().get() as number;
  expect(spool.makeRoom(["chem-1"], 10)).toBe(false);
  const ids = (table: string) => db.prepare(`SELECT id FROM ${table} ORDER BY id`).pluck().all();
  expect([ids("session"), ids("message"), ids("event")]).toEqual([
    [2, 3, 4],
    ["M2", "M3", "M4"],
    [2, 3, 4, 12, 13, 14],
  ]);
  expect(db.prepare("SELECT COUNT(*) FROM noise").pluck().get()).toBe(0);
  expect(db.prepare("SELECT stored_bytes FROM device WHERE id = 'chem-1'").pluck().get()).toBeLessThan(before - 2 * 33);
});

test("the retention reports what stays, what goes, and when", () => {
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

import { expect, test } from "vitest";
import { encodeTime } from "ulid";
import { openOperations, settlement } from "../../../../support/spool-operations.ts";

test("messages that cannot be filed are counted by device until they are processed again", () => {
  const { spool } = openOperations();
  const yesterday = Date.parse("2026-11-22T12:00:00Z");
  const today = yesterday + 86_400_000;
  const add = (device: string, receivedAt: number, ordinal: number) => {
    const id = `${encodeTime(receivedAt)}${String(ordinal).padStart(16, "0")}`;
    const bytes = Buffer.from("H|\\^&\rL|1|N\r");
    const message = { session: 1, ordinal, device, profile: "generic-astm", receivedAt, bytes, incomplete: null };
    spool.addMessage({ id, ...message });
    spool.settle(settlement(id, { state: "quarantined", reason: "unreadable" }));
    return id;
  };
  const old = add("chem-1", yesterday, 1);
  add("hema-1", yesterday, 2);
  add("hema-1", today, 3);
  expect(spool.quarantinedMessages()).toEqual([
    { device: "chem-1", count: 1, lastAt: yesterday },
    { device: "hema-1", count: 2, lastAt: today },
  ]);
  spool.settle(settlement(old, { state: "not-for-patients" }));
  expect(spool.quarantinedMessages().map(({ device }) => device)).toEqual(["hema-1"]);
});

test("the messages of the day are counted by device and state, and a completed one counts once", () => {
  const { spool } = openOperations();
  const midnight = Date.parse("2026-11-23T00:00:00Z");
  const add = (device: string, receivedAt: number, ordinal: number) => {
    const id = `${encodeTime(receivedAt)}${String(ordinal).padStart(16, "0")}`;
    const bytes = Buffer.from("H|\\^&\rL|1|N\r");
    spool.addMessage({
      id,
      session: 1,
      ordinal,
      device,
      profile: "generic-astm",
      receivedAt,
      bytes,
      incomplete: ordinal === 2 ? "no L record" : null,
    });
    return id;
  };
  add("chem-1", midnight - 1, 1);
  const incomplete = add("chem-1", midnight, 2);
  const completed = add("chem-1", midnight + 1, 3);
  add("chem-1", midnight + 2, 4);
  add("hema-1", midnight + 86_000_000, 5);
  spool.settle(settlement(incomplete, { state: "quarantined", reason: "no L record" }));
  spool.settle(settlement(completed, { state: "not-for-patients", completes: [incomplete] }));
  expect(spool.countMessagesSince(midnight)).toEqual([
    { device: "chem-1", state: "not-for-patients", count: 1 },
    { device: "chem-1", state: "pending", count: 1 },
    { device: "hema-1", state: "pending", count: 1 },
  ]);
});

import { expect, test } from "vitest";
import { readSpool } from "../../../../../agent/spool/access.ts";
import { readStatus } from "../../../../../agent/spool/queries/status.ts";
import type { DeviceState } from "../../../../../agent/states/device-state.ts";
import { addMessage, openOperations } from "../../../../support/spool-operations.ts";

test("a stored message updates the time of the device's last message", () => {
  const { folder, spool } = openOperations();
  spool.setDevice(deviceState({ id: "chem-1" }));
  addMessage(spool, "M1");
  const [device] = readSpool(folder, (db) => readStatus(db, folder)).devices;
  expect(device?.last_message_at).toBe(new Date(1000).toISOString());
});

function deviceState(known: Partial<DeviceState>): DeviceState {
  const nothing = { reason: null, mayBeOff: false, lastMessageAt: null, lastBytesAt: null, lastWarning: null };
  const counters = { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 };
  return {
    id: "d",
    profile: "generic-astm",
    connected: true,
    is: "connected",
    since: 0,
    ...nothing,
    counters,
    ...known,
  };
}

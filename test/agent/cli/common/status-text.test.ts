import { expect, test } from "vitest";
import type { DeviceStatus } from "../../../../agent/spool/queries/status.ts";
import { statusLines } from "../../../../agent/cli/common/status-text.ts";

const at = "2026-11-21T09:30:00.000Z";
const local = new Date(at).toLocaleString("sv-SE");
const none = { pending: 0, filed: 0, unmatched: 0, "not-for-patients": 0, quarantined: 0 };
const counters = { bytes: 0, messages: 0, warnings: 0, noise_bytes: 0 };
const nothing = { last_message_at: null, last_bytes_at: null, last_warning: null, reason: null, counts: none };
const device = { ...nothing, id: "lab-1", connected: false, state: "listening", since: at, counters } as const;

const directory = { patients: 7, fetched_at: at, synced_at: at };

function linesOf(...devices: readonly DeviceStatus[]): string[] {
  const outbox = { depth: 2, oldest_at: at, reason: "the clinic is full", quality: 3 };
  return statusLines({
    running: true,
    devices,
    outbox,
    directory,
    clock: { offset_s: -125 },
    server: { state: "wrong key", reason: "no such key", since: at },
    destinations: [],
  });
}

test("each device is a row of a table that ends with its reason or its last warning", () => {
  const warned = { ...counters, warnings: 3, noise_bytes: 3000 };
  const [running, head, ...rest] = linesOf(
    device,
    { ...device, id: "chem-1", state: "cannot open", reason: "no such port /dev/ttyUSB9: plug its adapter in" },
    {
      ...device,
      id: "hema-1",
      connected: true,
      state: "connected",
      last_bytes_at: at,
      last_message_at: at,
      counts: { ...none, filed: 4, quarantined: 1 },
      counters: warned,
      last_warning: { at, reason: "noise" },
    },
  );
  expect(running).toBe("the agent is running");
  const columns = (line = "") => line.split(/ {2,}/);
  const words = "DEVICE,STATE,SINCE,LAST BYTES,LAST MESSAGE,MESSAGES,WARNINGS,NOISE,NOTE";
  expect([head, ...rest].map((line) => columns(line).join(","))).toEqual([
    words,
    `lab-1,listening,${local},never,never,none,0,0 B`,
    `chem-1,cannot open,${local},never,never,none,0,0 B,no such port /dev/ttyUSB9: plug its adapter in`,
    `hema-1,connected,${local},${local},${local},4 filed, 1 quarantined,3,3000 B,last warning ${local}: noise`,
    `server: wrong key since ${local}: no such key`,
    `2 to send, the oldest since ${local}`,
    "the oldest waits, because the clinic is full",
    "3 records of controls and devices to send",
    `7 patients, full list fetched ${local}, last synced ${local}`,
    "this machine's clock is 125 s behind the server's, expected at most 60 s: set the one that is wrong",
  ]);
  const starts = [head, ...rest.slice(0, 3)].map((line = "") => line.search(/(?<= {2})\S/));
  expect(new Set(starts).size).toBe(1);
});

test("closed silent connections precede the last warning, with their number and the last address", () => {
  const gave_way = { connections: 3, last_address: "10.0.0.66" };
  const [, , several] = linesOf({ ...device, gave_way, last_warning: { at, reason: "noise" } });
  const sentence =
    "3 silent connections were closed to make room for new ones, the last from 10.0.0.66: if that is not the device, keep it out with allow";
  expect(several?.slice(several.indexOf("3 silent"))).toBe(`${sentence}; last warning ${local}: noise`);
  const [, , one] = linesOf({ ...device, gave_way: { ...gave_way, connections: 1 } });
  expect(one).toContain("  1 silent connection was closed to make room for new ones, the last from 10.0.0.66: ");
});

test("the devices of a stopped agent have the state not served", () => {
  const stopped = { ...device, state: "not served", since: null, counters: null } as const;
  const nothingYet = { patients: 0, fetched_at: null, synced_at: null };
  const outbox = { depth: 0, oldest_at: null, reason: null, quality: 0 };
  expect(
    statusLines({
      running: false,
      devices: [stopped],
      server: null,
      outbox,
      directory: nothingYet,
      clock: null,
      destinations: [],
    }),
  ).toEqual([
    "the agent is not running",
    "DEVICE  STATE       SINCE  LAST BYTES  LAST MESSAGE  MESSAGES  WARNINGS  NOISE  NOTE",
    "lab-1   not served  -      never       never         none      -         -",
    "0 to send",
    "0 patients, the full list was never fetched, last synced never",
  ]);
});

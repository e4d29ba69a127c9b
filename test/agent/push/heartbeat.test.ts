import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import { heartbeatTask, unknownCallers } from "../../../agent/push/heartbeat.ts";
import { RefusedCallers } from "../../../agent/connection/device/refused-callers.ts";
import { Heartbeat } from "../../../shared/api/study.ts";
import { serialFault } from "../../../agent/states/line-state.ts";
import type { NoiseState } from "../../../agent/states/noise-state.ts";
import type { DeviceState } from "../../../agent/states/device-state.ts";
import type { Spool } from "../../../agent/spool/spool.ts";

const noise: NoiseState = {
  bytes: 90,
  runs: 2,
  since: 1_000,
  at: 5_000,
  sample: "0B 4D 53 48",
  protocol: "HL7",
  address: "192.168.1.9",
};

describe("unknown callers of a heartbeat", () => {
  test("refused addresses and foreign bytes are callers, the latest first, without the bytes", () => {
    const refused = [{ address: "10.0.0.7", count: 3, at: 9_000 }];
    const callers = unknownCallers([
      { id: "chem-1", noise, lastMessageAt: null },
      { id: "hema-1", refused, lastMessageAt: 8_000 },
    ]);
    expect(callers).toEqual([
      {
        device: "hema-1",
        address: "10.0.0.7",
        at: "1970-01-01T00:00:09.000Z",
        count: 3,
        why: "not allowed",
        protocol: null,
      },
      {
        device: "chem-1",
        address: "192.168.1.9",
        at: "1970-01-01T00:00:05.000Z",
        count: 2,
        why: "not understood",
        protocol: "HL7",
      },
    ]);
    expect(JSON.stringify(callers)).not.toContain("4D");
  });

  test("bytes before the last message are not a caller", () => {
    expect(unknownCallers([{ id: "chem-1", noise, lastMessageAt: 6_000 }])).toEqual([]);
  });

  test("the latest 20 callers of many are reported, and the server takes them", () => {
    const refused = (from: number) =>
      Array.from({ length: 20 }, (_, index) => ({ address: `10.0.0.${from + index}`, count: 1, at: from + index }));
    const callers = unknownCallers([
      { id: "chem-1", refused: refused(1), lastMessageAt: null },
      { id: "hema-1", refused: refused(100), lastMessageAt: null },
    ]);
    expect(callers).toHaveLength(20);
    expect(callers.every(({ device }) => device === "hema-1")).toBe(true);
    expect(Compile(Heartbeat).Check({ callers })).toBe(true);
  });
});

test("the latest 20 refused addresses are counted, IPv4 in its usual form", () => {
  const callers = new RefusedCallers();
  for (let at = 0; at < 25; at += 1) callers.add(`::ffff:10.0.0.${at}`, at);
  callers.add("10.0.0.10", 30);
  callers.add("2001:db8::1", 31);
  expect(callers.list).toHaveLength(20);
  expect(callers.list.slice(-2)).toEqual([
    { address: "10.0.0.10", count: 2, at: 30 },
    { address: "2001:db8::1", count: 1, at: 31 },
  ]);
  expect(callers.list.some(({ address }) => address === "10.0.0.4")).toBe(false);
});

test("a heartbeat reports warnings, messages that cannot be filed, the outbox and the disk, and the server takes it", async () => {
  const state: DeviceState = {
    ...{ id: "chem-1", profile: "generic-astm", connected: false, is: "listening", reason: null, mayBeOff: false },
    ...{ since: 0, lastMessageAt: null, lastBytesAt: null, lastWarning: null },
    counters: { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 },
  };
  const down = { ...state, id: "poc-1", ...serialFault("/dev/ttyUSB0", "Error: No such file or directory") };
  const warned = { ...state, id: "hema-1", lastWarning: { at: 5_000, reason: "x".repeat(2_000) } };
  const answers: Readonly<Record<string, unknown>> = {
    outbox: { depth: 1, oldestAt: 7_000, reason: "the clinic is full", code: "CLINIC.FULL" },
    getMeta: null,
    quarantinedMessages: [{ device: "hema-1", count: 2, lastAt: 9_000 }],
  };
  const spool = {
    problem: "database or disk is full",
    call: (name: string) => Promise.resolve(name in answers ? answers[name] : []),
  };
  const sent: Heartbeat[] = [];
  await heartbeatTask({
    config: { data: ".", devices: [], managed: false, timeZone: "UTC" } as never,
    version: "1",
    spool: spool as unknown as Spool,
    server: { post: (_: string, body: Heartbeat) => Promise.resolve(sent.push(body)) } as never,
    devices: [state, warned, down].map((each) => ({ state: () => each })),
    remote: null,
  })();
  expect(sent[0]?.devices?.map(({ last_warning }) => last_warning)).toEqual([
    null,
    { at: "1970-01-01T00:00:05.000Z", reason: "x".repeat(1_000) },
    null,
  ]);
  expect(sent[0]?.devices?.map(({ reason, code, values }) => [reason, code, values])).toEqual([
    [null, undefined, undefined],
    [null, undefined, undefined],
    [expect.stringMatching(/^no such port \/dev\/ttyUSB0: plug/), "PORT.MISSING", ["/dev/ttyUSB0"]],
  ]);
  expect(sent[0]?.devices?.map(({ quarantined }) => quarantined)).toEqual([
    undefined,
    { count: 2, last_at: "1970-01-01T00:00:09.000Z" },
    undefined,
  ]);
  expect(sent[0]).toMatchObject({
    outbox: { depth: 1, oldest_at: "1970-01-01T00:00:07.000Z", reason: "the clinic is full", code: "CLINIC.FULL" },
    disk: { free_bytes: expect.any(Number) as number, problem: "database or disk is full" },
  });
  expect(Compile(Heartbeat).Check(sent[0])).toBe(true);
});

import { expect, test, vi } from "vitest";
import { pino } from "pino";
import { type AgentContext, startDevice } from "../../../agent/connection/device-service.ts";
import type { DeviceSession } from "../../../agent/connection/device/device-session.ts";
import { createMetrics } from "../../../agent/status/metrics.ts";

// Goal: a peer that connects or fails many times a second writes a bounded number of log lines, with a count at the end.

const MINUTE_MS = 60_000;

/** @returns the session of a device, and its log lines: their message, with the count if there is one */
function startLogged() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const lines: string[] = [];
  const write = (line: string) => {
    const { msg, times } = JSON.parse(line) as { msg: string; times?: number };
    lines.push(times === undefined ? msg : `${msg}: ${times}`);
  };
  const spool = { call: () => Promise.resolve(), callLater: () => undefined };
  let session!: DeviceSession;
  const context = { spool, metrics: createMetrics(), log: pino({}, { write }) } as unknown as AgentContext;
  startDevice(context, "dev", "generic-hl7", (its) => {
    session = its;
    return { connected: false, isWithinMessage: false, open: () => undefined, close: () => Promise.resolve() };
  });
  return { session, lines };
}

test("1 000 connections in a minute are ten lines and a count for each of open and close", () => {
  const { session, lines } = startLogged();
  for (let each = 0; each < 1_000; each++) {
    session.connected(`10.0.0.1:${each}`);
    session.disconnected();
  }
  expect(lines).toHaveLength(20);
  vi.advanceTimersByTime(MINUTE_MS);
  vi.useRealTimers();
  expect(lines.slice(20)).toEqual([
    "the device connected, many times more: 990",
    "the device disconnected, many times more: 990",
  ]);
});

test("1 000 refusals in a minute are one line and a count", () => {
  const { session, lines } = startLogged();
  for (let each = 0; each < 1_000; each++) {
    session.refusal(`the spool holds no chunk: the device takes ${each} MB of the spool`);
    session.refusal("an instance was lost: no space left on the disk");
  }
  expect(lines).toHaveLength(2);
  vi.advanceTimersByTime(MINUTE_MS);
  vi.useRealTimers();
  const count = "the same fault of the device or its line, many times more: 999";
  expect(lines.slice(2)).toEqual([count, count]);
});

test("10 000 faults, each with other words of the peer, are some 200 lines and a count", () => {
  const { session, lines } = startLogged();
  const name = (number: number) => number.toString(36).replaceAll(/\d/g, (digit) => "QRSTUVWXYZ".charAt(Number(digit)));
  for (let each = 0; each < 10_000; each++) session.warning(`${name(each)} was rejected`);
  expect(lines.length).toBeLessThanOrEqual(210);
  vi.advanceTimersByTime(MINUTE_MS);
  vi.useRealTimers();
  expect(lines.at(-1)).toMatch(/^other faults of the device or its line, many times more: \d+$/);
});

import { expect, test } from "vitest";
import { type ServerState, serverStateLines } from "../../agent/server-state.ts";
import { type Exchange, ServerWatch } from "../../agent/server-watch.ts";

const noon = Date.parse("2026-11-21T12:00:00.000Z");

function watching() {
  const states: ServerState[] = [];
  const clocks: (number | null)[] = [];
  const watch = new ServerWatch({
    changed: (state) => void states.push(state),
    clock: (offsetS) => void clocks.push(offsetS),
  });
  /** An answer that the server wrote at noon, while our clock is ahead of it by so many seconds. */
  const answer = (aheadS: number, tookMs = 0, more: Partial<Exchange> = {}) => {
    const receivedAt = noon + 500 + aheadS * 1000;
    const date = new Date(noon).toUTCString();
    watch.heard({ problem: null, date, sentAt: receivedAt - tookMs, receivedAt, ...more });
  };
  return { states, clocks, answer };
}

test("a clock that is more than a minute off is reported once, again when it is another minute off, and when it is right", () => {
  const { clocks, answer } = watching();
  for (const aheadS of [0, 60, 62, 62, 70, 61, 59, 121, 124, 31, 29, 0, 59, -62, -70, -10]) answer(aheadS);
  expect(clocks).toEqual([62, 124, null, -62, null]);
});

test("a slow answer is no wrong clock: only what no round trip explains is reported", () => {
  const { clocks, answer } = watching();
  answer(80, 30_000);
  answer(15, 30_000);
  expect(clocks).toEqual([]);
  answer(95, 30_000);
  expect(clocks).toEqual([80]);
});

test("an answer without a Date, or with one that is none, says nothing of the clock", () => {
  const { states, clocks, answer } = watching();
  answer(500, 0, { date: undefined });
  answer(500, 0, { date: "yesterday" });
  expect([states, clocks]).toEqual([[{ server: { problem: null }, clock: null }], []]);
});

test("the state changes with the problem, and with the clock by five seconds, not with every answer", () => {
  const { states, answer } = watching();
  for (const aheadS of [1, 2, 5, 6, 7]) answer(aheadS);
  answer(7, 0, { problem: "the server cannot be reached: ECONNREFUSED", date: undefined });
  answer(7, 0, { problem: "the server cannot be reached: ECONNREFUSED", date: undefined });
  answer(7);
  expect(states).toEqual([
    { server: { problem: null }, clock: { offset_s: 1 } },
    { server: { problem: null }, clock: { offset_s: 6 } },
    { server: { problem: "the server cannot be reached: ECONNREFUSED" }, clock: { offset_s: 6 } },
    { server: { problem: null }, clock: { offset_s: 6 } },
  ]);
});

test("status tells the problem and a wrong clock, and nothing while all is right", () => {
  expect(serverStateLines({ server: { problem: null }, clock: null })).toEqual([]);
  expect(serverStateLines({ server: { problem: null }, clock: { offset_s: -60 } })).toEqual([]);
  expect(serverStateLines({ server: { problem: "the server is away" }, clock: { offset_s: -125 } })).toEqual([
    "the server is away",
    "this machine's clock is 125 s behind the server's, expected at most 60 s: set the one that is wrong",
  ]);
});

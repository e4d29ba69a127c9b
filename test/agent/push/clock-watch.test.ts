import { expect, test } from "vitest";
import { clockSentence, ClockWatch, type Exchange, isClockWrong } from "../../../agent/push/clock-watch.ts";

const noon = Date.parse("2026-11-21T12:00:00.000Z");

function watching() {
  const offsets: number[] = [];
  const clocks: (number | null)[] = [];
  const watch = new ClockWatch({
    changed: (offsetS) => void offsets.push(offsetS),
    isWrong: (offsetS) => void clocks.push(offsetS),
  });
  /** Passes a response that the server wrote at noon, with the agent's clock that many seconds ahead. */
  const answer = (aheadS: number, tookMs = 0, more: Partial<Exchange> = {}) => {
    const receivedAt = noon + 500 + aheadS * 1000;
    const date = new Date(noon).toUTCString();
    watch.heard({ date, sentAt: receivedAt - tookMs, receivedAt, ...more });
  };
  return { offsets, clocks, answer };
}

test("an offset above a minute is reported once, again after another minute, and when the clock is right", () => {
  const { clocks, answer } = watching();
  for (const aheadS of [0, 60, 62, 62, 70, 61, 59, 121, 124, 31, 29, 0, 59, -62, -70, -10]) answer(aheadS);
  expect(clocks).toEqual([62, 124, null, -62, null]);
});

test("a slow response is not reported as a wrong clock", () => {
  const { clocks, answer } = watching();
  answer(80, 30_000);
  answer(15, 30_000);
  expect(clocks).toEqual([]);
  answer(95, 30_000);
  expect(clocks).toEqual([80]);
});

test("a response without a valid Date changes nothing", () => {
  const { offsets, clocks, answer } = watching();
  answer(500, 0, { date: undefined });
  answer(500, 0, { date: "yesterday" });
  expect([offsets, clocks]).toEqual([[], []]);
});

test("changes of the offset below five seconds are not reported", () => {
  const { offsets, answer } = watching();
  for (const aheadS of [1, 2, 5, 6, 7]) answer(aheadS);
  answer(7, 0, { date: undefined });
  expect(offsets).toEqual([1, 6]);
});

test("a clock is wrong above a minute, and the sentence states the offset and its direction", () => {
  expect([0, -60, 61, -125].map(isClockWrong)).toEqual([false, false, true, true]);
  expect(clockSentence(-125)).toBe(
    "this machine's clock is 125 s behind the server's, expected at most 60 s: set the one that is wrong",
  );
});

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
  /** An answer that the server wrote at noon, while our clock is ahead of it by so many seconds. */
  const answer = (aheadS: number, tookMs = 0, more: Partial<Exchange> = {}) => {
    const receivedAt = noon + 500 + aheadS * 1000;
    const date = new Date(noon).toUTCString();
    watch.heard({ date, sentAt: receivedAt - tookMs, receivedAt, ...more });
  };
  return { offsets, clocks, answer };
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
  const { offsets, clocks, answer } = watching();
  answer(500, 0, { date: undefined });
  answer(500, 0, { date: "yesterday" });
  expect([offsets, clocks]).toEqual([[], []]);
});

test("the offset changes by five seconds, not with every answer", () => {
  const { offsets, answer } = watching();
  for (const aheadS of [1, 2, 5, 6, 7]) answer(aheadS);
  answer(7, 0, { date: undefined });
  expect(offsets).toEqual([1, 6]);
});

test("a clock is wrong beyond a minute, and a sentence says by how much and which way", () => {
  expect([0, -60, 61, -125].map(isClockWrong)).toEqual([false, false, true, true]);
  expect(clockSentence(-125)).toBe(
    "this machine's clock is 125 s behind the server's, expected at most 60 s: set the one that is wrong",
  );
});

import { expect, test } from "vitest";
import { Repeats } from "../../../shared/runtime/repeats.ts";
import { TestClock } from "../../support/protocols/wire.ts";

test("the first ten occurrences of a kind are reported, and the rest are summed up at the end of the minute", () => {
  const clock = new TestClock();
  const repeats = new Repeats(clock.setTimer);
  const sums: [string, number][] = [];
  const told = (kind: string, times: number) =>
    Array.from({ length: times }, () => repeats.shouldReport(kind, (left) => sums.push([kind, left]))).filter(Boolean)
      .length;
  expect([told("401", 25), told("403", 3)]).toEqual([10, 3]);
  expect(sums).toEqual([]);
  clock.advance(60_000);
  expect(sums).toEqual([["401", 15]]);
  expect(told("401", 1)).toBe(1);
});

test("kinds beyond a thousand share a count", () => {
  const clock = new TestClock();
  const repeats = new Repeats(clock.setTimer);
  const told = Array.from({ length: 5_000 }, (_, index) => repeats.shouldReport(`kind ${index}`, () => undefined));
  expect(told.filter(Boolean)).toHaveLength(1_010);
  expect(clock.pending).toHaveLength(1_001);
});

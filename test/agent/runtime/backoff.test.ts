import * as fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "../../../agent/runtime/backoff.ts";

const dial = { firstMs: 2_000, lastMs: 30_000, jitter: 0.5 };

test("delays without jitter double from the first to the last", () => {
  const delays = [1, 2, 3, 4, 5, 6, 5_000].map((failures) => backoffMs(failures, { ...dial, jitter: 0 }));
  expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("jitter takes a random part of the delay", () => {
  const longest = [0, 0.25, 1].map((chance) => backoffMs(10, dial, () => chance));
  expect(longest).toEqual([15_000, 18_750, 30_000]);
  const full = [0, 0.25, 1].map((chance) => backoffMs(1, { ...dial, jitter: 1 }, () => chance));
  expect(full).toEqual([0, 500, 2_000]);
});

test("a delay stays within its bounds after any number of failures", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const ms = backoffMs(failures, dial, () => chance);
      expect(ms).toBeGreaterThanOrEqual(1_000);
      expect(ms).toBeLessThanOrEqual(30_000);
    }),
  );
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DIAL_RETRY_MS, retryAfterMs } from "../../../agent/transport/reconnect.ts";

test("retry intervals without jitter double up to the maximum", () => {
  const intervals = [0, 1, 2, 3, 4, 5, 5_000].map((failures) => retryAfterMs(failures, DIAL_RETRY_MS, () => 0));
  expect(intervals).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("retry intervals with jitter stay between 1 and 30 s and differ between agents", () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const ms = retryAfterMs(failures, DIAL_RETRY_MS, () => chance);
      expect(ms).toBeGreaterThanOrEqual(1_000);
      expect(ms).toBeLessThanOrEqual(30_000);
    }),
  );
  const long = [0, 0.25, 1].map((chance) => retryAfterMs(9, DIAL_RETRY_MS, () => chance));
  expect(long).toEqual([30_000, 26_250, 15_000]);
});

import { expect, test } from "vitest";
import { remainingText } from "../../../../shared/platform/cli/output.ts";

test.each([
  [0, 100, 60_000, ""],
  [10, 100, 1_999, ""],
  [50, 100, 10_000, "10 s left"],
  [1, 100, 2_000, "4 min left"],
  [99, 100, 99_000, "1 s left"],
  [100, 100, 5_000, "0 s left"],
  [1, 10_000, 4_000, "12 h left"],
])("after %i of %i in %i ms the text is %j", (done, total, elapsedMs, text) => {
  expect(remainingText(done, total, elapsedMs)).toBe(text);
});

import { expect, test } from "vitest";
import { signed } from "../../server/web/ui/words/signed.ts";

test.each([
  [1233, "+1233"],
  [-1250.5, "−1250.5"],
  [0.05, "+0.05"],
  [0, "0"],
])("the difference %s is printed with all of its digits: %s", (value, text) => {
  expect(signed(value)).toBe(text);
});

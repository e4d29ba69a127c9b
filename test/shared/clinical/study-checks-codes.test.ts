import { expect, test } from "vitest";
import type { Result } from "../../../shared/api/study.ts";
import { studyProblems } from "../../../shared/clinical/study-checks.ts";

// Checks of results with the device's own code, in words, or in doubt.

const now = Date.parse("2026-11-21T12:00:00.000Z");
const acquired_at = "2026-11-20T10:00:00.000Z";

function problemsOf(result: Partial<Result>): string[] {
  const whole = { analyte: "413", value: 50, unit: "U/L", reference_range: null, flag: null, ...result };
  return studyProblems({ acquired_at, results: [whole] }, now);
}

test.each<[string, Partial<Result>, string | null]>([
  ["a number under the device's own code has neither range nor flag", { code_source: "device" }, null],
  [
    "a range for the device's own code is a problem",
    { code_source: "device", reference_range: "3-6" },
    'reference_range is "3-6" for the device\'s own code, expected null',
  ],
  [
    "a flag for the device's own code is a problem",
    { code_source: "device", flag: "high" },
    "flag is high for the device's own code, expected null",
  ],
  [
    "a code that the clinic mapped has range and flag",
    { code_source: "clinic", reference_range: "17-95", flag: "normal" },
    null,
  ],
  ["a value in words has its words", { value: null, value_text: "Positive" }, null],
  [
    "a value in words without its words is a problem",
    { value: null },
    "value is null without a value_text, expected a number",
  ],
  [
    "a flag for a value in words is a problem",
    { value: null, value_text: "Positive", reference_range: "3-6", flag: "high" },
    "flag is high for a value in words, expected null",
  ],
  [
    "a comparator of a value in words is a problem",
    { value: null, value_text: "Positive", comparator: "<" },
    "comparator is < for a value in words, expected none",
  ],
  ["a value in doubt keeps its range", { comment: "hemolysis", reference_range: "17-95" }, null],
  [
    "a flag for a value in doubt is a problem",
    { comment: "hemolysis", reference_range: "17-95", flag: "normal" },
    "flag is normal for a value that the device doubts, expected null",
  ],
])("%s", (_, result, problem) => {
  expect(problemsOf(result)).toEqual(problem === null ? [] : [`results/0/${problem}`]);
});

import { timestampProblem } from "../schema/timestamp.ts";
import { shown } from "../schema/problems.ts";
import type { Comparator, Flag, Result, RowSnapshot, Snapshot, Study } from "../api/study.ts";

// Checks beyond the schema: an impossible time, and a range or a flag that contradicts the value.

/** Earliest time of a study. An earlier one comes from a clock without a battery. */
export const ACQUIRED_FROM = "1990-01-01T00:00:00.000Z";

/** The facts of a study that are checked. The snapshot names the critical limits that decided flags. */
type CheckedStudy = Pick<Study, "acquired_at" | "results"> & { readonly snapshot?: Snapshot | null };

/** Returns one sentence for each contradiction in a valid study. `now` is in milliseconds since 1970. */
export function studyProblems({ acquired_at, results, snapshot }: CheckedStudy, now: number): string[] {
  const time = timestampProblem(acquired_at, now, ACQUIRED_FROM);
  return [
    ...(time === null ? [] : [`acquired_at is ${acquired_at}, expected ${time}`]),
    ...results.flatMap((result, index) => {
      const problem = resultProblem(result, snapshot?.rows[index]);
      return problem === null ? [] : [`results/${index}/${problem}`];
    }),
  ];
}

/** Checks range and flag of a result against its value. @returns the problem, or null */
function resultProblem(result: Result, row: RowSnapshot | undefined): string | null {
  const { reference_range, flag, value, value_text, comparator, code_source, abnormal } = result;
  if (value === null && value_text === undefined) return "value is null without a value_text, expected a number";
  if (value === null && comparator !== undefined) {
    return `comparator is ${comparator} for a value in words, expected none`;
  }
  if (value !== null && abnormal !== undefined) return `abnormal is ${abnormal} for a number, expected none`;
  if (code_source === "device" && reference_range !== null) {
    return `reference_range is ${shown(reference_range)} for the device's own code, expected null`;
  }
  const flagless = flaglessBecause(result);
  if (flagless !== null && flag !== null) return `flag is ${flag} for ${flagless}, expected null`;
  // An accepted limit is beside the range, and needs none.
  const isBeyondLimit = flag === "critical" && row?.analyte === result.analyte && row.limit_id !== undefined;
  if (reference_range === null)
    return flag === null || isBeyondLimit ? null : `flag is ${flag} without a reference_range, expected null`;
  const range = readBounds(reference_range);
  if (range === null) {
    return `reference_range is ${shown(reference_range)}, expected the lower and the upper bound such as 6.0-17.0`;
  }
  if (flag === null || value === null || isBeyondLimit) return null;
  const possible = possibleFlags(value, comparator, range);
  if (possible.has(flag)) return null;
  return `flag is ${flag} for ${comparator ?? ""}${value} of ${reference_range}, expected ${[...possible, "null"].join(" or ")}`;
}

/** @returns the kind of result that has no flag, for a sentence; null for a result that may have one */
function flaglessBecause({ value, code_source, comment }: Result): string | null {
  if (value === null) return "a value in words";
  if (code_source === "device") return "the device's own code";
  return comment === undefined ? null : "a value that the device doubts";
}

/** A printed bound, and its max difference from the exact bound. */
interface PrintedBound {
  readonly value: number;
  readonly slack: number;
}

/** A device may print `.5`, and a plus sign. */
const BOUND = String.raw`([-+]?(?:\d+(?:\.\d+)?|\.\d+))`;
const RANGE = new RegExp(`^${BOUND}-${BOUND}$`);

/** Reads a range. The range of a urine pad may be `0-0`. @returns null for other text and for bounds in the wrong order */
function readBounds(text: string): { low: PrintedBound; high: PrintedBound } | null {
  const [, lower = "", upper = ""] = RANGE.exec(text) ?? [];
  const [low, high] = [printedBound(lower), printedBound(upper)];
  return lower === "" || low.value > high.value ? null : { low, high };
}

// A converted interval is compared exactly but printed with few digits, so the last digit may be rounded.
function printedBound(digits: string): PrintedBound {
  const decimals = digits.split(".")[1]?.length ?? 0;
  return { value: Number(digits), slack: 0.5 * 10 ** -decimals * (1 + 1e-6) };
}

/** Returns the flags that hold for every value that the comparator allows. Critical bounds are outside the range or on it. */
function possibleFlags(
  value: number,
  comparator: Comparator | undefined,
  { low, high }: { low: PrintedBound; high: PrintedBound },
): ReadonlySet<Flag> {
  const isBelow = value <= low.value + low.slack;
  const isAbove = value >= high.value - high.slack;
  const isAtMostHigh = value <= high.value + high.slack;
  const isAtLeastLow = value >= low.value - low.slack;
  // No concentration is below 0: a value below an upper bound within a range from 0 is normal.
  const holds = {
    low: isBelow && comparator !== ">" && comparator !== ">=",
    high: isAbove && !isUpper(comparator),
    normal: isUpper(comparator)
      ? low.value <= 0 && isAtMostHigh
      : comparator === undefined && isAtLeastLow && isAtMostHigh,
  };
  const flags = (["normal", "low", "high"] as const).filter((flag) => holds[flag]);
  return new Set([...flags, ...(holds.low || holds.high ? (["critical"] as const) : [])]);
}

function isUpper(comparator: Comparator | undefined): boolean {
  return comparator === "<" || comparator === "<=";
}

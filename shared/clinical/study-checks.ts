import { timestampProblem } from "../api/timestamp.ts";
import { shown } from "../api/problems.ts";
import type { Comparator, Flag, Result, Study } from "../api/study.ts";

// Checks that a schema cannot make: a time that cannot be, a range or a flag that contradicts the value.

/** Analyzers with an interface are younger. An earlier time comes from a clock that lost its battery. */
const ACQUIRED_FROM = "1990-01-01T00:00:00.000Z";

/** One sentence for each contradiction in a study that its schema accepts; `now` in milliseconds. */
export function studyProblems({ acquired_at, results }: Pick<Study, "acquired_at" | "results">, now: number): string[] {
  const time = timestampProblem(acquired_at, now, ACQUIRED_FROM);
  return [
    ...(time === null ? [] : [`acquired_at is ${acquired_at}, expected ${time}`]),
    ...results.flatMap((result, index) => {
      const problem = resultProblem(result);
      return problem === null ? [] : [`results/${index}/${problem}`];
    }),
  ];
}

/** Why range and flag cannot stand with the value of a result, null if they can. */
function resultProblem(result: Result): string | null {
  const { reference_range, flag } = result;
  if (reference_range === null)
    return flag === null ? null : `flag is ${flag} without a reference_range, expected null`;
  const range = readBounds(reference_range);
  if (range === null) {
    return `reference_range is ${shown(reference_range)}, expected the lower and the upper bound such as 6.0-17.0`;
  }
  if (flag === null) return null;
  const possible = possibleFlags(result, range);
  if (possible.has(flag)) return null;
  const value = `${result.comparator ?? ""}${result.value}`;
  return `flag is ${flag} for ${value} of ${reference_range}, expected ${[...possible, "null"].join(" or ")}`;
}

/** A bound, and how far the exact one may lie from the printed one. */
interface PrintedBound {
  readonly value: number;
  readonly slack: number;
}

/** A device may leave out the zero before the point, and print a plus. */
const BOUND = String.raw`([-+]?(?:\d+(?:\.\d+)?|\.\d+))`;
const RANGE = new RegExp(`^${BOUND}-${BOUND}$`);

/** Null for text that is no range, and for bounds in the wrong order. The range of a urine pad may be `0-0`. */
function readBounds(text: string): { low: PrintedBound; high: PrintedBound } | null {
  const [, lower = "", upper = ""] = RANGE.exec(text) ?? [];
  const [low, high] = [printedBound(lower), printedBound(upper)];
  return lower === "" || low.value > high.value ? null : { low, high };
}

// A converted interval is compared exactly and printed with few digits: the last one may be rounded.
function printedBound(digits: string): PrintedBound {
  const decimals = digits.split(".")[1]?.length ?? 0;
  return { value: Number(digits), slack: 0.5 * 10 ** -decimals * (1 + 1e-6) };
}

/** The flags that hold for every value that the comparator allows. Critical bounds lie outside the range or on its bounds. */
function possibleFlags(
  { value, comparator }: Result,
  { low, high }: { low: PrintedBound; high: PrintedBound },
): ReadonlySet<Flag> {
  const isBelow = value <= low.value + low.slack;
  const isAbove = value >= high.value - high.slack;
  const isAtMostHigh = value <= high.value + high.slack;
  const isAtLeastLow = value >= low.value - low.slack;
  // No concentration is below 0: a value below an upper bound within a range from 0 is normal.
  const holds = {
    low: isBelow && !isLower(comparator),
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

function isLower(comparator: Comparator | undefined): boolean {
  return comparator === ">" || comparator === ">=";
}

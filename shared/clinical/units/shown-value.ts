import type { Result } from "../../api/study.ts";
import type { Analyte } from "../analytes/analytes.ts";
import { convert } from "../analytes/units.ts";
import { boundsOf } from "../analytes/value.ts";
import { intervalText } from "../flag.ts";
import type { Interval } from "../reference.ts";
import { boundDecimals, rounded, valueDigits } from "./rounding.ts";
import { decimalsIn } from "./unit-systems.ts";
import { unitText } from "./unit-text.ts";
import { valueText } from "./value-text.ts";

// A result in the unit in which a clinic reads it. The value that was sent stays in the database, in the API and beside it.

export type SentResult = Pick<Result, "value" | "value_text" | "comparator" | "unit" | "reference_range" | "flag">;

/** A result as a page prints it. */
export interface ShownValue {
  /** Words, a rank such as `2+`, or a number with its comparator. */
  value: string;
  /** The unit as people write it; null without one. */
  unit: string | null;
  /** The printed number; null for words. A rank has one too. */
  number: number | null;
  low: number | null;
  high: number | null;
  reference_range: string | null;
}

type OwnInterval = Pick<Interval, "low" | "high" | "unit" | "text">;

/** Digits that a printed value or bound gets at most, so that the two agree with the flag. */
const MORE_DIGITS_MAX = 6;

/**
 * Shows a result in a unit of its analyte. Without one, and in the same or an equal unit, its digits stay as sent. A converted value
 * is rounded once. It and its interval get more digits where they would contradict the flag, and it is never rounded to 0.
 * `source` is the interval behind the printed range, which keeps its own digits in its own unit.
 */
export function shownValue(
  analyte: Analyte | undefined,
  result: SentResult,
  unit: string | null,
  source: OwnInterval | null = null,
): ShownValue {
  const { value, value_text, reference_range } = result;
  const bounds = boundsOf(reference_range);
  const asSent = {
    value: valueText(result),
    unit: result.unit === null ? null : unitText(result.unit) || null,
    number: value,
    ...bounds,
    reference_range,
  };
  if (analyte === undefined || unit === null || result.unit === null || unit === result.unit) return asSent;
  const factor = convert(analyte, 1, result.unit, unit);
  if (factor === null || value === null || value_text !== undefined) return asSent;
  if (Math.abs(factor - 1) < 1e-9) return { ...asSent, unit: unitText(unit) || null };
  // A value with a range that is not an interval stays as sent.
  if (reference_range !== null && bounds.low === null && bounds.high === null) return asSent;
  const own = source !== null && intervalText(analyte, source, result.unit) === reference_range ? source : null;
  return converted(analyte, result, { value, bounds: own ?? { ...bounds, unit: result.unit }, own, unit });
}

interface Conversion {
  readonly value: number;
  readonly bounds: { readonly low: number | null; readonly high: number | null; readonly unit: string };
  readonly own: OwnInterval | null;
  readonly unit: string;
}

function converted(analyte: Analyte, result: SentResult, { value, bounds, own, unit }: Conversion): ShownValue {
  const to = (number: number | null, from: string) => (number === null ? null : convert(analyte, number, from, unit));
  const exact = to(value, result.unit ?? unit) ?? value;
  const [low, high] = [to(bounds.low, bounds.unit), to(bounds.high, bounds.unit)];
  const decimals = decimalsIn(analyte, unit);
  const side = sideToShow(result, exact, low, high);
  const print = (decimalsOfValue: number, moreOfBounds: number): ShownValue => {
    const digits = valueDigits(exact, decimalsOfValue);
    const range = own?.unit === unit ? own.text : rangeText(low, high, decimals, moreOfBounds);
    return {
      value: `${result.comparator ?? ""}${digits}`,
      unit: unitText(unit) || null,
      number: Number(digits),
      ...boundsOf(range),
      reference_range: range,
    };
  };
  // The value first takes the digits of its bounds. Then all take more.
  const most = Math.max(...[low ?? 0, high ?? 0].map((bound) => boundDecimals(bound, decimals)));
  for (let more = 0; more <= MORE_DIGITS_MAX; more += 1) {
    for (let digits = more === 0 ? decimals : most + more - 1; digits <= most + more; digits += 1) {
      const shown = print(digits, more);
      // A narrow interval needs digits too: 1.01-1.01 is not an interval.
      const hasBounds = (low === null) === (shown.low === null) && (high === null) === (shown.high === null);
      if (hasBounds && isOn(side, shown, result.comparator)) return shown;
    }
  }
  // The sent texts contradict the flag themselves, because their bounds were rounded.
  return print(decimals, 0);
}

type ShownSide = "low" | "high" | "within" | null;

/** Returns where a reader should see the value; null if the flag leaves that open. */
function sideToShow(
  { flag, comparator }: SentResult,
  value: number,
  low: number | null,
  high: number | null,
): ShownSide {
  if (flag === "low" || flag === "high") return flag;
  // `<475` is normal up to 475, so that it may not be printed as `<0.48` beside 0.475.
  if (flag === "normal") return "within";
  if (comparator !== undefined) return null;
  return low !== null && value < low ? "low" : high !== null && value > high ? "high" : "within";
}

function isOn(side: ShownSide, { number, low, high }: ShownValue, comparator: Result["comparator"]): boolean {
  if (side === null || number === null) return true;
  // `<3` is below 3.
  const isUnder = low !== null && (number < low || (number === low && comparator === "<"));
  const isOver = high !== null && (number > high || (number === high && comparator === ">"));
  if (side === "low") return isUnder || low === null;
  return side === "high" ? isOver || high === null : !isUnder && !isOver;
}

function rangeText(low: number | null, high: number | null, decimals: number, more: number): string | null {
  const print = (bound: number) => rounded(bound, boundDecimals(bound, decimals) + more);
  if (low === null) return high === null ? null : `<${print(high)}`;
  return high === null ? `>${print(low)}` : `${print(low)}-${print(high)}`;
}

import { compareResults, isSameDevice, type NotComparable } from "../../../shared/clinical/compare/compare.ts";
import { convertTo } from "../../../shared/clinical/compare/not-comparable.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { type ShownValue, shownValue } from "../../../shared/clinical/units/shown-value.ts";
import type { CurvePlace } from "../../dashboard/types/patients.ts";
import type { Animal, PlacedResult } from "./compared-results.ts";

// The curves of one substance: a line joins only values that compare with each other.

/** Places the numbers of a history, the newest first. */
export function curvePlaces(history: readonly PlacedResult[], animal: Animal): Map<PlacedResult, CurvePlace> {
  const places = new Map<PlacedResult, CurvePlace>();
  /** The newest value of each line. */
  const newest: PlacedResult[] = [];
  for (const value of history) {
    if (value.result.value === null) continue;
    if (value.result.comparator !== undefined) {
      places.set(value, { line: null, apart: "comparator" });
      continue;
    }
    const found = newest.findIndex((other) => reasonApart(value, other, animal) === null);
    const line = found === -1 ? newest.push(value) - 1 : found;
    const [first = value] = newest;
    places.set(value, { line, apart: line === 0 ? null : reasonApart(value, first, animal) });
  }
  return places;
}

function reasonApart(one: PlacedResult, other: PlacedResult, animal: Animal): NotComparable | null {
  if (one.compared !== null && other.compared !== null) {
    const change = compareResults(one.compared, other.compared, animal.species);
    return "code" in change ? change.code : null;
  }
  if (one.result.unit !== other.result.unit) return "unit";
  return isSameDevice(one.device, other.device) ? null : "device";
}

/** Shows a value under the newest name of its substance, and in its unit; null if it has that name, or does not convert. */
export function shownUnderName(
  newest: PlacedResult,
  { analyte: own, result, compared }: PlacedResult,
): ShownValue | null {
  const { analyte, unit } = newest;
  if (analyte === undefined || unit === null || own === undefined || own === analyte || compared === null) return null;
  // Any other unit than the shown one: the last conversion gives the digits.
  const [between = unit] = analyte.units.map((each) => each.unit).filter((each) => each !== unit);
  const into = (value: number | null) =>
    value === null ? null : convertTo(analyte, between, { analyte: own.code, value, unit: result.unit });
  const value = into(result.value);
  if (value === null) return null;
  const { low, high } = boundsOf(result.reference_range);
  const [from, to] = [into(low), into(high)];
  const reference_range = from === null || to === null ? null : `${from.toPrecision(6)}-${to.toPrecision(6)}`;
  return shownValue(analyte, { ...result, value, unit: between, reference_range }, unit);
}

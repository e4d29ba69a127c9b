import { compareResults, isSameDevice, type NotComparable } from "../../../shared/clinical/compare/compare.ts";
import { convertTo } from "../../../shared/clinical/compare/not-comparable.ts";
import type { CurvePlace, ResultValue } from "../../dashboard/types/patients.ts";
import { valueText } from "../../dashboard/types/results/result-value.ts";
import type { Animal, PlacedResult } from "../results/compared-results.ts";

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

/** Gives a value under another name of its substance the name and the unit of the newest one. */
export function underOneName(value: ResultValue, of: PlacedResult, newest: PlacedResult): ResultValue {
  const { analyte } = newest;
  if (analyte === undefined || of.analyte === undefined || of.analyte === analyte || of.compared === null) return value;
  const inUnit = (number: number | null): number | null => {
    const found =
      number === null
        ? null
        : convertTo(analyte, newest.result.unit, { ...value, analyte: of.analyte?.code ?? "", value: number });
    return found === null ? null : Number(found.toPrecision(4));
  };
  const number = inUnit(value.value);
  if (number === null || value.curve == null) return value;
  const [low, high] = [inUnit(value.low), inUnit(value.high)];
  const range = low === null || high === null ? null : `${low}-${high}`;
  const sent = [value.analyte, valueText(value), value.unit].filter(Boolean).join(" ");
  return {
    ...value,
    ...{ analyte: newest.result.analyte, value: number, unit: newest.result.unit, low, high, reference_range: range },
    curve: { ...value.curve, sent },
  };
}

import { Type } from "typebox";
import { type Analyte, analyteByCode } from "../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../shared/clinical/analytes/data.ts";
import { convert } from "../../shared/clinical/analytes/units.ts";

// Values that no animal's specimen has, such as an MCHC of 0 with a hemoglobin of 14: the device has not measured them.

const Row = Type.Object({
  analyte: Type.String(),
  /** Unit of the bounds. */
  unit: Type.String(),
  /** Smallest and greatest possible value. They leave room beyond all published intervals, and beyond disease. */
  low: Type.Optional(Type.Number()),
  high: Type.Number(),
  reason: Type.String({ minLength: 1 }),
  /** The table with the published interval that is nearest to the bound. */
  source_id: Type.String(),
});

export const possibleValues = readData("possible-values.json", Type.Array(Row));

const byAnalyte = new Map(possibleValues.map((row) => [row.analyte, row]));

for (const { analyte, unit } of possibleValues) {
  const known = analyteByCode(analyte);
  if (known?.units.some((allowed) => allowed.unit === unit) !== true) {
    throw new Error(`shared/data/possible-values.json: ${analyte} in ${unit} is not of the catalogue`);
  }
}

/** A calculated difference may be below 0, as may the analytes that the catalogue calls signed. */
const DIFFERENCES: ReadonlySet<string> = new Set(["AG"]);

/**
 * Returns why no specimen can have this value; null for a possible one. `unit` is a unit of the analyte, or null if it is
 * unknown: then the value is impossible only if it is so in every unit.
 */
export function impossibleValue(analyte: Analyte, value: number, unit: string | null): string | null {
  const { code, signed, units } = analyte;
  if (value < 0 && signed !== true && !DIFFERENCES.has(code)) return `${code} ${value} cannot be below 0`;
  const row = byAnalyte.get(code);
  if (row === undefined) return null;
  const { low = -Infinity, high } = row;
  const isPossible = (from: string) => {
    const converted = convert(analyte, value, from, row.unit);
    return converted === null || (converted >= low && converted <= high);
  };
  if (unit === null) {
    return units.some((each) => isPossible(each.unit)) ? null : `${code} ${value} cannot be in any unit`;
  }
  if (isPossible(unit)) return null;
  return `${code} ${value} ${unit} cannot be: expected ${row.low === undefined ? "at most" : `${low} to`} ${high} ${row.unit}`;
}

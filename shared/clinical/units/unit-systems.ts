import { Type } from "typebox";
import { type Analyte, analyteByCode, analytes } from "../analytes/analytes.ts";
import { readData } from "../analytes/data.ts";
import { convert, factorOf } from "../analytes/units.ts";
import type { UnitChoice } from "./unit-choice.ts";

// The conventional and the SI unit of each numeric analyte, and the decimals of a value in them.

const SystemUnit = Type.Object({ unit: Type.String(), decimals: Type.Integer({ minimum: 0, maximum: 6 }) });
const Row = Type.Object({ analyte: Type.String(), conventional: SystemUnit, si: SystemUnit });

const rows = new Map(readData("unit-systems.json", Type.Array(Row)).map((row) => [row.analyte, row]));
checkRows();

/** Returns the unit that a clinic chose for an analyte; null for the unit that was sent. */
export function chosenUnit({ system, exceptions }: UnitChoice, analyte: Analyte): string | null {
  const exception = exceptions[analyte.code];
  if (exception !== undefined && factorOf(analyte, exception) !== null) return exception;
  return system === null ? null : (rows.get(analyte.code)?.[system].unit ?? null);
}

/** Whether values of an analyte convert to a unit. */
export function isUnitOf(code: string, unit: string): boolean {
  const analyte = analyteByCode(code);
  return analyte !== undefined && factorOf(analyte, unit) !== null;
}

/** Returns the decimals of a value in a unit. Those of a unit outside both systems follow from the SI unit, rounded up. */
export function decimalsIn(analyte: Analyte, unit: string): number {
  const row = rows.get(analyte.code);
  if (row === undefined) return analyte.decimals;
  if (unit === row.si.unit) return row.si.decimals;
  if (unit === row.conventional.unit) return row.conventional.decimals;
  const step = convert(analyte, 10 ** -row.si.decimals, row.si.unit, unit) ?? 1;
  return Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}

/** Checks that each numeric analyte has a row, with units that it converts. */
function checkRows(): void {
  for (const { code, value_type } of analytes) {
    if (value_type === "numeric" && !rows.has(code))
      throw new Error(`shared/data/unit-systems.json: ${code} is missing`);
  }
  for (const { analyte: code, conventional, si } of rows.values()) {
    const analyte = analyteByCode(code);
    if (analyte === undefined || [conventional, si].some(({ unit }) => factorOf(analyte, unit) === null)) {
      throw new Error(`shared/data/unit-systems.json: ${code} has an unknown unit`);
    }
  }
}

import { type Analyte, analyteByCode, analytes } from "./analytes.ts";
import { impossible, isKnownUnit, unitsSpelled } from "./unit-spellings.ts";

// The units of an analyte: the unit that a device sent, and the factors between units.

checkUnits();

export interface UnitReading {
  /** Null for an unknown unit. */
  readonly unit: string | null;
  readonly warning: string | null;
  /** Why the unit makes the value impossible. */
  readonly doubt?: string;
}

/**
 * Reads a device's spelling of a unit, within the units of the analyte. An unknown unit is null with a warning. The ordinal of
 * a strip has no unit and no warning. A UCUM parser would read K/uL as kelvin per microlitre.
 */
export function readUnit(analyte: Analyte, spelling: string, value: number): UnitReading {
  const name = spelling.trim();
  if (name === "") return missingUnit(analyte, value);
  const found = unitsSpelled(unitsOf(analyte), name);
  const [unit, ...others] = found;
  if (unit !== undefined && others.length === 0) {
    const doubt = impossibleFor(analyte, value, unit);
    return { unit, warning: null, ...(doubt === null ? {} : { doubt }) };
  }
  const problem = unit === undefined ? "is not a unit of" : `is ${found.join(" or ")} of`;
  return { unit: null, warning: `unit ${name.slice(0, 32)} ${problem} ${analyte.code}, expected ${expected(analyte)}` };
}

/**
 * Returns the unit of a value that was sent without one: the only unit of the analyte, a canonical one without a sign such as a
 * ratio, or the fraction of a hematocrit.
 */
function missingUnit(analyte: Analyte, value: number): UnitReading {
  if (analyte.value_type !== "numeric") return { unit: null, warning: null };
  const problem = `no unit for ${analyte.code}, expected ${expected(analyte)}`;
  // A hematocrit below 1 is a fraction: no animal has less than 1 % of cells in its blood.
  if (analyte.code === "HCT" && value < 1) return { unit: "L/L", warning: null };
  const [only, ...others] = analyte.units;
  const isClear = others.length === 0 || unitsSpelled([only?.unit ?? ""], "").length > 0;
  if (only === undefined || !isClear || analyte.unit_required === true) {
    return { unit: null, warning: problem };
  }
  const doubt = impossibleFor(analyte, value, only.unit);
  return doubt === null ? { unit: only.unit, warning: null } : { unit: null, warning: `${problem}; ${doubt}` };
}

function impossibleFor(analyte: Analyte, value: number, unit: string): string | null {
  return analyte.unbounded === true ? null : impossible(value, unit);
}

function expected(analyte: Analyte): string {
  return analyte.value_type === "numeric" ? unitsOf(analyte).join(" or ") : "none";
}

function unitsOf({ units, unconverted_units = [] }: Analyte): string[] {
  return [...units.map(({ unit }) => unit), ...unconverted_units];
}

/** Returns the factor from `unit` to the canonical unit. Null for a unit that the analyte lacks, or without an exact factor. */
export function factorOf(analyte: Analyte, unit: string): number | null {
  return analyte.units.find((allowed) => allowed.unit === unit)?.factor ?? null;
}

/** Converts a value to another unit of the same analyte. Null if the analyte lacks one of the units, or its factor. */
export function convert(analyte: Analyte, value: number, from: string, to: string): number | null {
  const numerator = factorOf(analyte, from);
  const denominator = factorOf(analyte, to);
  if (numerator === null || denominator === null) return null;
  // 5500 / 1000 is 5.5, 5500 * 0.001 is not always: powers of ten are exact as integers only.
  return numerator >= denominator ? value * (numerator / denominator) : value / (denominator / numerator);
}

/** Checks that units.json has each unit, and that each analyte of `in_unit` accepts its unit. */
function checkUnits(): void {
  for (const analyte of analytes) {
    const { code, in_unit = {} } = analyte;
    for (const unit of unitsOf(analyte)) {
      if (!isKnownUnit(unit)) throw new Error(`shared/data/units.json: ${unit} of ${code} is missing`);
    }
    for (const [unit, other] of Object.entries(in_unit)) {
      const target = other === null ? undefined : analyteByCode(other);
      if (target !== undefined && readUnit(target, unit, 0).unit === null) {
        throw new Error(`shared/data/analytes.json: ${code} in ${unit} is ${other}, which has no such unit`);
      }
    }
  }
}

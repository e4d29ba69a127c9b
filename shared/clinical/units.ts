import { Type } from "typebox";
import { type Analyte, analytes, readData } from "./analytes.ts";

// Units as devices spell them, and the factors between an analyte's units.

const Unit = Type.Object({
  unit: Type.String({ minLength: 1, maxLength: 32 }),
  ucum: Type.String(),
  aliases: Type.Array(Type.String()),
});

const spellings = new Map(
  readData("units.json", Type.Array(Unit)).map(({ unit, aliases }) => [unit, [unit, ...aliases]] as const),
);
for (const analyte of analytes) {
  for (const { unit } of analyte.units) {
    if (!spellings.has(unit)) throw new Error(`shared/data/units.json: ${unit} of ${analyte.code} is missing`);
  }
}

export interface UnitReading {
  /** Null for an unknown unit. */
  readonly unit: string | null;
  readonly warning: string | null;
  /** Why the unit makes the value impossible. */
  readonly doubt?: string;
}

/** A spelling that matches with its case only: M may be mille or mega. */
const CASE_MATTERS = "m/mm3";

/** A hematocrit is never below 1.5 %, and never above 1.5 L/L. */
const HCT_FRACTION_MAX = 1.5;

/**
 * Reads a device's spelling of a unit, within the units of the analyte. An unknown unit is null with a warning. The ordinal of
 * a strip has no unit and no warning. A UCUM parser would read K/uL as kelvin per microlitre.
 */
export function readUnit(analyte: Analyte, spelling: string, value: number): UnitReading {
  const name = spelling.trim();
  if (name === "") return missingUnit(analyte, value);
  const allowed = analyte.units.map(({ unit }) => unit).filter((unit) => unit !== "{ordinal}");
  const exact = allowed.filter((unit) => spellings.get(unit)?.includes(name));
  const found = exact.length > 0 ? exact : allowed.filter((unit) => isSameFolded(unit, name));
  const [unit, ...others] = found;
  if (unit !== undefined && others.length === 0) return { unit, warning: null };
  const problem = unit === undefined ? "is not a unit of" : `is ${found.join(" or ")} of`;
  return { unit: null, warning: `unit ${name.slice(0, 32)} ${problem} ${analyte.code}, expected ${expected(analyte)}` };
}

/** Returns the unit of a value that was sent without one: the only unit of the analyte, or the fraction of a hematocrit. */
function missingUnit(analyte: Analyte, value: number): UnitReading {
  if (analyte.value_type === "ordinal") return { unit: null, warning: null };
  const [only, ...others] = analyte.units;
  if (only !== undefined && others.length === 0 && analyte.unit_required !== true) {
    return { unit: only.unit, warning: null };
  }
  if (analyte.code === "HCT" && value < HCT_FRACTION_MAX) return { unit: "L/L", warning: null };
  return { unit: null, warning: `no unit for ${analyte.code}, expected ${expected(analyte)}` };
}

function expected(analyte: Analyte): string {
  return analyte.value_type === "ordinal" ? "none" : analyte.units.map(({ unit }) => unit).join(" or ");
}

function isSameFolded(unit: string, name: string): boolean {
  const folded = fold(name);
  return spellings.get(unit)?.some((spelling) => spelling !== CASE_MATTERS && fold(spelling) === folded) ?? false;
}

/** Folds case, blanks and the two code points for micro: U+00B5 and the Greek letter U+03BC. */
function fold(spelling: string): string {
  return spelling
    .toLowerCase()
    .replace(/[\u00b5\u03bc]/g, "u")
    .replace(/\s+/g, " ");
}

/** Returns the factor from `unit` to the canonical unit. Null for a unit that the analyte lacks. */
export function factorOf(analyte: Analyte, unit: string): number | null {
  return analyte.units.find((allowed) => allowed.unit === unit)?.factor ?? null;
}

/** Converts a value to another unit of the same analyte. Null if the analyte lacks one of the units. */
export function convert(analyte: Analyte, value: number, from: string, to: string): number | null {
  const numerator = factorOf(analyte, from);
  const denominator = factorOf(analyte, to);
  if (numerator === null || denominator === null) return null;
  // 5500 / 1000 is 5.5, 5500 * 0.001 is not always: powers of ten are exact as whole numbers only.
  return numerator >= denominator ? value * (numerator / denominator) : value / (denominator / numerator);
}

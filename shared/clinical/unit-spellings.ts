import { Type } from "typebox";
import { readData } from "./data.ts";

// Spellings of units by devices, and the values that no specimen exceeds.

const Unit = Type.Object({
  unit: Type.String({ minLength: 1, maxLength: 32 }),
  ucum: Type.String(),
  aliases: Type.Array(Type.String()),
  /** Greatest value of any specimen in this unit. */
  max: Type.Optional(Type.Number()),
  max_reason: Type.Optional(Type.String()),
});

const rows = readData("units.json", Type.Array(Unit));
const spellings = new Map(rows.map(({ unit, aliases }) => [unit, [unit, ...aliases]] as const));
const limits = new Map(
  rows.map(({ unit, max = Infinity, max_reason = "" }) => [unit, { max, reason: max_reason }] as const),
);

/** A spelling that matches with its case only: M may be mille or mega. */
const CASE_MATTERS = "m/mm3";

export function isKnownUnit(unit: string): boolean {
  return spellings.has(unit);
}

/**
 * Returns the units that a device's spelling means, among the given ones. The exact spelling precedes the folded one. A unit
 * that units.json lacks has only its own spelling.
 */
export function unitsSpelled(units: readonly string[], spelling: string): string[] {
  const name = spelling.trim();
  const exact = units.filter((unit) => spellingsOf(unit).includes(name));
  if (exact.length > 0) return exact;
  const folded = fold(name);
  return units.filter((unit) => spellingsOf(unit).some((each) => each !== CASE_MATTERS && fold(each) === folded));
}

/** Returns why no specimen can have this value in the unit; null for a possible value. */
export function impossible(value: number, unit: string): string | null {
  const limit = limits.get(unit);
  return limit === undefined || value <= limit.max
    ? null
    : `${value} ${unit} is above ${limit.max} ${unit}: ${limit.reason}`;
}

function spellingsOf(unit: string): readonly string[] {
  return spellings.get(unit) ?? [unit];
}

/** Folds case, blanks and the two code points for micro: U+00B5 and the Greek letter U+03BC. */
function fold(spelling: string): string {
  return spelling
    .toLowerCase()
    .replace(/[\u00b5\u03bc]/g, "u")
    .replace(/\s+/g, " ");
}

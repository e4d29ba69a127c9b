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

const ucumCodes = new Map(rows.map(({ unit, ucum }) => [unit, ucum]));

/** Returns the UCUM code of a unit of units.json. Null for another spelling. */
export function ucumOf(unit: string): string | null {
  return ucumCodes.get(unit) ?? null;
}

/** A spelling that matches with its case only: M may be mille or mega. */
const CASE_MATTERS = "m/mm3";

/** All units of units.json. */
export const knownUnits: readonly string[] = [...spellings.keys()];

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

/** Returns whether a text is a spelling of a unit of units.json. */
export function isUnitSpelling(text: string): boolean {
  foldedSpellings ??= new Set(knownUnits.flatMap(spellingsOf).map(fold));
  const unit = text.trim();
  return (unit.length > 1 || unit === "%") && foldedSpellings.has(fold(unit)); // a letter may be a mark
}

/** All spellings, folded at the first question: one message may have a hundred thousand. */
let foldedSpellings: ReadonlySet<string> | undefined;

/** Returns whether two texts are writings of one unit, known or not. */
export function isSameUnit(one: string, other: string): boolean {
  return fold(one.trim()) === fold(other.trim());
}

/** Returns why no specimen can have this value in the unit; null for a possible value. */
export function impossible(value: number, unit: string): string | null {
  const limit = limits.get(unit);
  if (limit === undefined || !(value > limit.max)) return null;
  return `${value} ${unit} is above ${limit.max} ${unit}: ${limit.reason}`;
}

function spellingsOf(unit: string): readonly string[] {
  return spellings.get(unit) ?? [unit];
}

/**
 * Folds the writings of one unit: case, blanks, points, micro (U+00B5, the Greek U+03BC, `mc`), powers of ten (`x10E9`, `10**9`,
 * `10⁹`), mm3 for uL, 100 mL for dL, `L-1`, grams and international units. A letter for a magnitude is never folded into another.
 */
function fold(spelling: string): string {
  return spelling
    .replace(/[⁰¹²³⁴-⁹]+/g, (digits) => `^${digits.normalize("NFKC")}`)
    .replace(/⁻\^?/g, "-")
    .toLowerCase()
    .replace(/[\u00b5\u03bc]/g, "u")
    .replace(/[.·*\s]+(d?l|kg|h)\^?-1$/, "/$1")
    .replace(/[\s.]+/g, "")
    .replace(/^[x×*]?10(?:[x×*]?\^|\*\*|\*|e\+?|x|×|\()?0*([1-9]\d?)\)?(?=\/)/, "10^$1")
    .replace(/m\^3/g, "m3")
    .replace(/(^|\/)mc(?=g|l|mol|kat|iu)/g, "$1u")
    .replace(/\/100ml$/, "/dl")
    .replace(/^(10\^\d+)?\/(mm3|cmm|cumm)$/, "$1/ul")
    .replace(/^(#|cells?)\//, "/")
    .replace(/^(gms?|grs?|grams?)(?=[/%])/, "g")
    .replace(/^units?(?=\/)/, "u")
    .replace("equiv", "eq")
    .replace(/\[?(iu|ui)\]?/, "u")
    .replace("osmol", "osm")
    .replace(/\/kgh2o$|\/kg\(h2o\)$/, "/kg");
}

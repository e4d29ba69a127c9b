import type { WeightUnit } from "../../dashboard/types/file-import.ts";
import { fold } from "../../../shared/clinical/species.ts";

// Weights as people and programs write them.

const KG: Readonly<Record<WeightUnit, number>> = { kg: 1, g: 0.001, lb: 0.45359237, oz: 0.028349523125 };

const UNITS: ReadonlyMap<string, WeightUnit> = new Map([
  ...["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms", "kilogramm", "kilogramos"].map(
    (word) => [word, "kg"] as const,
  ),
  ...["g", "gr", "gram", "grams", "gramm", "gramos", "grammes"].map((word) => [word, "g"] as const),
  ...["lb", "lbs", "pound", "pounds", "libras", "livres"].map((word) => [word, "lb"] as const),
  ...["oz", "ounce", "ounces"].map((word) => [word, "oz"] as const),
]);

/** @returns null for any other word, and for none */
export function unitOf(word: string): WeightUnit | null {
  return UNITS.get(fold(word).trim()) ?? null;
}

export type ReadWeight = { kg: number | null } | { code: "not_a_weight" | "no_unit" };

const NUMBER = String.raw`\d[\d.,]*`;
const WEIGHT = new RegExp(String.raw`^(${NUMBER})\s*(\p{L}+)?\.?$`, "u");
/** Pounds with ounces, such as `9 lb 4 oz`. */
const POUNDS_OUNCES = /^(\d+)\s*(?:lbs?|pounds?)\.?,?\s*(\d+(?:\.\d+)?)\s*(?:oz|ounces?)\.?$/i;
const NO_WEIGHT = /^(?:0+(?:[.,]0+)?\s*\p{L}*|[-–?.]+|n\/?a)$/iu;

/** Reads a weight in kilograms; 0 counts as absent. `unit` is that of a text without one. */
export function readWeight(
  text: string,
  { unit, decimalComma }: { unit: WeightUnit | null; decimalComma: boolean },
): ReadWeight {
  const given = text.trim();
  if (given === "" || NO_WEIGHT.test(given)) return { kg: null };
  const [, pounds, ounces] = POUNDS_OUNCES.exec(given) ?? [];
  if (pounds !== undefined) return { kg: rounded(Number(pounds) * KG.lb + Number(ounces) * KG.oz) };
  const [, digits, word] = WEIGHT.exec(given) ?? [];
  const amount = digits === undefined ? null : readDecimal(digits, decimalComma);
  const named = word === undefined ? unit : unitOf(word);
  if (amount === null || (word !== undefined && named === null)) return { code: "not_a_weight" };
  return named === null ? { code: "no_unit" } : { kg: rounded(amount * KG[named]) };
}

/** Rounds to a milligram, so that a conversion has no tail of digits. */
function rounded(kg: number): number {
  return Math.round(kg * 1e6) / 1e6;
}

/** A number with one mark: before three digits it may part thousands. */
const ONE_MARK = /^\d+([.,])(\d+)$/;

/** Whether the decimals of a file have a comma: some number shows it, else `otherwise` decides. */
export function usesDecimalComma(texts: Iterable<string>, otherwise: boolean): boolean {
  let [commas, points] = [0, 0];
  for (const text of texts) {
    const [, mark, after = ""] = ONE_MARK.exec(/^[\d.,]+/.exec(text.trim())?.[0] ?? "") ?? [];
    if (after.length === 3) continue;
    if (mark === ",") commas += 1;
    if (mark === ".") points += 1;
  }
  return commas === points ? otherwise : commas > points;
}

function readDecimal(digits: string, decimalComma: boolean): number | null {
  const [, mark, after = ""] = ONE_MARK.exec(digits) ?? [];
  // A mark that cannot part thousands is a decimal one, whatever the rest of the file has.
  const decimal = mark !== undefined && after.length !== 3 ? mark : decimalComma ? "," : ".";
  const thousands = decimal === "," ? "." : ",";
  const plain = digits.replaceAll(thousands, "").replace(decimal, ".");
  return /^\d+(?:\.\d+)?$/.test(plain) ? Number(plain) : null;
}

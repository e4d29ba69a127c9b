import { Type } from "typebox";
import { type Analyte, analyteByCode } from "../analytes/analytes.ts";
import { readData } from "../analytes/data.ts";
import { convert, factorOf } from "../analytes/units.ts";

// Published facts about two values of one animal: data/not-comparable.json.

const Rule = Type.Object({
  id: Type.String({ minLength: 1 }),
  /**
   * `growth` and `device`: a growing animal and a second analyzer give other values. `twin`: the analytes are one substance under
   * two names, equal in mmol/L alone.
   */
  about: Type.Enum(["growth", "device", "twin"]),
  analytes: Type.Array(Type.String(), { minItems: 1 }),
  evidence: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
});

/** The unit in which twins are equal. */
const TWIN_UNIT = "mmol/L";

const rules = readData("not-comparable.json", Type.Array(Rule));
for (const { about, analytes } of rules) {
  for (const code of analytes) {
    const analyte = analyteByCode(code);
    const isUsable = analyte !== undefined && (about !== "twin" || factorOf(analyte, TWIN_UNIT) !== null);
    if (!isUsable) throw new Error(`shared/data/not-comparable.json: ${code} is unknown, or lacks ${TWIN_UNIT}`);
  }
}
const growing = new Set(rules.filter(({ about }) => about === "growth").flatMap(({ analytes }) => analytes));
const ofDevice = new Map(
  rules.filter(({ about }) => about === "device").flatMap((rule) => rule.analytes.map((code) => [code, rule])),
);
const twins = new Map(
  rules
    .filter(({ about }) => about === "twin")
    .flatMap(({ analytes }) => analytes.map((code) => [code, analytes[0] ?? code])),
);

/** Whether growth changes the analyte, so that a young animal's value does not compare with a later one. */
export function changesWithGrowth(analyte: string): boolean {
  return growing.has(analyte);
}

/** The source that refuses any difference between two analyzers; undefined where none is published. */
export function deviceBiasSource(analyte: string): string | undefined {
  return ofDevice.get(analyte)?.source;
}

/** Returns one code for all names of a substance: urea nitrogen for urea, too. */
export function substanceOf(analyte: string): string {
  return twins.get(analyte) ?? analyte;
}

/** Converts a value to a unit of the same substance; null without a unit or a factor. */
export function convertTo(
  to: Analyte,
  unit: string | null,
  from: { readonly analyte: string; readonly value: number; readonly unit: string | null },
): number | null {
  const given = analyteByCode(from.analyte);
  if (given === undefined || unit === null || from.unit === null) return null;
  if (given.code === to.code) return convert(to, from.value, from.unit, unit);
  if (substanceOf(given.code) !== substanceOf(to.code)) return null;
  const amount = convert(given, from.value, from.unit, TWIN_UNIT);
  return amount === null ? null : convert(to, amount, TWIN_UNIT, unit);
}

import { readFileSync } from "node:fs";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { Modality } from "../api/study.ts";

// The analyte catalogue: codes and mnemonics of devices, and the units of each analyte.

const Analyte = Type.Object({
  code: Type.String({ pattern: "^[A-Z0-9]+$" }),
  /** Code that the API prints: the catalogue's UGLU is a urine pad's GLU. */
  api_code: Type.String({ minLength: 1, maxLength: 64 }),
  name: Type.String(),
  modality: Type.Enum(["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"]),
  specimen: Type.String(),
  /** "word": the value is in words, such as Positive; it has neither a number nor a rank. */
  value_type: Type.Enum(["numeric", "ordinal", "word"]),
  canonical_unit: Type.String(),
  /** Digits after the point of a value in the canonical unit. */
  decimals: Type.Integer({ minimum: 0, maximum: 6 }),
  molar_mass_g_per_mol: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  /** True if a missing unit is unknown, not the only unit: some devices send another quantity without a unit. */
  unit_required: Type.Optional(Type.Boolean()),
  /** A value in `unit` times `factor` is the value in the canonical unit. `basis` is the source of the factor. */
  units: Type.Array(
    Type.Object({ unit: Type.String(), factor: Type.Number({ exclusiveMinimum: 0 }), basis: Type.String() }),
    { minItems: 1 },
  ),
  loinc: Type.Array(Type.String({ pattern: "^\\d{1,7}-\\d$" })),
  loinc_source: Type.Optional(Type.String()),
  synonyms: Type.Array(Type.String({ minLength: 1 })),
  note: Type.Optional(Type.String()),
});

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };

export type Analyte = DeepReadonly<Static<typeof Analyte>>;

/** The 114 analytes of data/analytes.json. */
export const analytes: readonly Analyte[] = checked(readData("analytes.json", Type.Array(Analyte)));

const byCode = new Map(analytes.map((analyte) => [analyte.code, analyte]));
const byLoinc = new Map(analytes.flatMap((analyte) => analyte.loinc.map((loinc) => [loinc, analyte] as const)));
const byName = namesOf(analytes);

/** Reads the bytes of a file in shared/data, for a digest of the catalogue. */
export function dataFile(name: string): Buffer {
  return readFileSync(new URL(`../data/${name}`, import.meta.url));
}

/** Reads a file of shared/data. Throws an error with the first row that does not match the schema. */
export function readData<T extends Type.TSchema>(name: string, schema: T): Static<T> {
  const data: unknown = JSON.parse(dataFile(name).toString("utf8"));
  if (Value.Check(schema, data)) return data;
  const [error] = Value.Errors(schema, data);
  const row = Number(error?.instancePath.split("/")[1]);
  const text = Array.isArray(data) && Number.isInteger(row) ? ` in ${JSON.stringify(data[row])}` : "";
  throw new Error(`shared/data/${name}: ${error?.instancePath} ${error?.message}${text}`);
}

export function analyteByCode(code: string): Analyte | undefined {
  return byCode.get(code);
}

/** Facts about the result: the profile's modality, whether the order is a urine order, and the unit as sent. */
export interface NameContext {
  readonly modality: Modality | null;
  readonly urine: boolean;
  readonly unit?: string;
}

/**
 * Finds the analyte of the first known name. The names are in order of trust: LOINC, then mnemonics as the device sent them.
 * `note` is the reason of the choice if a mnemonic names two analytes.
 * @returns null if no name is known, or if the known one contradicts the specimen
 */
export function findAnalyte(
  names: readonly string[],
  context: NameContext,
): { analyte: Analyte; note: string | null } | null {
  for (const raw of names) {
    const name = raw.trim();
    const exact = byLoinc.get(name);
    if (exact !== undefined) return { analyte: exact, note: null };
    const candidates = byName.get(foldName(name));
    if (candidates === undefined) continue;
    return decide(name, candidates, context);
  }
  return null;
}

/** Whether a mnemonic names urine analytes only, so that its order is a urine order. */
export function isUrineOnly(name: string): boolean {
  const trimmed = name.trim();
  const loinc = byLoinc.get(trimmed);
  const candidates = loinc === undefined ? byName.get(foldName(trimmed)) : [loinc];
  // A protein/creatinine ratio is measured on a chemistry analyzer, in one order with the blood panel.
  return candidates?.every((analyte) => analyte.modality === "URINALYSIS" && analyte.code !== "UPC") ?? false;
}

/** Decides between the analytes of a mnemonic: by the modality, then by a urine order, otherwise blood. */
function decide(
  name: string,
  candidates: readonly Analyte[],
  { modality, urine }: NameContext,
): { analyte: Analyte; note: string | null } | null {
  const isUrine = urine || modality === "URINALYSIS";
  const bloodModality = modality === "HEMATOLOGY" || modality === "BIOCHEMISTRY" ? modality : null;
  const fromUrine = candidates.filter((analyte) => analyte.modality === "URINALYSIS");
  const fromBlood = candidates.filter((analyte) => analyte.modality !== "URINALYSIS");

  if (candidates.length === 1) {
    const [analyte] = candidates;
    if (analyte === undefined) return null;
    // CREA of urine is not CREA of blood, and UA is then the urinalysis: a blood interval must not apply to either.
    if (isUrine && fromUrine.length === 0) return null;
    // BIL on a chemistry analyzer is not a urine pad. UBIL is one by its name.
    const isPad = analyte.value_type === "ordinal" && foldName(name) !== foldName(analyte.code);
    if (isPad && !isUrine && bloodModality !== null) return null;
    // Procalcitonin has the same letters as the plateletcrit of hematology.
    if (analyte.code === "PCT" && modality === "BIOCHEMISTRY") return null;
    return { analyte, note: null };
  }

  const note = (analyte: Analyte, why: string) => ({
    analyte,
    note: `${name} names ${candidates.map((candidate) => candidate.code).join(" and ")}: taken as ${analyte.code}, ${why}`,
  });
  if (isUrine) {
    // A urine specimen on a blood analyzer: its GLU is neither the pad's nor the blood's.
    if (bloodModality !== null) return null;
    const [analyte, ...others] = fromUrine;
    if (analyte === undefined || others.length > 0) return null;
    return note(
      analyte,
      modality === "URINALYSIS" ? "the device's modality is URINALYSIS" : "the order is a urine order",
    );
  }
  const ofModality = fromBlood.filter((analyte) => analyte.modality === bloodModality);
  const [analyte, ...others] = ofModality.length > 0 ? ofModality : fromBlood;
  // TPP is the refractometer's protein in hematology and the total protein in chemistry. Without a modality it stays unknown.
  if (analyte === undefined || others.length > 0) return null;
  return note(analyte, bloodModality === null ? "nothing says urine" : `the device's modality is ${bloodModality}`);
}

/** Folds case, which never distinguishes two analytes: a device's CREA is the catalogue's Crea. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

function namesOf(rows: readonly Analyte[]): Map<string, Analyte[]> {
  const names = new Map<string, Analyte[]>();
  for (const analyte of rows) {
    for (const name of new Set([analyte.code, ...analyte.synonyms].map(foldName))) {
      const others = names.get(name) ?? [];
      if (others.some((other) => other.modality === analyte.modality)) {
        throw new Error(
          `shared/data/analytes.json: ${name} names two analytes of ${analyte.modality}, ${analyte.code} is one`,
        );
      }
      names.set(name, [...others, analyte]);
    }
  }
  return names;
}

function checked(rows: readonly Analyte[]): readonly Analyte[] {
  const seen = new Set<string>();
  const once = (key: string, analyte: Analyte) => {
    if (seen.has(key)) throw new Error(`shared/data/analytes.json: ${key} of ${analyte.code} is duplicate`);
    seen.add(key);
  };
  for (const analyte of rows) {
    once(analyte.code, analyte);
    for (const loinc of analyte.loinc) once(loinc, analyte);
    for (const { unit } of analyte.units) once(`${analyte.code} in ${unit}`, analyte);
    const [canonical] = analyte.units;
    if (canonical?.unit !== analyte.canonical_unit || canonical.factor !== 1) {
      throw new Error(
        `shared/data/analytes.json: ${analyte.code} must begin its units with ${analyte.canonical_unit}, factor 1`,
      );
    }
  }
  return rows;
}

import { type Static, Type } from "typebox";
import type { Modality } from "../../api/study.ts";
import { readData } from "./data.ts";
import { isUnitSpelling, unitsSpelled } from "./unit-spellings.ts";

// The analyte catalogue: codes, names and mnemonics of devices, and the units of each analyte.

const Code = Type.String({ pattern: "^[A-Z0-9]+$" });
const Loinc = Type.String({ pattern: "^\\d{1,7}-\\d$" });

const Analyte = Type.Object({
  code: Code,
  /** Code that the API prints: the catalogue's UGLU is a urine pad's GLU. */
  api_code: Type.String({ minLength: 1, maxLength: 64 }),
  name: Type.String(),
  /** Its name in Turkish, as a vet writes it. It names no result of a device. */
  name_tr: Type.String({ minLength: 1 }),
  modality: Type.Enum(["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"]),
  specimen: Type.String(),
  /** "word": the value is in words, such as Positive; it has neither a number nor a rank. */
  value_type: Type.Enum(["numeric", "ordinal", "word"]),
  /**
   * The word of a normal result. Another word is abnormal, whatever the species. Absent for a number, for a titre, whose meaning
   * depends on vaccination, and for words that are normal in some species only, such as the colour of urine.
   */
  expected_word: Type.Optional(Type.String({ minLength: 1 })),
  /** Null for a pad's rank and for a word. */
  canonical_unit: Type.Union([Type.String(), Type.Null()]),
  /** Digits after the point of a value in the canonical unit. */
  decimals: Type.Integer({ minimum: 0, maximum: 6 }),
  molar_mass_g_per_mol: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  /** True if a missing unit is unknown, not the only unit: some devices send another quantity without a unit. */
  unit_required: Type.Optional(Type.Boolean()),
  /** True for a percentage that may exceed 100, such as cells per 100 other cells. */
  unbounded: Type.Optional(Type.Boolean()),
  /** True if a value may be below 0. */
  signed: Type.Optional(Type.Boolean()),
  /** True for urine that a chemistry analyzer measures in an order of blood. */
  beside_blood: Type.Optional(Type.Boolean()),
  /** A value in `unit` times `factor` is the value in the canonical unit. `basis` is the source of the factor. */
  units: Type.Array(
    Type.Object({ unit: Type.String(), factor: Type.Number({ exclusiveMinimum: 0 }), basis: Type.String() }),
  ),
  /** Units without an exact factor: they are read, and never converted. */
  unconverted_units: Type.Optional(Type.Array(Type.String())),
  /**
   * The analyte that the same mnemonic means in another unit: LYM in % is LYMP. Null if the catalogue lacks that analyte. A
   * unit here is one of units.json, or a spelling of its own.
   */
  in_unit: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.Union([Code, Type.Null()]))),
  /** LOINC codes of this finding. */
  loinc: Type.Array(Loinc),
  /**
   * LOINC codes that devices send for it and that name another finding, another property (a mass in place of a rank) or another
   * unit. They are read, and never sent.
   */
  loinc_read_only: Type.Optional(Type.Array(Loinc)),
  loinc_source: Type.Optional(Type.String()),
  synonyms: Type.Array(Type.String({ minLength: 1 })),
  note: Type.Optional(Type.String()),
});

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };

export type Analyte = DeepReadonly<Static<typeof Analyte>>;

/** Units of counts. Their mnemonics with % name another analyte. */
const COUNTS = ["10*9/L", "10*12/L"];

/** LOINC codes of urine that the catalogue has no analyte for. `of` is the code of the same quantity in blood. */
const UrineLoinc = Type.Object({ loinc: Loinc, of: Code, source_id: Type.String() });

export const analytes: readonly Analyte[] = checked(readData("analytes.json", Type.Array(Analyte)));

const byCode = new Map(analytes.map((analyte) => [analyte.code, analyte]));
const byLoinc = new Map(analytes.flatMap((analyte) => loincRead(analyte).map((loinc) => [loinc, analyte] as const)));
const byName = namesOf(analytes);
const urineLoinc = urineLoincOf(readData("urine-loinc.json", Type.Array(UrineLoinc)));

function loincRead({ loinc, loinc_read_only = [] }: Analyte): readonly string[] {
  return [...loinc, ...loinc_read_only];
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

/** An analyte, and the reason of the choice if its name or its unit allows another one. */
interface AnalyteChoice {
  readonly analyte: Analyte;
  readonly note: string | null;
}

/**
 * Finds the analyte of the first known name. The names are in order of trust: LOINC, then mnemonics as the device sent them.
 * @returns null if no name is known, or the known one contradicts the specimen or the unit; also for a LOINC of urine that the
 * catalogue lacks, since a mnemonic next to it would make it blood
 */
export function findAnalyte(names: readonly string[], context: NameContext): AnalyteChoice | null {
  if (names.some((name) => urineLoinc.has(name.trim()))) return null;
  // UCREA with the name Creatinine is urine's.
  const isUrine = names.some((name) => candidatesOf(name).some(({ beside_blood }) => beside_blood === true));
  for (const raw of names) {
    const name = raw.trim();
    const exact = byLoinc.get(name);
    if (exact !== undefined) return ofUnit(name, { analyte: exact, note: null }, context);
    const candidates = candidatesOf(name);
    if (candidates.length === 0 || (isUrine && candidates.every(isOfBlood))) continue;
    const choice = decide(name, candidates, context);
    return choice === null ? null : ofUnit(name, choice, context);
  }
  return null;
}

/** Returns whether the catalogue knows the name or the LOINC code, in any specimen. */
export function isAnalyteName(name: string): boolean {
  return byLoinc.has(name.trim()) || candidatesOf(name).length > 0;
}

/** Max characters of a name with marks around it. */
const NAME_MAX = 64;

/** Methods that chemistry analyzers write after the name: `ALAT IIGEN`, `CREA ENZ`, `GLU-HK`. */
const METHOD = /-(?:ii-?gen|enz|liq|ars|jaffe|hk|god|nac|ifcc|bcg|kin|uv)$/;

function candidatesOf(name: string): readonly Analyte[] {
  const folded = foldName(name);
  const exact = byName.get(folded);
  if (exact !== undefined || folded.length > NAME_MAX) return exact ?? [];
  return (
    writingsOf(folded)
      .map((writing) => byName.get(writing))
      .find((found) => found !== undefined) ?? ofNameWithUnit(folded)
  );
}

/** A name with its unit: `HCT (%)`. */
const WITH_UNIT = /^(.+?)[\s-]*\(([^()]+)\)$/;

/** Returns the unit after a name, `%` of `HCT (%)`; "" without one. */
export function unitInName(name: string): string {
  const [, , unit = ""] = WITH_UNIT.exec(name.trim().slice(0, NAME_MAX)) ?? [];
  return isUnitSpelling(unit) ? unit : "";
}

/** Returns the analytes of a name without its unit, which is one of theirs: PT (INR) is not PT, which has seconds. */
function ofNameWithUnit(folded: string): readonly Analyte[] {
  const [, name = "", unit = ""] = WITH_UNIT.exec(folded) ?? [];
  if (!isUnitSpelling(unit)) return [];
  return (byName.get(name) ?? []).filter(({ value_type, units, unconverted_units = [], in_unit = {} }) => {
    const own = [...units.map((allowed) => allowed.unit), ...unconverted_units, ...Object.keys(in_unit)];
    return value_type !== "numeric" || unitsSpelled(own, unit).length > 0;
  });
}

/**
 * Returns other writings of a name, the nearest first: without marks and points (`*GLOB`, `Alb.`, `T.Bil`), with its sign last (`%LYM`,
 * `LYM (%)`), without its method, and one of two names of one analyte (`ALT (GPT)`).
 */
function writingsOf(folded: string): string[] {
  const bare = folded
    .replace(/^[*?!~]+-?/, "")
    .replace(/[.:*]+$/, "")
    .replaceAll(/(\p{L})\.(?=\p{L})/gu, "$1-");
  const [, sign = "", rest = bare] = /^([%#])-?(.+)$/.exec(bare) ?? [];
  const [first = "", ...others] = bare.split(/-?[(/)]-?/).filter(Boolean);
  const isOne = others.length > 0 && others.every((other) => byName.get(other)?.[0] === byName.get(first)?.[0]);
  return [rest.replace(/-?\(([%#])\)$/, "$1") + sign, bare.replace(METHOD, ""), ...(isOne ? [first] : [])];
}

function isOfBlood({ modality }: Analyte): boolean {
  return modality !== "URINALYSIS";
}

/** Whether a mnemonic names urine analytes only, so that its order is a urine order. */
export function isUrineOnly(name: string): boolean {
  const trimmed = name.trim();
  const loinc = byLoinc.get(trimmed);
  const candidates = loinc === undefined ? candidatesOf(trimmed) : [loinc];
  return (
    candidates.length > 0 &&
    candidates.every(({ modality, beside_blood }) => modality === "URINALYSIS" && beside_blood !== true)
  );
}

/** Replaces the analyte by what the name means in the unit sent. */
function ofUnit(name: string, choice: AnalyteChoice, { unit = "" }: NameContext): AnalyteChoice | null {
  const { code, in_unit } = choice.analyte;
  if (in_unit === undefined || unit.trim() === "") return choice;
  const [spelled] = unitsSpelled(Object.keys(in_unit), unit);
  if (spelled === undefined) return choice;
  const analyte = byCode.get(in_unit[spelled] ?? "");
  if (analyte === undefined) return null;
  return { analyte, note: `${name} in ${unit.trim()} is not ${code}: taken as ${analyte.code}` };
}

/** Decides between the analytes of a mnemonic: by the modality, then by a urine order, otherwise blood. */
function decide(name: string, candidates: readonly Analyte[], { modality, urine }: NameContext): AnalyteChoice | null {
  const isUrine = urine || modality === "URINALYSIS";
  const bloodModality = modality === "HEMATOLOGY" || modality === "BIOCHEMISTRY" ? modality : null;
  const fromUrine = candidates.filter((analyte) => analyte.modality === "URINALYSIS");
  const fromBlood = candidates.filter(isOfBlood);

  if (candidates.length === 1) {
    const [analyte] = candidates;
    if (analyte === undefined) return null;
    // CREA of urine is not CREA of blood, and UA is then the urinalysis: a blood interval must not apply to either.
    if (isUrine && fromUrine.length === 0) return null;
    // BIL on a chemistry analyzer is not a urine pad. UBIL is one by its code.
    const isItself = [analyte.code, analyte.name].map(foldName).includes(foldName(name));
    const isPad = analyte.value_type === "ordinal" && !isItself;
    if (isPad && !isUrine && bloodModality !== null) return null;
    // Procalcitonin has the same letters as the plateletcrit of hematology.
    if (foldName(name) === "pct" && modality === "BIOCHEMISTRY") return null;
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

/**
 * Folds a name, so that the writings of one name are equal: case, compatible characters such as full-width letters, and runs
 * of blanks, underscores and dashes between words. RDW_CV is RDW-CV. Folding twice changes nothing.
 */
export function foldName(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .trim()
    .replace(/[\s_\p{Dash}]+/gu, "-");
}

function namesOf(rows: readonly Analyte[]): Map<string, Analyte[]> {
  const names = new Map<string, Analyte[]>();
  for (const analyte of rows) {
    for (const name of new Set([analyte.code, analyte.name, ...analyte.synonyms].map(foldName))) {
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

function urineLoincOf(rows: readonly Static<typeof UrineLoinc>[]): ReadonlySet<string> {
  const codes = new Set<string>();
  for (const { loinc, of } of rows) {
    const isAnalytes = byLoinc.has(loinc) || byName.has(foldName(loinc));
    if (codes.has(loinc)) throw new Error(`shared/data/urine-loinc.json: ${loinc} is duplicate`);
    if (isAnalytes) throw new Error(`shared/data/urine-loinc.json: ${loinc} names an analyte`);
    if (!byCode.has(of)) throw new Error(`shared/data/urine-loinc.json: ${loinc} is of ${of}, an unknown analyte`);
    codes.add(loinc);
  }
  return codes;
}

function checked(rows: readonly Analyte[]): readonly Analyte[] {
  const codes = new Set(rows.map(({ code }) => code));
  const seen = new Set<string>();
  const once = (key: string, analyte: Analyte) => {
    if (seen.has(key)) throw new Error(`shared/data/analytes.json: ${key} of ${analyte.code} is duplicate`);
    seen.add(key);
  };
  for (const analyte of rows) {
    once(analyte.code, analyte);
    once(`${analyte.api_code} of ${analyte.modality}`, analyte);
    for (const loinc of loincRead(analyte)) once(loinc, analyte);
    for (const { unit } of analyte.units) once(`${analyte.code} in ${unit}`, analyte);
    const problem = unitProblem(analyte, codes);
    if (problem !== null) throw new Error(`shared/data/analytes.json: ${analyte.code} ${problem}`);
  }
  return rows;
}

function unitProblem(analyte: Analyte, codes: ReadonlySet<string>): string | null {
  const { value_type, canonical_unit, units, in_unit = {} } = analyte;
  const [canonical] = units;
  if (value_type !== "numeric") {
    return canonical_unit === null && canonical === undefined ? null : "is not numeric and must have no unit";
  }
  if (canonical_unit === null || canonical?.unit !== canonical_unit || canonical.factor !== 1) {
    return `must start its units with ${canonical_unit}, factor 1`;
  }
  if (COUNTS.includes(canonical_unit) && in_unit["%"] === undefined) return "is a count and must name its percentage";
  const unknown = Object.values(in_unit).find((code) => code !== null && !codes.has(code));
  return unknown === undefined ? null : `has the unknown analyte ${unknown} in another unit`;
}

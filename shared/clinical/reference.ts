import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { type Analyte, analyteByCode } from "./analytes/analytes.ts";
import { caveatsOf, permits } from "./caveats.ts";
import { dataFile, readData } from "./analytes/data.ts";
import type { Signalment } from "./signalment.ts";
import { breedGroupOf, fold, hasBreeds, isBreedGroup } from "./species.ts";
import { factorOf } from "./analytes/units.ts";
import { textForm } from "../schema/text-form.ts";

// Chooses the reference interval of a patient among the rows of published tables.

/** A bound as text, since a range is printed with the digits of its row: `6.0`. */
const Bound = Type.String({ pattern: textForm("^-?\\d+(\\.\\d+)?$", "a number with a decimal point such as 6.0") });
const Species = Type.Enum(["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse", "cow"]);
const Quality = Type.Enum(["A", "B", "C", "D"]);

/** Fields of every interval, of the catalogue or of a clinic. An absent field matches everything. */
export const intervalFields = {
  id: Type.String({ minLength: 1, maxLength: 128 }),
  species: Species,
  subgroup: Type.Optional(Type.String()),
  life_stage: Type.Optional(Type.Enum(["adult", "juvenile"])),
  age_min_days: Type.Optional(Type.Integer({ minimum: 0 })),
  age_max_days: Type.Optional(Type.Integer({ minimum: 0 })),
  sex: Type.Optional(Type.Enum(["M", "F"])),
  neutered: Type.Optional(Type.Boolean()),
  device: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  analyte: Type.String(),
  unit: Type.String(),
  low: Bound,
  high: Bound,
  critical_low: Type.Optional(Bound),
  critical_high: Type.Optional(Bound),
};
const IntervalFields = Type.Object(intervalFields);
export type IntervalFields = Static<typeof IntervalFields>;

/** A row of data/reference-intervals.json. */
const PublishedRow = Type.Object({
  ...intervalFields,
  critical_source_id: Type.Optional(Type.String()),
  kind: Type.Enum(["reference_interval", "published_range", "observed_range", "decision_limit", "device_default"]),
  method: Type.Optional(Type.String()),
  n: Type.Optional(Type.Integer({ minimum: 1 })),
  source_id: Type.String(),
  note: Type.Optional(Type.String()),
  quality: Quality,
  rank: Type.Integer({ minimum: 0 }),
});
type PublishedRow = Static<typeof PublishedRow>;

const OrdinalNormal = Type.Object({
  id: Type.String({ minLength: 1 }),
  species: Species,
  analyte: Type.String(),
  max_normal_rank: Type.Number({ minimum: 0, maximum: 4 }),
  text: Type.String(),
  source_id: Type.String(),
  quality: Quality,
});

export interface Interval {
  readonly id: string;
  readonly low: number;
  readonly high: number;
  readonly critical_low: number | null;
  readonly critical_high: number | null;
  readonly unit: string;
  readonly source_id: string;
  /** Null for an interval of a clinic, which has no grade. */
  readonly quality: "A" | "B" | "C" | "D" | null;
  /** The bounds with the row's digits: `6.0-17.0`. */
  readonly text: string;
}

/** Conditions of a row on a patient, and their specificity. */
export interface IntervalCandidate {
  readonly interval: Interval;
  readonly species: string;
  readonly subgroup: string | null;
  readonly ageMin: number | null;
  readonly ageMax: number | null;
  readonly stage: "adult" | "juvenile" | null;
  readonly sex: "M" | "F" | null;
  readonly neutered: boolean | null;
  readonly device: readonly string[];
  readonly specificity: number;
  readonly rank: number;
}

const files = [
  "analytes.json",
  "units.json",
  "possible-values.json",
  "urine-loinc.json",
  "species-map.json",
  "breed-caveats.json",
  "critical-limits.json",
  "sources.json",
  "ordinal-normals.json",
  "reference-intervals.json",
];

/** Identifies the content of shared/data. A study stores it with its results. */
export const catalogueVersion: string = files
  .reduce((hash, file) => hash.update(dataFile(file)), createHash("sha256"))
  .digest("hex")
  .slice(0, 12);

const Source = Type.Object({
  id: Type.String({ minLength: 1 }),
  title: Type.String(),
  method: Type.Optional(Type.String()),
});
const sources = new Map(readData("sources.json", Type.Array(Source)).map((source) => [source.id, source]));
const ids = new Set<string>();
const published = new Map<string, PublishedRow>();
const intervals = intervalsByAnalyte();
const intervalById = new Map([...intervals.values()].flat().map(({ interval }) => [interval.id, interval] as const));
const ordinalSources = new Map<string, string>();
const ordinals = new Map<string, { id: string; high: number }>(
  readData("ordinal-normals.json", Type.Array(OrdinalNormal)).map((row) => {
    ordinalSources.set(row.id, row.source_id);
    checkOrigin("ordinal-normals.json", row);
    if (analyteByCode(row.analyte)?.value_type !== "ordinal") {
      throw new Error(`shared/data/ordinal-normals.json: ${row.id} is of ${row.analyte}, which is not an ordinal`);
    }
    return [`${row.species} ${row.analyte}`, { id: row.id, high: row.max_normal_rank }];
  }),
);

/** Age from which an adult row without an age applies: one year, as in the adult rows with an age. */
export const ADULT_FROM_DAYS = 366;

/** Whether a species has intervals for its subgroups only. Blood values of birds and reptiles differ by family, exotic is any animal. */
export function needsSubgroup(species: string): boolean {
  return species === "bird" || species === "reptile" || species === "exotic";
}

/**
 * Returns the most specific interval of the catalogue for a patient, or null. A general interval that misleads for the breed or
 * the age does not apply, before any fallback to it. `device` is the name of the instrument, with its
 * rotor or panel if known, since some rows apply to one panel only. Rows of quality C and D need `includeLowQuality`.
 */
export function chooseInterval(
  analyte: Analyte,
  signalment: Signalment,
  device: string | null,
  options: { includeLowQuality?: boolean } = {},
): Interval | null {
  const caveats = caveatsOf(analyte, signalment);
  const rows = (intervals.get(analyte.code) ?? []).filter(
    (row) =>
      (options.includeLowQuality === true || row.interval.quality === "A" || row.interval.quality === "B") &&
      permits(caveats, row),
  );
  return mostSpecific(rows, signalment, device);
}

/** Returns the first row that applies to the patient and the device. The rows are sorted by `bySpecificity`. */
export function mostSpecific(
  rows: readonly IntervalCandidate[],
  signalment: Signalment,
  device: string | null,
): Interval | null {
  if (needsSubgroup(signalment.species) && signalment.subgroup === null) return null;
  const deviceWords = fold(device ?? "");
  const row = rows.find(
    (each) =>
      each.species === signalment.species &&
      isForSubgroup(each.subgroup, signalment) &&
      (each.sex === null || each.sex === signalment.sex) &&
      (each.neutered === null || each.neutered === signalment.neutered) &&
      each.device.every((word) => deviceWords.includes(word)) &&
      appliesAtAge(each, signalment.ageDays),
  );
  return row?.interval ?? null;
}

function isForSubgroup(subgroup: string | null, { species, subgroup: own }: Signalment): boolean {
  if (subgroup === null) return own === null || hasBreeds(species);
  return own !== null && [own, breedGroupOf(species, own)].includes(subgroup);
}

/** Formats a published row with its source, by its id in a snapshot. @returns null for an id that this catalogue lacks */
export function describePublished(id: string): string | null {
  const found = publishedRow(id);
  return found === null ? null : [found.text ?? [], found.source].flat().join(", ");
}

/** A published interval or rank as its table has it. A urine pad has neither interval nor row of conditions. */
export interface Published {
  readonly text: string | null;
  readonly source: string;
  /** The method of the row, or of its source. */
  readonly method: string | null;
  readonly row: PublishedRow | null;
}

/** Finds a published row by its id in a snapshot. @returns null for an id that this catalogue lacks */
export function publishedRow(id: string): Published | null {
  const row = published.get(id);
  if (row !== undefined) {
    const method = row.method ?? sources.get(row.source_id)?.method ?? null;
    return { text: `${row.low}-${row.high} ${row.unit}`, source: sourceText(row.source_id), method, row };
  }
  const source = ordinalSources.get(id);
  return source === undefined ? null : { text: null, source: sourceText(source), method: null, row: null };
}

/** Finds a published interval by its id in a snapshot. @returns null for another id */
export function publishedInterval(id: string): Interval | null {
  return intervalById.get(id) ?? null;
}

function sourceText(id: string): string {
  return `${sources.get(id)?.title} (${id})`;
}

/** Returns the highest normal rank of a urine pad. It applies at any quality. */
export function ordinalNormal(analyte: Analyte, species: string): { id: string; high: number } | null {
  return ordinals.get(`${species} ${analyte.code}`) ?? null;
}

/** Whether a row applies at an age. At an unknown age adult rows and rows without ages apply. */
function appliesAtAge(row: IntervalCandidate, days: number | null): boolean {
  if (days === null) return row.stage === "adult" || (row.stage === null && row.ageMin === null && row.ageMax === null);
  const from = row.ageMin ?? (row.stage === "adult" ? ADULT_FROM_DAYS : 0);
  const to = row.ageMax ?? (row.stage === "juvenile" ? ADULT_FROM_DAYS - 1 : Infinity);
  return from <= days && days <= to;
}

function intervalsByAnalyte(): Map<string, IntervalCandidate[]> {
  const found = new Map<string, IntervalCandidate[]>();
  for (const row of readData("reference-intervals.json", Type.Array(PublishedRow))) {
    checkRow(row);
    published.set(row.id, row);
    const rows = found.get(row.analyte) ?? [];
    rows.push(candidateOf(row, row));
    found.set(row.analyte, rows);
  }
  for (const rows of found.values()) rows.sort(bySpecificity);
  return found;
}

/** Sorts the most specific row first, then by the rank in the data, then by id. */
export function bySpecificity(one: IntervalCandidate, other: IntervalCandidate): number {
  return other.specificity - one.specificity || one.rank - other.rank || (one.interval.id < other.interval.id ? -1 : 1);
}

/** Prepares a row for the choice. The second argument is its source, its quality and its rank. */
export function candidateOf(
  row: IntervalFields,
  { source_id, quality, rank }: Pick<Interval, "source_id" | "quality"> & { rank: number },
): IntervalCandidate {
  const isYoung = row.age_max_days !== undefined || row.life_stage === "juvenile";
  return {
    interval: {
      id: row.id,
      low: Number(row.low),
      high: Number(row.high),
      critical_low: row.critical_low === undefined ? null : Number(row.critical_low),
      critical_high: row.critical_high === undefined ? null : Number(row.critical_high),
      unit: row.unit,
      source_id,
      quality,
      text: `${row.low}-${row.high}`,
    },
    species: row.species,
    subgroup: row.subgroup ?? null,
    ageMin: row.age_min_days ?? null,
    ageMax: row.age_max_days ?? null,
    stage: row.life_stage ?? null,
    sex: row.sex ?? null,
    neutered: row.neutered ?? null,
    device: row.device === undefined ? [] : deviceWordsOf(row.device),
    // An open-ended adult row scores nothing, so that it does not precede a better row without an age.
    specificity:
      (row.device === undefined ? 0 : 16) +
      (row.subgroup === undefined ? 0 : isBreedGroup(row.species, row.subgroup) ? 4 : 8) +
      (isYoung ? 2 : 0) +
      (row.sex === undefined ? 0 : 1) +
      (row.neutered === undefined ? 0 : 0.5),
    rank,
  };
}

/** Returns the words of a device's name without "rotor", which no device sends with its panel. */
function deviceWordsOf(device: string): string[] {
  return fold(device)
    .trim()
    .split(" ")
    .filter((word) => word !== "rotor")
    .map(fold);
}

function checkRow(row: PublishedRow): void {
  checkOrigin("reference-intervals.json", row);
  const hasCritical = (row.critical_low ?? row.critical_high) !== undefined;
  const problem =
    intervalProblem(row) ??
    (hasCritical && !sources.has(row.critical_source_id ?? "") ? "has a critical bound without a source" : null);
  if (problem !== null) throw new Error(`shared/data/reference-intervals.json: ${row.id} ${problem}`);
}

/** Checks a row beyond its schema: analyte, unit, order of the bounds. @returns the problem, or null */
export function intervalProblem(row: IntervalFields): string | null {
  const analyte = analyteByCode(row.analyte);
  if (analyte === undefined) return `is of ${row.analyte}, an unknown analyte`;
  if (analyte.value_type !== "numeric") {
    return `is of ${row.analyte}, which is ${analyte.value_type === "word" ? "a word" : "an ordinal"}`;
  }
  if (factorOf(analyte, row.unit) === null) return `has the unit ${row.unit}, expected a unit of ${row.analyte}`;
  if (!(Number(row.low) < Number(row.high))) return `has the low ${row.low}, not below the high ${row.high}`;
  if (row.critical_low !== undefined && !(Number(row.critical_low) <= Number(row.low))) {
    return `has the critical_low ${row.critical_low}, above the low ${row.low}`;
  }
  if (row.critical_high !== undefined && !(Number(row.critical_high) >= Number(row.high))) {
    return `has the critical_high ${row.critical_high}, below the high ${row.high}`;
  }
  return (row.age_min_days ?? 0) > (row.age_max_days ?? Infinity) ? "ends before the age at which it starts" : null;
}

function checkOrigin(file: string, row: { id: string; source_id: string }): void {
  if (ids.has(row.id)) throw new Error(`shared/data/${file}: ${row.id} is duplicate`);
  ids.add(row.id);
  if (!sources.has(row.source_id)) throw new Error(`shared/data/${file}: ${row.id} has no source ${row.source_id}`);
}

import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { type Analyte, analyteByCode, dataFile, readData } from "./analytes.ts";
import type { Patient } from "../api/patient.ts";
import { fold, subgroupOf } from "./species.ts";
import type { FlaggedPatient } from "../api/study.ts";
import { factorOf } from "./units.ts";

// Which reference interval holds for an animal: rows of published tables, each with its source.

/** A bound as the row writes it: `6.0` keeps its digits, for the range is printed with them. */
const Bound = Type.String({ pattern: "^-?\\d+(\\.\\d+)?$" });
const Species = Type.Enum(["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse", "cow"]);
const Quality = Type.Enum(["A", "B", "C", "D"]);

/** Fields of every interval, whoever published it. An absent field matches everything. */
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
const Row = Type.Object({
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
type Row = Static<typeof Row>;

const OrdinalNormal = Type.Object({
  id: Type.String({ minLength: 1 }),
  species: Species,
  analyte: Type.String(),
  max_normal_rank: Type.Number({ minimum: 0, maximum: 4 }),
  text: Type.String(),
  source_id: Type.String(),
  quality: Quality,
});

/** The animal as it was when the sample was taken. */
export interface Signalment {
  readonly species: string;
  readonly subgroup: string | null;
  readonly ageDays: number | null;
  readonly sex: "M" | "F" | null;
  readonly neutered: boolean | null;
}

export interface Interval {
  readonly id: string;
  readonly low: number;
  readonly high: number;
  readonly critical_low: number | null;
  readonly critical_high: number | null;
  readonly unit: string;
  readonly source_id: string;
  /** Null of a clinic's own, which nobody graded. */
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
  "species-map.json",
  "sources.json",
  "ordinal-normals.json",
  "reference-intervals.json",
];

/** Which content of shared/data decided a flag; a study keeps it beside its result. */
export const catalogueVersion: string = files
  .reduce((hash, file) => hash.update(dataFile(file)), createHash("sha256"))
  .digest("hex")
  .slice(0, 12);

const Source = Type.Object({ id: Type.String({ minLength: 1 }), title: Type.String() });
const sources = new Map(readData("sources.json", Type.Array(Source)).map((source) => [source.id, source]));
const ids = new Set<string>();
const intervals = intervalsByAnalyte();
const ordinalSources = new Map<string, string>();
const ordinals = new Map<string, { id: string; high: number }>(
  readData("ordinal-normals.json", Type.Array(OrdinalNormal)).map((row) => {
    ordinalSources.set(row.id, row.source_id);
    checkOrigin("ordinal-normals.json", row);
    if (analyteByCode(row.analyte)?.value_type !== "ordinal") {
      throw new Error(`shared/data/ordinal-normals.json: ${row.id} is of ${row.analyte}, which is no ordinal`);
    }
    return [`${row.species} ${row.analyte}`, { id: row.id, high: row.max_normal_rank }];
  }),
);

/** A year: what the rows marked "adult" with an age say, taken for the ones that give none. */
const ADULT_FROM_DAYS = 366;

/** A bird is not a bird to its blood: without a subgroup none of their rows holds. */
export function needsSubgroup(species: string): boolean {
  return species === "bird" || species === "reptile";
}

const DAY_MS = 86_400_000;

/** The clinic's patient at the moment of the sample: age in whole days from the date of birth (UTC). */
export function signalmentAt(
  patient: { species: string; breed: string | null; sex: string | null; date_of_birth: string | null },
  acquired_at: string,
): Signalment {
  return {
    species: patient.species,
    subgroup: subgroupOf(patient.species, patient.breed),
    ageDays: ageDays(patient.date_of_birth, acquired_at),
    sex: readSex(patient.sex),
    neutered: readNeutered(patient.sex),
  };
}

/** The facts that animalAt() reads, for a study's snapshot. */
export function flaggedPatient({ species, breed, sex, date_of_birth }: Patient): FlaggedPatient {
  return { species, breed, sex, date_of_birth };
}

/**
 * The most specific interval of the catalogue that holds for the animal, or null. `device` is the instrument's name; it
 * may carry its rotor or panel, since some rows hold for that only. Qualities C and D are off unless asked for.
 */
export function chooseInterval(
  analyte: Analyte,
  signalment: Signalment,
  device: string | null,
  options: { includeLowQuality?: boolean } = {},
): Interval | null {
  const rows = (intervals.get(analyte.code) ?? []).filter(
    ({ interval: { quality } }) => options.includeLowQuality === true || quality === "A" || quality === "B",
  );
  return mostSpecific(rows, signalment, device);
}

/** The first of the rows, which stand in the order of `bySpecificity`, that holds for the animal on that device. */
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
      (each.subgroup === null || each.subgroup === signalment.subgroup) &&
      (each.sex === null || each.sex === signalment.sex) &&
      (each.neutered === null || each.neutered === signalment.neutered) &&
      each.device.every((word) => deviceWords.includes(word)) &&
      holdsAtAge(each, signalment.ageDays),
  );
  return row?.interval ?? null;
}

/** @returns a published row with its source, by the id in a study's snapshot; null for an id of another catalogue */
export function describePublished(id: string): string | null {
  for (const candidates of intervals.values()) {
    for (const { interval } of candidates) {
      if (interval.id === id) return `${interval.text} ${interval.unit}, ${sourceText(interval.source_id)}`;
    }
  }
  const source = ordinalSources.get(id);
  return source === undefined ? null : sourceText(source);
}

function sourceText(id: string): string {
  return `${sources.get(id)?.title} (${id})`;
}

/** The highest normal rank of a urine pad; always on, whatever its quality. */
export function ordinalNormal(analyte: Analyte, species: string): { id: string; high: number } | null {
  return ordinals.get(`${species} ${analyte.code}`) ?? null;
}

/** Age unknown: rows without age limits and adult rows, never a juvenile one. */
function holdsAtAge(row: IntervalCandidate, days: number | null): boolean {
  if (days === null) return row.stage === "adult" || (row.stage === null && row.ageMin === null && row.ageMax === null);
  const from = row.ageMin ?? (row.stage === "adult" ? ADULT_FROM_DAYS : 0);
  const to = row.ageMax ?? (row.stage === "juvenile" ? ADULT_FROM_DAYS - 1 : Infinity);
  return from <= days && days <= to;
}

function ageDays(dateOfBirth: string | null, acquiredAt: string): number | null {
  if (dateOfBirth === null || !/^\d{4}-\d\d-\d\d$/.test(dateOfBirth)) return null;
  const born = new Date(`${dateOfBirth}T00:00:00.000Z`);
  // 2023-02-30 is either no date or the second of March, depending on who reads it.
  if (Number.isNaN(born.getTime()) || born.toISOString().slice(0, 10) !== dateOfBirth) return null;
  const days = Math.floor((Date.parse(acquiredAt) - born.getTime()) / DAY_MS);
  // Born today east of Greenwich is tomorrow in UTC; born later than that is a wrong date.
  return days >= -1 ? Math.max(days, 0) : null;
}

const MALE = ["m", "male", "mn", "nm", "mc", "cm", "mi", "erkek"].map(fold);
const FEMALE = ["f", "female", "fs", "sf", "fn", "nf", "fi", "disi"].map(fold);
const NEUTERED = [
  ...["mn", "nm", "mc", "cm", "fs", "sf", "fn", "nf", "neutered", "castrated", "spayed"],
  ...["kisir", "kisirlastirilmis", "kastre"],
].map(fold);
const INTACT = ["mi", "fi", "intact", "entire", "unneutered", "uncastrated", "unspayed"].map(fold);

export function readSex(sex: string | null): "M" | "F" | null {
  const words = fold(sex ?? "");
  const isMale = MALE.some((word) => words.includes(word));
  const isFemale = FEMALE.some((word) => words.includes(word));
  if (isMale === isFemale) return null;
  return isMale ? "M" : "F";
}

/** @returns whether a clinic's word for the sex says neutered; null if it says nothing, or "not neutered" */
export function readNeutered(sex: string | null): boolean | null {
  const words = fold(sex ?? "");
  const isNeutered = NEUTERED.some((word) => words.includes(word));
  const isIntact = INTACT.some((word) => words.includes(word));
  if (isNeutered === isIntact || words.includes(fold("not"))) return null;
  return isNeutered;
}

/** The words for the sex that patients are stored with. */
export const PATIENT_SEXES = ["male", "female", "male_neutered", "female_spayed", "unknown"] as const;
export type PatientSex = (typeof PATIENT_SEXES)[number];

const UNKNOWN_SEX = ["unknown", "u", "bilinmiyor"].map(fold);
const SEX_WORDS = new Set([...MALE, ...FEMALE, ...NEUTERED, ...INTACT, fold("not")]);

/** The sex that a clinic's words name ("FS", "kısır dişi"); null where they name none, both, or hold any other word. */
export function patientSex(words: string): PatientSex | null {
  const stored = PATIENT_SEXES.find((each) => each === words);
  if (stored !== undefined) return stored;
  const text = fold(words);
  if (UNKNOWN_SEX.includes(text)) return "unknown";
  const isKnown = text
    .trim()
    .split(" ")
    .every((word) => SEX_WORDS.has(fold(word)));
  const sex = isKnown ? readSex(words) : null;
  if (sex === null) return null;
  const isNeutered = readNeutered(words) === true;
  if (sex === "M") return isNeutered ? "male_neutered" : "male";
  return isNeutered ? "female_spayed" : "female";
}

function intervalsByAnalyte(): Map<string, IntervalCandidate[]> {
  const found = new Map<string, IntervalCandidate[]>();
  for (const row of readData("reference-intervals.json", Type.Array(Row))) {
    checkRow(row);
    const rows = found.get(row.analyte) ?? [];
    rows.push(candidateOf(row, row));
    found.set(row.analyte, rows);
  }
  for (const rows of found.values()) rows.sort(bySpecificity);
  return found;
}

/** Most specific first, then the rank a person gave, then the id. */
export function bySpecificity(one: IntervalCandidate, other: IntervalCandidate): number {
  return other.specificity - one.specificity || one.rank - other.rank || (one.interval.id < other.interval.id ? -1 : 1);
}

/** A row as it is chosen from; `origin` is who published it and how good that is. */
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
    // An open-ended adult row adds nothing: it would beat a better one that does not name the age.
    specificity:
      (row.device === undefined ? 0 : 8) +
      (row.subgroup === undefined ? 0 : 4) +
      (isYoung ? 2 : 0) +
      (row.sex === undefined ? 0 : 1) +
      (row.neutered === undefined ? 0 : 0.5),
    rank,
  };
}

/** A panel is called "Avian/Reptilian Profile Plus", never rotor. */
function deviceWordsOf(device: string): string[] {
  return fold(device)
    .trim()
    .split(" ")
    .filter((word) => word !== "rotor")
    .map(fold);
}

function checkRow(row: Row): void {
  checkOrigin("reference-intervals.json", row);
  const hasCritical = (row.critical_low ?? row.critical_high) !== undefined;
  const problem =
    intervalProblem(row) ??
    (hasCritical && !sources.has(row.critical_source_id ?? "") ? "has a critical bound without a source" : null);
  if (problem !== null) throw new Error(`shared/data/reference-intervals.json: ${row.id} ${problem}`);
}

/** Checks what the schema cannot: analyte, unit, order of the bounds. @returns the problem, or null */
export function intervalProblem(row: IntervalFields): string | null {
  const analyte = analyteByCode(row.analyte);
  if (analyte === undefined) return `is of ${row.analyte}, which is no analyte`;
  if (analyte.value_type !== "numeric") return `is of ${row.analyte}, which is an ordinal`;
  if (factorOf(analyte, row.unit) === null) return `has the unit ${row.unit}, which ${row.analyte} does not come in`;
  if (!(Number(row.low) < Number(row.high))) return `has the low ${row.low}, not below the high ${row.high}`;
  if (row.critical_low !== undefined && !(Number(row.critical_low) <= Number(row.low))) {
    return `has the critical_low ${row.critical_low}, above the low ${row.low}`;
  }
  if (row.critical_high !== undefined && !(Number(row.critical_high) >= Number(row.high))) {
    return `has the critical_high ${row.critical_high}, below the high ${row.high}`;
  }
  return (row.age_min_days ?? 0) > (row.age_max_days ?? Infinity) ? "ends before the age it begins at" : null;
}

function checkOrigin(file: string, row: { id: string; source_id: string }): void {
  if (ids.has(row.id)) throw new Error(`shared/data/${file}: ${row.id} stands twice`);
  ids.add(row.id);
  if (!sources.has(row.source_id)) throw new Error(`shared/data/${file}: ${row.id} has no source ${row.source_id}`);
}

import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { Modality, Result } from "../../../shared/api/study.ts";
import type { Analyte } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { type ClinicRanges, intervalsInForce } from "../../../shared/clinical/clinic-ranges.ts";
import { chooseInterval, publishedRow } from "../../../shared/clinical/reference.ts";
import { type Signalment, signalmentAt } from "../../../shared/clinical/signalment.ts";
import { hasBreeds, intervalFacts, servedSpecies, subgroupsOf } from "../../../shared/clinical/species.ts";
import type {
  IntervalNow,
  OwnAnimal,
  OwnCandidate,
  OwnCandidates,
  OwnSubject,
} from "../../dashboard/types/settings/own-intervals.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session } from "../../database/query.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { toStudy } from "../studies/study-content.ts";
import { currentRanges } from "../clinics/ranges.ts";

// The results that may make an interval of the clinic's own: the first sample of each animal on the clinic's analyzers. Whether an
// animal is healthy, a vet says.

/** Max animals, the last ones first. */
export const ANIMALS_MAX = 1000;
/** Max studies of the clinic that are searched, and max studies with the analyte that are read, the last ones first. */
const SEARCHED_MAX = 10_000;
const READ_MAX = 2000;
const DAY_MS = 86_400_000;

/** Returns the species and the subgroup of an interval for such animals. */
export function groupOf(animal: OwnAnimal): { species: string; subgroup: string | null } {
  const parent = (["bird", "exotic", "horse"] as const).find((species) => subgroupsOf(species).includes(animal));
  return parent === undefined ? { species: animal, subgroup: null } : { species: parent, subgroup: animal };
}

type Missing = keyof OwnCandidates["left"];

/** The first sample of an animal. */
interface Sample {
  readonly animal: Omit<OwnCandidate, "value">;
  /** A value that counts; null if the study has none. */
  readonly result: Result | null;
  readonly missing: Missing | null;
}

/** Finds the candidates of an analyte of the catalogue. Values in several units are converted to the most frequent one. */
export async function findCandidates(
  session: Session,
  { clinicId, subject, analyte, now }: { clinicId: number; subject: OwnSubject; analyte: Analyte; now: number },
): Promise<OwnCandidates> {
  const time = { from: Date.parse(subject.from), to: Date.parse(subject.to) + DAY_MS };
  const beyond = await session.first(studyBeyond, { clinicId, ...time });
  const from = beyond === undefined ? time.from : beyond.acquired_at + 1;
  const rows = await session.all(measured, {
    ...{ clinicId, from, to: time.to, modality: analyte.modality },
    species: servedSpecies(groupOf(subject.animal).species),
    words: `%"analyte":${JSON.stringify(analyte.api_code)}%`,
  });
  const { samples, devices, cutAt } = firstSamples(rows, subject, analyte);
  const unit = mostFrequent(samples.flatMap(({ result }) => result?.unit ?? []));
  const left: Record<Missing, number> = { bound: 0, doubted: 0, unit: 0, age: 0 };
  const animals = samples.flatMap(({ animal, result, missing }): OwnCandidate[] => {
    const value = result === null ? null : valueIn(unit, result, analyte);
    if (value !== null) return [{ ...animal, value }];
    left[missing ?? "unit"] += 1;
    return [];
  });
  const asMeasured = samples.flatMap(({ result }) => (result?.unit === unit ? (result.value ?? []) : []));
  const isFull = rows.length + leftOut(rows) === READ_MAX;
  const searchedFrom = cutAt ?? (isFull ? rows.at(-1)?.acquired_at : undefined) ?? (beyond === undefined ? null : from);
  const ranges = (await currentRanges(session, clinicId)) ?? null;
  return {
    unit,
    decimals: Math.max(0, ...asMeasured.map(decimalsOf)),
    animals: animals.toSorted((a, b) => (a.acquired_at < b.acquired_at ? 1 : -1)),
    left,
    devices,
    searched_from: timestampOrNull(searchedFrom),
    now: unit === null ? null : intervalNow({ ranges, subject, analyte, unit, now }),
  };
}

type Row = NonNullable<typeof measured.row>;

/** Takes the first sample with a value that counts of each animal, else its first sample. `rows` start with the last one. */
function firstSamples(
  rows: readonly Row[],
  subject: OwnSubject,
  analyte: Analyte,
): { samples: Sample[]; devices: string[]; cutAt: number | null } {
  const samples = new Map<string, Sample>();
  const devices = new Set<string>();
  const group = groupOf(subject.animal);
  for (const row of rows) {
    const facts = signalmentOf(row);
    // A donkey is served as a horse and is another animal.
    const kind = hasBreeds(facts.species) ? null : facts.subgroup;
    if (facts.species !== group.species || group.subgroup !== kind) continue;
    const study = toStudy(row);
    const results = study.results.filter(
      (result) => result.analyte === analyte.api_code && result.code_source !== "device",
    );
    if (results.length === 0) continue;
    devices.add(row.device_name);
    if (subject.device !== null && row.device_name !== subject.device) continue;
    const isAnyAge = subject.age_from === null && subject.age_to === null;
    const { ageDays } = facts;
    if (!isAnyAge && ageDays !== null) {
      if (ageDays < (subject.age_from ?? 0) || ageDays > (subject.age_to ?? Infinity)) continue;
    }
    const known = samples.get(row.patient_fp);
    if (known === undefined && samples.size === ANIMALS_MAX) {
      return { samples: [...samples.values()], devices: [...devices].toSorted(), cutAt: row.acquired_at + 1 };
    }
    const missing = !isAnyAge && ageDays === null ? "age" : missingOf(results);
    if (missing !== null && known?.missing === null) continue;
    samples.set(row.patient_fp, {
      animal: {
        ...{ study_fp: study.fp, name: row.name, breed: row.breed, age_days: ageDays },
        ...{ acquired_at: study.acquired_at, device_name: study.device_name },
        flagged: study.results.flatMap(({ analyte: code, flag }) =>
          code !== analyte.api_code && flag !== null && flag !== "normal" ? code : [],
        ),
      },
      result: missing === null ? (results.find(counts) ?? null) : null,
      missing,
    });
  }
  return { samples: [...samples.values()], devices: [...devices].toSorted(), cutAt: null };
}

function signalmentOf({ species, precise_species, breed, sex, date_of_birth, acquired_at }: Row): Signalment {
  const facts = intervalFacts({ species, breed, sex, date_of_birth }, precise_species);
  return signalmentAt(facts, timestampOf(acquired_at));
}

/** Neither a bound such as `<0.2` nor a value that the device doubts counts. */
function counts({ value, comparator, comment, value_text }: Result): boolean {
  return value !== null && value_text === undefined && comparator === undefined && comment === undefined;
}

function missingOf(results: readonly Result[]): Missing | null {
  if (results.some(counts)) return null;
  return results.some(({ comparator }) => comparator !== undefined) ? "bound" : "doubted";
}

function mostFrequent(units: readonly string[]): string | null {
  const counted = new Map<string, number>();
  for (const unit of units) counted.set(unit, (counted.get(unit) ?? 0) + 1);
  return [...counted].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

function valueIn(unit: string | null, result: Result, analyte: Analyte): number | null {
  if (unit === null || result.unit === null || result.value === null) return null;
  return result.unit === unit ? result.value : convert(analyte, result.value, result.unit, unit);
}

/** Returns the digits after the point, at most six. */
function decimalsOf(value: number): number {
  const [, fraction = ""] = String(value).split(".");
  return Math.min(fraction.length, 6);
}

/** Returns the interval in force for such animals, in the unit; at an unknown age the adult one. */
function intervalNow({
  ranges,
  subject,
  analyte,
  unit,
  now,
}: {
  ranges: ClinicRanges | null;
  subject: OwnSubject;
  analyte: Analyte;
  unit: string;
  now: number;
}): IntervalNow | null {
  const ageDays = subject.age_from ?? subject.age_to;
  const signalment: Signalment = { ...groupOf(subject.animal), ageDays, sex: null, neutered: null };
  const own = ranges && intervalsInForce(ranges, timestampOf(now))(analyte, signalment, subject.device);
  const includeLowQuality = ranges?.low_quality === true;
  const interval = own ?? chooseInterval(analyte, signalment, subject.device, { includeLowQuality });
  if (interval === null) return null;
  const [low, high] = [interval.low, interval.high].map((bound) => convert(analyte, bound, interval.unit, unit));
  if (low === null || high === null || low === undefined || high === undefined) return null;
  return { low, high, source: own === null ? (publishedRow(interval.id)?.source ?? null) : null };
}

interface Time {
  clinicId: number;
  from: number;
  to: number;
}

/** The newest study of the time that is not searched, if there are too many. The index of clinic and time answers it. */
const studyBeyond = query((db, p: Time) =>
  db
    .selectFrom("study")
    .select("acquired_at")
    .where("clinic_id", "=", p.clinicId)
    .where("acquired_at", ">=", p.from)
    .where("acquired_at", "<", p.to)
    .orderBy("acquired_at", "desc")
    .limit(1)
    .offset(SEARCHED_MAX),
);

/** The text of the results is searched before they are read. */
const measured = checked(
  query((db, p: Time & { modality: Modality; species: string; words: string }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .innerJoin("clinic_patient", (join) =>
        join
          .onRef("clinic_patient.patient_id", "=", "study.patient_id")
          .onRef("clinic_patient.clinic_id", "=", "study.clinic_id")
          .on("clinic_patient.listed", "=", 1),
      )
      .select(STUDY_CONTENT)
      .select(["patient.fp as patient_fp", "patient.name", "patient.species", "patient.precise_species"])
      .select(["patient.breed", "patient.sex", "patient.date_of_birth"])
      .where("study.clinic_id", "=", p.clinicId)
      .where("study.acquired_at", ">=", p.from)
      .where("study.acquired_at", "<", p.to)
      .where("study.modality", "=", p.modality)
      .where("patient.species", "=", p.species)
      .where("study.results", "like", p.words)
      .orderBy("study.acquired_at", "desc")
      .orderBy("study.id", "desc")
      .limit(READ_MAX),
  ),
);

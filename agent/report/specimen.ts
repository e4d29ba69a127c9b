import type { Measurement } from "../../shared/clinical/results.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import { type Modality, RESULTS_MAX } from "../../shared/api/study.ts";
import { collectionKey, dedupeKey, separateEqualKeys } from "./dedupe-key.ts";
import { controlDraft, foldNumber, isCounter } from "./control.ts";
import { type ControlDraft, describe, type ReadContext, type Reading, type Report } from "./report.ts";
import { hasClock, isImpossible, isSuspect, readTime } from "./device-time.ts";
import { readRows, type SampleRows } from "./sample-rows.ts";
import type { Sample, SampleProfile } from "./sample.ts";

// Second half of reading, shared by all protocols: turns samples into Reports with parsed values, units, times and
// identity. The first half (the protocols' read.ts) finds the sample's fields in a message.

/**
 * Reads samples into Reports, and those of control material into control runs. `notes`: further notes on the message. `otherwise`:
 * reads a message without any patient's result.
 */
export function readSamples(
  samples: readonly Sample[],
  notes: readonly string[],
  profile: SampleProfile,
  context: ReadContext,
  otherwise: (patients: readonly Sample[], notes: readonly string[]) => Reading,
): Reading {
  const named = samples.map((sample) => ({ sample, number: clinicsNumber(sample, context) }));
  const isPatients = ({ sample, number }: (typeof named)[number]) => sample.control === undefined && number === null;
  const patients = named.filter(isPatients).map(({ sample }) => sample);
  const runs = named.flatMap((each) => (isPatients(each) ? [] : (readControl(each.sample, profile, context) ?? [])));
  const controls = [...new Map(runs.map((run) => [run.dedupe_key, run])).values()];
  const ofClinic = named.flatMap(({ number }) =>
    number === null ? [] : [`sample ${number} is a control of the clinic`],
  );
  const all = [...notes, ...new Set(ofClinic)];
  const reading = readPatients(patients, all, profile, context) ?? otherwise(patients, all);
  return controls.length === 0 || reading.is === "quarantined" ? reading : { ...reading, controls };
}

/**
 * Returns the number of a sample that the clinic uses for control material; null for another sample. Without an identifier, a name
 * counts, because some devices have no other field.
 */
function clinicsNumber(
  { control, identifier, sampleIds = [], otherIdentifiers, patient_hint: { name } }: Sample,
  { controls }: ReadContext,
): string | null {
  if (control !== undefined || controls === undefined) return null;
  // A place of a rack is among the other fields, too.
  const others = [...otherIdentifiers, ...(identifier === null ? [name ?? ""] : [])];
  const numbers = [identifier ?? "", ...sampleIds, ...others.filter((text) => !isCounter(text))];
  return numbers.find((number) => controls.has(foldNumber(number))) ?? null;
}

function readControl(sample: Sample, profile: SampleProfile, context: ReadContext): ControlDraft | null {
  const times = readTimes(sample, context);
  const time = times.isReplaced ? { ...times, identifying: null } : times;
  return controlDraft(sample, readRows(sample, profile, null, context), time, context);
}

/** @returns null without any result */
function readPatients(
  samples: readonly Sample[],
  notes: readonly string[],
  profile: SampleProfile,
  context: ReadContext,
): Reading | null {
  const readings = samples.flatMap((sample) => readSample(sample, profile, context));
  const reports = separateEqualKeys(
    readings.filter(({ rows, withdrawn }) => rows.length > 0 || withdrawn !== undefined),
  );
  const leftOut = readings.filter((report) => report.rows.length === 0).flatMap((report) => describe(report));
  if (reports.some((report) => report.rows.length > 0)) {
    return { is: "reports", reports, notes: [...notes, ...leftOut] };
  }
  if (readings.length === 0) return null;
  const reason = `no result could be read: ${[...leftOut, ...samples.flatMap(settingsOf)].join("; ")}`;
  return { is: "quarantined", reason, ...(reports.length > 0 ? { withdrawals: reports } : {}) };
}

function settingsOf({ settings = [] }: Sample): string[] {
  return settings.map((setting) => `of the run: ${setting}`);
}

/** Trims a text for a patient hint. @returns null for an empty one */
export function hintText(value: string): string | null {
  return value.trim().slice(0, 200) || null;
}

/** Returns the first valid device time, in UTC. */
export function firstTime(texts: readonly string[], { timeZone }: ReadContext): string | null {
  return texts.map((text) => readTime(text, timeZone)).find((time) => time !== null) ?? null;
}

/** Returns one Report per modality. A sample without any readable row yields one Report that lists the omissions. */
function readSample(sample: Sample, profile: SampleProfile, context: ReadContext): Report[] {
  if (sample.results.length === 0) return [];
  const species = readSpecies(sample.patient_hint.species ?? "");
  const rows = readRows(sample, profile, species, context);
  const times = readTimes(sample, context);
  const common = {
    device_name: sample.device_name,
    identifier: sample.identifier,
    otherIdentifiers: sample.otherIdentifiers,
    ...sampleIdsOf(sample),
    patient_hint: sample.patient_hint,
    species,
    acquired_at: times.acquired_at,
    ...(times.suspect === undefined ? {} : { suspectTime: times.suspect }),
    unmapped: rows.unmapped,
    leftOut: rows.leftOut,
    notes: [...sample.notes, ...settingsOf(sample), ...rows.notes, ...times.notes],
    comments: [...sample.comments, ...rows.comments],
  };
  return [...rowsByModality(rows, sample, profile)].map(([modality, own], index) => ({
    ...common,
    modality,
    ...identify(sample, times, { modality, rows: own }, profile, context),
    rows: own,
    ...withdrawnOf(rows, modality),
    ...gapsOf(rows, modality, index === 0),
    // Only the first Report lists the omissions of the sample. The device's comments hold for each.
    ...(index === 0 ? {} : { unmapped: [], leftOut: [], notes: [] }),
  }));
}

/** Max numbers of a sample, and max characters of each. */
const [SAMPLE_IDS_MAX, SAMPLE_ID_MAX] = [8, 64];

function sampleIdsOf({ sampleIds = [] }: Sample): Pick<Report, "sampleIds"> {
  const ids = new Set(sampleIds.map((id) => id.trim().slice(0, SAMPLE_ID_MAX)).filter(Boolean));
  return ids.size === 0 ? {} : { sampleIds: [...ids].slice(0, SAMPLE_IDS_MAX) };
}

interface SampleTimes {
  readonly acquired_at: string;
  /** Time in the dedupe_key; null without a readable time. */
  readonly identifying: string | null;
  /** The identifying time has hour and minute. */
  readonly isExact: boolean;
  /** The device's time is impossible, so that another one replaces it. */
  readonly isReplaced: boolean;
  /** Undefined if each time of the device may be right. */
  readonly suspect: string | undefined;
  readonly notes: readonly string[];
}

function readTimes({ times }: Sample, context: ReadContext): SampleTimes {
  const ownTimes = [...times.order, ...times.results];
  const firstResult = firstTime(times.results, context);
  const ordered = firstTime(times.order, context);
  const sentTime = readTime(times.sent, context.timeZone);
  const exact = firstTime(ownTimes.filter(hasClock), context);
  const invalid = [...ownTimes, times.sent].filter(
    (text) => text.trim() !== "" && readTime(text, context.timeZone) === null,
  );
  const notes = [...new Set(invalid.map((text) => `${JSON.stringify(text.trim())} is no time`))];
  if (firstResult === null && ordered === null) {
    notes.push(
      `the results carry no readable time: ${sentTime === null ? "that of receipt" : "the header's"} stands for it`,
    );
  }
  const candidates = [firstResult, ordered, sentTime].filter((time) => time !== null);
  const suspect = candidates.find((time) => isSuspect(time, context.receivedAt));
  if (suspect !== undefined) notes.push(`the device's clock is suspect: ${suspect}`);
  const isReplaced = candidates[0] !== undefined && isImpossible(candidates[0], context.receivedAt);
  if (isReplaced) notes.push("the device's time is impossible: another one stands for it");
  const possible = candidates.find((time) => !isImpossible(time, context.receivedAt));
  return {
    acquired_at: possible ?? new Date(context.receivedAt).toISOString(),
    isReplaced,
    suspect,
    identifying: exact ?? ordered ?? firstResult,
    isExact: exact !== null,
    notes,
  };
}

/** Index of the device's own number in `specimen`. */
const OWN_NUMBER = 1;

/** A number that no counter has: at least six characters, one of them a digit. */
const UNIQUE_NUMBER = /^(?=.*\d).{6,}$/;

/** Returns the key of a sample's Report, and its collection if the device sends one test per message. */
function identify(
  sample: Sample,
  times: SampleTimes,
  { modality, rows }: { readonly modality: Modality; readonly rows: readonly Measurement[] },
  { collectHours, collectSingles }: SampleProfile,
  { device }: ReadContext,
): Pick<Report, "dedupe_key" | "collect"> {
  const ordered = sample.specimen.find((part, index) => part !== "" && index !== OWN_NUMBER);
  const number = ordered ?? sample.specimen[OWN_NUMBER] ?? "";
  // If an analyzer sends one test per message, its own counter names a sample only together with a patient.
  const isNamed = number !== "" && (ordered !== undefined || sample.identifier !== null);
  const isSingle = sample.results.length === 1 && UNIQUE_NUMBER.test(number);
  const identity = {
    patient: sample.patient,
    specimen: sample.specimen,
    time: times.identifying,
    isExact: times.isExact,
    isCounted: collectHours !== undefined && collectSingles !== true && !isNamed,
    modality,
  };
  const ownKey = dedupeKey(device, identity, rows);
  if (collectHours === undefined || !(collectSingles === true ? isSingle : isNamed)) return { dedupe_key: ownKey };
  // A CREA of urine must not replace that of blood.
  const kind = sample.urine ? [modality, "urine"] : [modality];
  const parts = [sample.patient, number, ...kind];
  const { dedupe_key, collect } = collectionKey(device, parts, times.acquired_at, collectHours);
  if (collectSingles !== true) return { dedupe_key, collect };
  return {
    dedupe_key,
    collect: { ...collect, repeatedBy: times.isExact && !times.isReplaced ? "time" : "time and value", ownKey },
  };
}

/**
 * Groups the rows by modality. Rows of unknown codes join the modality of most other rows. A modality with withdrawals only,
 * and a sample without any row, get an empty group.
 */
function rowsByModality(
  { found, withdrawn }: SampleRows,
  { urine }: Sample,
  profile: SampleProfile,
): Map<Modality, Measurement[]> {
  const main = profile.modality ?? mostFrequent([...found, ...withdrawn]) ?? (urine ? "URINALYSIS" : "BIOCHEMISTRY");
  const byModality = new Map<Modality, Measurement[]>();
  for (const { modality, row } of found) {
    const own = byModality.get(modality ?? main);
    if (own === undefined) byModality.set(modality ?? main, [row]);
    else own.push(row);
  }
  for (const { modality } of withdrawn) if (!byModality.has(modality ?? main)) byModality.set(modality ?? main, []);
  if (byModality.size === 0) byModality.set(main, []);
  return byModality;
}

/** @returns the first of equally frequent modalities; null without any */
function mostFrequent(rows: readonly { readonly modality: Modality | null }[]): Modality | null {
  const counts = new Map<Modality, number>();
  for (const { modality } of rows) if (modality !== null) counts.set(modality, (counts.get(modality) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? null;
}

function withdrawnOf({ withdrawn }: SampleRows, modality: Modality): Pick<Report, "withdrawn"> {
  const own = withdrawn.filter((each) => (each.modality ?? modality) === modality).map(({ analyte }) => analyte);
  return own.length === 0 ? {} : { withdrawn: [...new Set(own)] };
}

/** Returns the results without a value of a modality; those outside the catalogue are in the first Report. */
function gapsOf({ notReported }: SampleRows, modality: Modality, isFirst: boolean): Pick<Report, "notReported"> {
  const own = notReported.filter((each) => (each.modality === null ? isFirst : each.modality === modality));
  return own.length === 0 ? {} : { notReported: own.map(({ gap }) => gap).slice(0, RESULTS_MAX) };
}

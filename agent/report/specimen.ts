import { findAnalyte, isUrineOnly } from "../../shared/clinical/analytes.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import type { Modality, PatientHint } from "../../shared/api/study.ts";
import { readUnit } from "../../shared/clinical/units.ts";
import { readRange, readValue } from "../../shared/clinical/value.ts";
import { collectionKey, dedupeKey, separateEqualKeys } from "./dedupe-key.ts";
import { describe, type DeviceResult, type ReadContext, type Reading, type Report } from "./report.ts";
import { hasClock, readTime } from "./device-time.ts";

// Second half of reading, shared by all protocols: turns samples into Reports with parsed values, units, times and
// identity. The first half (the protocols' read.ts) finds the sample's fields in a message.

/** One sample of one patient as the device described it. It becomes one study per modality. */
export interface Sample {
  readonly device_name: string;
  readonly identifier: string | null;
  readonly otherIdentifiers: readonly string[];
  readonly patient_hint: PatientHint;
  /** Patient and specimen numbers as sent: parts of a measurement's identity. */
  readonly patient: readonly string[];
  readonly specimen: readonly string[]; // the first is the orderer's number
  /**
   * Times as sent: of the results (completed before started), of the order (collected before ordered), of the message.
   */
  readonly times: { readonly results: readonly string[]; readonly order: readonly string[]; readonly sent: string };
  /** The device declares urine. */
  readonly urine: boolean;
  /** The device declares blood. Without it, a ketone meter's KET would make the glucose beside it urine. */
  readonly blood?: boolean;
  readonly results: readonly DeviceResult[];
  readonly notes: readonly string[];
  readonly comments: readonly string[];
}

/** Columns of a profile that apply to every sample. */
export interface SampleProfile {
  readonly modality: Modality | null;
  readonly valueSuffix?: RegExp;
  readonly collectHours?: number;
  /** Reads 7,41 as 7.41. Default true. */
  readonly decimalComma?: boolean;
}

/** Reads samples into Reports. `notes`: further notes on the message. @returns null without any result */
export function readSamples(
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
  const reason = `no result could be read: ${leftOut.join("; ")}`;
  return { is: "quarantined", reason, ...(reports.length > 0 ? { withdrawals: reports } : {}) };
}

/** Trims a text for a patient hint. @returns null for an empty one */
export function hintText(value: string): string | null {
  return value.trim().slice(0, 200) || null;
}

/** Returns the result's name for a sentence. */
export function labelOf(names: readonly string[]): string {
  return names[0] ?? NO_CODE;
}

const NO_CODE = "(no code)";

/** Returns the first valid device time, in UTC. */
export function firstTime(texts: readonly string[], { timeZone }: ReadContext): string | null {
  return texts.map((text) => readTime(text, timeZone)).find((time) => time !== null) ?? null;
}

/** Returns one Report per modality. A sample without any readable row yields one Report that lists the omissions. */
function readSample(sample: Sample, profile: SampleProfile, context: ReadContext): Report[] {
  if (sample.results.length === 0) return [];
  const species = readSpecies(sample.patient_hint.species ?? "");
  const rows = readRows(sample, profile, species);
  const times = readTimes(sample, context);
  const common = {
    device_name: sample.device_name,
    identifier: sample.identifier,
    otherIdentifiers: sample.otherIdentifiers,
    patient_hint: sample.patient_hint,
    species,
    acquired_at: times.acquired_at,
    unmapped: rows.unmapped,
    leftOut: rows.leftOut,
    notes: [...sample.notes, ...rows.notes, ...times.notes],
    comments: sample.comments,
  };
  return [...rowsByModality(rows, profile)].map(([modality, own], index) => ({
    ...common,
    modality,
    ...identify(sample, times, { modality, rows: own }, profile, context),
    rows: own,
    ...withdrawnOf(rows, modality),
    // Only the first Report lists the omissions of the sample.
    ...(index === 0 ? {} : { unmapped: [], leftOut: [], notes: [], comments: [] }),
  }));
}

interface SampleTimes {
  readonly acquired_at: string;
  /** Time in the dedupe_key; null without a readable time. */
  readonly identifying: string | null;
  /** The identifying time has hour and minute. */
  readonly isExact: boolean;
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
  return {
    acquired_at: firstResult ?? ordered ?? sentTime ?? new Date(context.receivedAt).toISOString(),
    identifying: exact ?? ordered ?? firstResult,
    isExact: exact !== null,
    notes,
  };
}

/** Returns the key of a sample's Report, and its collection if the device sends one test per message. */
function identify(
  sample: Sample,
  times: SampleTimes,
  { modality, rows }: { readonly modality: Modality; readonly rows: readonly Measurement[] },
  { collectHours }: SampleProfile,
  { device }: ReadContext,
): Pick<Report, "dedupe_key" | "collect"> {
  const number = sample.specimen.find((part) => part !== "");
  // If an analyzer sends one test per message, its own counter names a sample only together with a patient.
  const isNamed = number !== undefined && (sample.specimen[0] === number || sample.identifier !== null);
  if (isNamed && collectHours !== undefined) {
    return collectionKey(device, [sample.patient, number, modality], times.acquired_at, collectHours);
  }
  const identity = {
    patient: sample.patient,
    specimen: sample.specimen,
    time: times.identifying,
    isExact: times.isExact,
    isCounted: collectHours !== undefined && !isNamed,
    modality,
  };
  return { dedupe_key: dedupeKey(device, identity, rows) };
}

/** Groups the rows by modality. A modality with withdrawals only, and a sample without any row, get an empty group. */
function rowsByModality({ found, withdrawn }: SampleRows, profile: SampleProfile): Map<Modality, Measurement[]> {
  const byModality = new Map<Modality, Measurement[]>();
  for (const { modality, row } of found) {
    const own = byModality.get(modality);
    if (own === undefined) byModality.set(modality, [row]);
    else own.push(row);
  }
  for (const { modality } of withdrawn) if (!byModality.has(modality)) byModality.set(modality, []);
  if (byModality.size === 0) byModality.set(profile.modality ?? "BIOCHEMISTRY", []);
  return byModality;
}

function withdrawnOf({ withdrawn }: SampleRows, modality: Modality): Pick<Report, "withdrawn"> {
  const own = withdrawn.filter((each) => each.modality === modality).map(({ analyte }) => analyte);
  return own.length === 0 ? {} : { withdrawn: [...new Set(own)] };
}

interface SampleRows {
  readonly found: { readonly modality: Modality; readonly row: Measurement }[];
  readonly withdrawn: { readonly modality: Modality; readonly analyte: string }[];
  readonly unmapped: string[];
  readonly leftOut: string[];
  readonly notes: string[];
}

/** An ALP of 1,234 U/L is thousands to one laboratory; a specific gravity of 1,025 is not. */
const THOUSANDS = /^\D*[1-9],\d{3}\D*$/;

function readRows(
  { urine: isUrine, blood, results }: Sample,
  profile: SampleProfile,
  species: string | null,
): SampleRows {
  const rows: SampleRows = { found: [], withdrawn: [], unmapped: [], leftOut: [], notes: [] };
  const urine = isUrine || (blood !== true && results.some(({ names }) => names.some((name) => isUrineOnly(name))));
  for (const { names, value: text, unit: sentUnit, range: sentRange, flag, notFinal, withdraws } of results) {
    const match = findAnalyte(names, { modality: profile.modality, urine });
    if (withdraws === true && match !== null) {
      const { modality, api_code } = match.analyte;
      rows.withdrawn.push({ modality: profile.modality ?? modality, analyte: api_code });
    }
    if (notFinal !== null) {
      rows.leftOut.push(`${labelOf(names)} has no final value: ${notFinal}`);
      continue;
    }
    if (match === null || (blood === true && match.analyte.specimen === "urine")) {
      rows.unmapped.push(names.join("^") || NO_CODE);
      continue;
    }
    const { analyte, note } = match;
    if (note !== null) rows.notes.push(note);
    const value = readValue(text, {
      decimalComma: profile.decimalComma ?? true,
      ...(profile.valueSuffix === undefined ? {} : { suffix: profile.valueSuffix }),
    });
    if (value.is === "none") {
      rows.leftOut.push(`${analyte.api_code} has no value: ${value.reason}`);
      continue;
    }
    if (analyte.decimals < 3 && THOUSANDS.test(text)) {
      rows.leftOut.push(`${analyte.api_code} has no value: "${text}" may be thousands`);
      continue;
    }
    const ordinal = value.is === "ordinal";
    if (ordinal !== (analyte.value_type === "ordinal")) {
      rows.leftOut.push(
        `${analyte.api_code} has no value: "${text}", expected ${ordinal ? "a number" : "a pad's grade"}`,
      );
      continue;
    }
    const number = ordinal ? value.rank : value.value;
    const unit = ordinal ? { unit: null, warning: null } : readUnit(analyte, sentUnit, number);
    if (unit.warning !== null) rows.notes.push(unit.warning);
    const range = readRange(sentRange);
    const row: Measurement = {
      code: analyte.code,
      value: number,
      comparator: ordinal ? null : value.comparator,
      ordinal,
      text,
      unit: ordinal ? null : (unit.unit ?? (sentUnit.slice(0, 32) || null)),
      device_range: range === null ? null : { ...range, species },
      device_flag: flag || null,
    };
    rows.found.push({ modality: profile.modality ?? analyte.modality, row });
  }
  return rows;
}

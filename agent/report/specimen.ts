import { createHash } from "node:crypto";
import { findAnalyte, isUrineOnly } from "../../shared/clinical/analytes.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import type { Modality, PatientHint } from "../../shared/api/study.ts";
import { readUnit } from "../../shared/clinical/units.ts";
import { readRange, readValue } from "../../shared/clinical/value.ts";
import { type Collection, type DeviceResult, describe, type ReadContext, type Reading, type Report } from "./report.ts";
import { hasClock, readTime } from "./device-time.ts";

// The second half of stage 3, the same for every protocol: what a message says of samples to Reports, with values,
// units, times and identity understood. The first half (read-astm.ts, read-text.ts) knows where a protocol says it.

/** One sample of one animal as a device described it: what becomes one study. */
export interface Sample {
  readonly device_name: string;
  readonly identifier: string | null;
  readonly otherIdentifiers: readonly string[];
  readonly patient_hint: PatientHint;
  /** As sent, what names the patient and the sample to the device: parts of the identity of a measurement. */
  readonly patient: readonly string[];
  readonly specimen: readonly string[]; // the first is its number with whoever ordered it
  /** As sent: of the results (completed before started), of the order (collected before ordered), of the message. */
  readonly times: { readonly results: readonly string[]; readonly order: readonly string[]; readonly sent: string };
  /** The device says that the specimen is urine. */
  readonly urine: boolean;
  /** It says that it is blood: a ketone meter's KET makes no urine of the glucose beside it. */
  readonly blood?: boolean;
  readonly results: readonly DeviceResult[];
  readonly notes: readonly string[];
  readonly comments: readonly string[];
}

/** What a profile says of every sample. */
export interface SampleProfile {
  readonly modality: Modality | null;
  readonly valueSuffix?: RegExp;
  readonly collectHours?: number;
  /** 7,41 is 7.41, as it is where nothing is said. */
  readonly decimalComma?: boolean;
}

/** The samples' Reports, or why there are none. `notes`: what the message says besides. */
export function readSamples(
  samples: readonly Sample[],
  notes: readonly string[],
  profile: SampleProfile,
  context: ReadContext,
): Reading | null {
  const readings = samples.flatMap((sample) => readSample(sample, profile, context));
  const reports = distinct(readings.filter(({ rows, withdrawn }) => rows.length > 0 || withdrawn !== undefined));
  const leftOut = readings.filter((report) => report.rows.length === 0).flatMap((report) => describe(report));
  if (reports.some((report) => report.rows.length > 0)) {
    return { is: "reports", reports, notes: [...notes, ...leftOut] };
  }
  if (readings.length === 0) return null;
  const reason = `no result could be read: ${leftOut.join("; ")}`;
  return { is: "quarantined", reason, ...(reports.length > 0 ? { withdrawals: reports } : {}) };
}

/** A field's text for a patient hint, null where it is empty. */
export function hintText(value: string): string | null {
  return value.trim().slice(0, 200) || null;
}

/** What a result is called in a sentence. */
export function labelOf(names: readonly string[]): string {
  return names[0] ?? NO_CODE;
}

const NO_CODE = "(no code)";

/** The first of these device times that is one, in UTC. */
export function firstTime(texts: readonly string[], { timeZone }: ReadContext): string | null {
  return texts.map((text) => readTime(text, timeZone)).find((time) => time !== null) ?? null;
}

/** One Report a modality; without any readable row still one, which says what was left out. */
function readSample(sample: Sample, profile: SampleProfile, context: ReadContext): Report[] {
  const { results, times, patient_hint } = sample;
  if (results.length === 0) return [];
  const species = readSpecies(patient_hint.species ?? "");
  const rows = readRows(sample, profile, species);
  const ownTimes = [...times.order, ...times.results];
  const firstResult = firstTime(times.results, context);
  const ordered = firstTime(times.order, context);
  const sentTime = readTime(times.sent, context.timeZone);
  const acquired_at = firstResult ?? ordered ?? sentTime ?? new Date(context.receivedAt).toISOString();
  const noTimes = [...ownTimes, times.sent].filter(
    (text) => text.trim() !== "" && readTime(text, context.timeZone) === null,
  );
  const notes = [
    ...sample.notes,
    ...rows.notes,
    ...new Set(noTimes.map((text) => `${JSON.stringify(text.trim())} is no time`)),
  ];
  if (firstResult === null && ordered === null) {
    notes.push(
      `the results carry no readable time: ${sentTime === null ? "that of receipt" : "the header's"} stands for it`,
    );
  }
  const exact = firstTime(ownTimes.filter(hasClock), context);
  const number = sample.specimen.find((part) => part !== "");
  // Of an analyzer that sends one test a message: what it counts itself names a sample only together with its animal.
  const isNamed = number !== undefined && (sample.specimen[0] === number || sample.identifier !== null);
  const identity = {
    patient: sample.patient,
    specimen: sample.specimen,
    time: exact ?? ordered ?? firstResult,
    isExact: exact !== null,
    isCounted: profile.collectHours !== undefined && !isNamed,
  };
  const common = {
    device_name: sample.device_name,
    identifier: sample.identifier,
    otherIdentifiers: sample.otherIdentifiers,
    patient_hint,
    species,
    acquired_at,
    unmapped: rows.unmapped,
    leftOut: rows.leftOut,
    notes,
    comments: sample.comments,
  };
  const hours = isNamed ? (profile.collectHours ?? null) : null;
  const byModality = new Map<Modality, Measurement[]>();
  for (const { modality, row } of rows.found) {
    const own = byModality.get(modality);
    if (own === undefined) byModality.set(modality, [row]);
    else own.push(row);
  }
  for (const { modality } of rows.withdrawn) if (!byModality.has(modality)) byModality.set(modality, []);
  if (byModality.size === 0) byModality.set(profile.modality ?? "BIOCHEMISTRY", []);
  return [...byModality].map(([modality, own], index) => ({
    ...common,
    modality,
    ...(hours === null
      ? { dedupe_key: dedupeKey(context.device, { ...identity, modality }, own) }
      : collected(context.device, [sample.patient, number, modality], acquired_at, hours)),
    rows: own,
    ...withdrawnOf(rows, modality),
    // What was left out of the sample is said once.
    ...(index === 0 ? {} : { unmapped: [], leftOut: [], notes: [], comments: [] }),
  }));
}

function withdrawnOf({ withdrawn }: Rows, modality: Modality): Pick<Report, "withdrawn"> {
  const own = withdrawn.filter((each) => each.modality === modality).map(({ analyte }) => analyte);
  return own.length === 0 ? {} : { withdrawn: [...new Set(own)] };
}

interface Rows {
  readonly found: { readonly modality: Modality; readonly row: Measurement }[];
  readonly withdrawn: { readonly modality: Modality; readonly analyte: string }[];
  readonly unmapped: string[];
  readonly leftOut: string[];
  readonly notes: string[];
}

/** An ALP of 1,234 U/L is thousands to one laboratory; a specific gravity of 1,025 is not. */
const THOUSANDS = /^\D*[1-9],\d{3}\D*$/;

function readRows({ urine: isUrine, blood, results }: Sample, profile: SampleProfile, species: string | null): Rows {
  const rows: Rows = { found: [], withdrawn: [], unmapped: [], leftOut: [], notes: [] };
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

interface Identity {
  readonly patient: readonly string[];
  readonly specimen: readonly string[];
  readonly time: string | null;
  /** The time has its hour and minute: a date alone names no measurement. */
  readonly isExact: boolean;
  /** The specimen's number is the device's own, and another's tomorrow. */
  readonly isCounted: boolean;
  readonly modality: Modality;
}

/**
 * Device + patient as sent + specimen or order + time (house, section 6). A patient's number alone would make next year's
 * results a correction of this year's, so without specimen and time the results themselves are part of the key.
 */
function dedupeKey(device: string, identity: Identity, rows: readonly Measurement[]): string {
  const isNamed = !identity.isCounted && identity.specimen.some((part) => part !== "");
  const anonymous = !identity.isExact && !isNamed;
  const parts = [identity.patient, identity.specimen, identity.time, identity.modality, anonymous ? rows : null];
  return `${device}:${digest(parts).slice(0, 32)}`;
}

/** The time of one test is not that of the sample: it only tells a sample from one that had its number another day. */
function collected(
  device: string,
  sampleParts: readonly unknown[],
  acquired_at: string,
  hours: number,
): { dedupe_key: string; collect: Collection } {
  const prefix = `${device}:${digest(sampleParts).slice(0, 32)}@`;
  return { dedupe_key: prefix + acquired_at, collect: { prefix, withinMs: hours * 60 * 60_000 } };
}

/** Several animals without any number may come in one message and one second: their results keep them apart. */
function distinct(reports: readonly Report[]): Report[] {
  const seen = new Map<string, number>();
  const count = (key: string) => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times;
  };
  for (const { dedupe_key } of reports) count(dedupe_key);
  return reports.map((report) => {
    if (seen.get(report.dedupe_key) === 1) return report;
    // None of them keeps the bare key: one that is sent again alone must not pass for another's correction.
    const own = `${report.dedupe_key}:${digest(report.rows).slice(0, 8)}`;
    const nth = count(own);
    return { ...report, dedupe_key: nth === 1 ? own : `${own}:${nth}` };
  });
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

import {
  type Analyte,
  analyteByCode,
  findAnalyte,
  foldName,
  isUrineOnly,
  type NameContext,
} from "../../shared/clinical/analytes.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import { type Modality, type PatientHint, RESULTS_MAX } from "../../shared/api/study.ts";
import { readUnit } from "../../shared/clinical/units.ts";
import { readRange, readValue, type ReadValue } from "../../shared/clinical/value.ts";
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
  /** Numbers of the sample as sent. Empty ones, repeated ones and those behind the eighth are dropped. */
  readonly sampleIds?: readonly string[];
  readonly patient_hint: PatientHint;
  /** Patient and specimen numbers as sent: parts of a measurement's identity. */
  readonly patient: readonly string[];
  readonly specimen: readonly string[]; // the second is the device's own number, the others are the orderer's
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
  /** Only messages of one test are collected, and only by a number that no counter has: this table knows no model. */
  readonly collectSingles?: true;
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
    unmapped: rows.unmapped,
    leftOut: rows.leftOut,
    notes: [...sample.notes, ...rows.notes, ...times.notes],
    comments: sample.comments,
  };
  return [...rowsByModality(rows, sample, profile)].map(([modality, own], index) => ({
    ...common,
    modality,
    ...identify(sample, times, { modality, rows: own }, profile, context),
    rows: own,
    ...withdrawnOf(rows, modality),
    // Only the first Report lists the omissions of the sample.
    ...(index === 0 ? {} : { unmapped: [], leftOut: [], notes: [], comments: [] }),
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

/** Index of the device's own number among those of a specimen. */
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
  if (collectHours !== undefined && (collectSingles === true ? isSingle : isNamed)) {
    // A CREA of urine must not replace that of blood.
    const kind = sample.urine ? [modality, "urine"] : [modality];
    const { dedupe_key, collect } = collectionKey(
      device,
      [sample.patient, number, ...kind],
      times.acquired_at,
      collectHours,
    );
    if (collectSingles !== true) return { dedupe_key, collect };
    return { dedupe_key, collect: { ...collect, repeatedBy: times.isExact ? "time" : "time and value" } };
  }
  const identity = {
    patient: sample.patient,
    specimen: sample.specimen,
    time: times.identifying,
    isExact: times.isExact,
    isCounted: collectHours !== undefined && collectSingles !== true && !isNamed,
    modality,
  };
  return { dedupe_key: dedupeKey(device, identity, rows) };
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

interface SampleRows {
  /** `modality` is null for a code outside the catalogue. */
  readonly found: { readonly modality: Modality | null; readonly row: Measurement }[];
  readonly withdrawn: { readonly modality: Modality | null; readonly analyte: string }[];
  /** Codes that became rows without an analyte of the catalogue. */
  readonly unmapped: string[];
  readonly leftOut: string[];
  readonly notes: string[];
}

/** An ALP of 1,234 U/L is thousands to one laboratory; a specific gravity of 1,025 is not. */
const THOUSANDS = /^\D*[1-9],\d{3}\D*$/;

/** Max characters of a device's code and of its name of a test. */
const [CODE_MAX, LABEL_MAX] = [64, 200];

/** Reads every result into a row, or into a reason why it has none. */
function readRows(sample: Sample, profile: SampleProfile, species: string | null, context: ReadContext): SampleRows {
  const { urine: isUrine, blood, results } = sample;
  const rows: SampleRows = { found: [], withdrawn: [], unmapped: [], leftOut: [], notes: [] };
  const urine =
    isUrine || (blood !== true && results.some(({ names }) => names.some((name) => saysUrine(name, profile))));
  for (const result of results) {
    const value = readValue(result.value, {
      decimalComma: profile.decimalComma ?? true,
      ...(profile.valueSuffix === undefined ? {} : { suffix: profile.valueSuffix }),
    });
    // The unit beside a word or a grade does not decide the analyte: a strip prints `norm` with mg/dL.
    const unit = value.is === "number" ? result.unit : "";
    const declared = isUrine ? "urine" : blood === true ? "blood" : null;
    const match = analyteOf(result, { modality: profile.modality, urine, unit }, declared, context);
    const modality = match === null ? profile.modality : (profile.modality ?? match.analyte.modality);
    if (result.withdraws === true) {
      // A word sent before may be a row under the device's code.
      const codes = [deviceCode(result), ...(match === null ? [] : [match.analyte.api_code])];
      rows.withdrawn.push(...codes.map((analyte) => ({ modality, analyte })));
    }
    if (result.notFinal !== null) {
      rows.leftOut.push(`${labelOf(result.names)} has no final value: ${result.notFinal}`);
      continue;
    }
    const label = match?.analyte.api_code ?? labelOf(result.names);
    if (value.is === "none") {
      rows.leftOut.push(`${label} has no value: ${value.reason}`);
      continue;
    }
    if ((match?.analyte.decimals ?? 0) < 3 && THOUSANDS.test(result.value)) {
      rows.leftOut.push(`${label} has no value: "${result.value}" may be thousands`);
      continue;
    }
    const device = deviceFields(result, value.text, species);
    if (match === null || !fits(value, match.analyte)) {
      rows.unmapped.push(result.names.join("^") || NO_CODE);
      rows.found.push({ modality: profile.modality, row: rowOfDevice(value, device) });
      continue;
    }
    if (match.note !== null) rows.notes.push(match.note);
    const { row, warning } = rowOfAnalyte(match, value, result.unit, device);
    if (warning !== null) rows.notes.push(warning);
    rows.found.push({ modality, row });
  }
  const rest = rows.found.splice(RESULTS_MAX).length;
  if (rest > 0) rows.leftOut.push(`${rest} results behind the first ${RESULTS_MAX} stay in the message alone`);
  return rows;
}

/** Returns whether a name says that its sample is urine. BIL on a chemistry analyzer names no pad. */
function saysUrine(name: string, { modality }: SampleProfile): boolean {
  return isUrineOnly(name) && findAnalyte([name], { modality, urine: false }) !== null;
}

interface AnalyteMatch {
  readonly analyte: Analyte;
  readonly note: string | null;
  readonly source?: "clinic";
}

/**
 * Finds the analyte of a result: by the clinic's codes of the device, then by the catalogue. An analyte of another specimen than
 * the declared one is none, whatever its LOINC code.
 */
function analyteOf(
  result: DeviceResult,
  names: NameContext,
  declared: "urine" | "blood" | null,
  { codes }: ReadContext,
): AnalyteMatch | null {
  const mapped =
    codes === undefined ? undefined : [deviceCode(result), ...result.names].map((name) => codes.get(foldName(name)));
  const analyte = mapped?.find((code) => code !== undefined);
  const known = analyte === undefined ? undefined : analyteByCode(analyte);
  if (known !== undefined) return { analyte: known, note: null, source: "clinic" };
  const match = findAnalyte(result.names, names);
  if (match === null || declared === null) return match;
  return (match.analyte.specimen === "urine") === (declared === "urine") ? match : null;
}

type PrintedValue = Exclude<ReadValue, { readonly is: "none" }>;

/** Returns whether the value is of the analyte's kind. A pad may also print a word without an amount, such as Positive. */
function fits(value: PrintedValue, { value_type }: Analyte): boolean {
  switch (value_type) {
    case "numeric":
      return value.is === "number";
    case "ordinal":
      return value.is !== "number";
    case "word":
      return value.is !== "number";
  }
}

type DeviceFields = Pick<
  Measurement,
  "text" | "unit" | "device_range" | "device_flag" | "device_code" | "device_label" | "comment"
>;

/** Returns the fields that the device decides. `text`: the value as printed. */
function deviceFields(result: DeviceResult, text: string, species: string | null): DeviceFields {
  const range = readRange(result.range);
  return {
    text,
    unit: result.unit.trim().slice(0, 32) || null,
    device_range: range === null ? null : { ...range, species },
    device_flag: result.flag || null,
    device_code: deviceCode(result),
    device_label: (result.label ?? result.names[1] ?? "").slice(0, LABEL_MAX) || null,
    ...(result.doubt == null ? {} : { comment: result.doubt.slice(0, 200) }),
  };
}

function deviceCode({ code, names }: DeviceResult): string {
  return (code || names[0] || NO_CODE).slice(0, CODE_MAX);
}

function rowOfDevice(value: PrintedValue, device: DeviceFields): Measurement {
  return {
    code: device.device_code ?? NO_CODE,
    codeSource: "device",
    ...device,
    value: value.is === "number" ? value.value : null,
    comparator: value.is === "number" ? value.comparator : null,
    ordinal: false,
  };
}

function rowOfAnalyte(
  { analyte, source }: AnalyteMatch,
  value: PrintedValue,
  sentUnit: string,
  device: DeviceFields,
): { row: Measurement; warning: string | null } {
  const own = { code: analyte.code, ...(source === undefined ? {} : { codeSource: source }), ...device };
  if (value.is !== "number") {
    const rank = value.is === "ordinal" && analyte.value_type === "ordinal" ? value.rank : null;
    return { row: { ...own, value: rank, comparator: null, ordinal: rank !== null, unit: null }, warning: null };
  }
  const { unit, warning, doubt } = readUnit(analyte, sentUnit, value.value);
  return {
    row: {
      ...own,
      value: value.value,
      comparator: value.comparator,
      ordinal: false,
      unit: unit ?? device.unit,
      ...(doubt === undefined ? {} : { comment: [device.comment, doubt].filter(Boolean).join("; ").slice(0, 200) }),
    },
    warning,
  };
}

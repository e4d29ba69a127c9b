import { createHash } from "node:crypto";
import { findAnalyte, isUrineOnly } from "../shared/analytes.ts";
import { readSpecies } from "../shared/species.ts";
import type { Modality, PatientHint } from "../shared/study.ts";
import { readUnit } from "../shared/units.ts";
import { type AstmMessage, type AstmRecord, parseRecords } from "./astm/records.ts";
import type { AstmProfile, Profile } from "./devices/profile.ts";
import { describe, type ReadContext, type Reading, type Report, type ReportRow } from "./report.ts";
import { hasClock, readDate, readTime } from "./time.ts";
import { readRange, readValue } from "./value.ts";

/** Message and profile to Reports. Pure: the same message gives the same Reports at any later time. */
export function read(message: Uint8Array, profile: Profile, context: ReadContext): Reading {
  switch (profile.protocol) {
    case "astm":
      return readAstm(message, profile, context);
  }
}

/** H-12 (LIS02-A2 §6.12): only production may become a study. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = { T: "training", D: "demo or debug", Q: "quality control" };
/** L-3 (LIS02-A2 §13.3): the sender did not finish. */
const NOT_FINISHED: Readonly<Record<string, string>> = {
  T: "sender aborted",
  R: "receiver aborted",
  E: "system error",
};
/** R-9 (LIS02-A2 §9.9): there is no final value in this record. */
const NOT_FINAL: Readonly<Record<string, string>> = {
  I: "pending in the instrument",
  N: "awaits information",
  P: "preliminary",
  S: "partial",
  X: "cannot be done",
};

function readAstm(bytes: Uint8Array, profile: AstmProfile, context: ReadContext): Reading {
  const message = parseRecords(bytes);
  if ("problem" in message) return { is: "quarantined", reason: message.problem };
  const header = message.records[0]!;
  const sender = header.field(5);
  if (profile.sender !== undefined && !profile.sender.test(sender)) {
    return { is: "quarantined", reason: `the sender is "${sender}", not what profile ${profile.id} reads` };
  }
  const processing = NOT_PRODUCTION[header.field(12).trim().toUpperCase()];
  if (processing !== undefined)
    return { is: "not-for-patients", reason: `${processing} (H-12 is ${header.field(12)})` };
  const terminator =
    message.records
      .findLast((record) => record.type === "L")
      ?.field(3)
      .trim()
      .toUpperCase() ?? "";
  const failure = NOT_FINISHED[terminator];
  if (failure !== undefined) return { is: "quarantined", reason: `${failure} (L-3 is ${terminator})` };

  const { samples, notes } = collectSamples(message, profile, context);
  const readings = samples.flatMap((sample) => readSample(sample, header, profile, context));
  const reports = distinct(readings.filter((report) => report.rows.length > 0));
  const leftOut = readings.filter((report) => report.rows.length === 0).flatMap((report) => describe(report));
  if (reports.length > 0) return { is: "reports", reports, notes: [...notes, ...leftOut] };
  if (readings.length > 0) return { is: "quarantined", reason: `no result could be read: ${leftOut.join("; ")}` };
  const query = message.records.some((record) => record.type === "Q");
  const reason = query ? "host query" : notes.length > 0 ? notes.join("; ") : "no results (sign-on or status)";
  return { is: "not-for-patients", reason };
}

/** The orders of one sample of one animal, and their results: what becomes one study. */
interface Sample {
  readonly patient: AstmRecord | null;
  readonly order: AstmRecord | null;
  readonly results: AstmRecord[];
  readonly comments: string[];
}

/** Walks the records by their hierarchy (LIS02-A2 §5.6.7): O belongs to the P before it, R to the O, C to whatever is before it. */
function collectSamples(
  message: AstmMessage,
  profile: AstmProfile,
  context: ReadContext,
): { samples: Sample[]; notes: string[] } {
  const samples = new Map<string, Sample>();
  const notes: string[] = [];
  let patient: AstmRecord | null = null;
  let patients = 0;
  let current: Sample | null = null;
  let skipping = false;
  const sampleOf = (order: AstmRecord | null): Sample => {
    // Orders of one tube at one time are one study, though many analyzers send an O record (and some a P record) per test.
    const named = [3, 4, 5, 6].map((field) => sent(patient, field));
    const animal = named.some((field) => field !== "") ? named.join("|") : patients;
    const time = order === null ? "" : orderTime(order, context);
    const key = [animal, sent(order, 3), sent(order, 4), time, sent(order, 16)].join("|");
    const known = samples.get(key) ?? { patient, order, results: [], comments: [] };
    samples.set(key, known);
    return known;
  };
  for (const record of message.records) {
    switch (record.type) {
      case "P":
        patient = record;
        patients += 1;
        current = null;
        skipping = false;
        break;
      case "O":
        skipping = isControl(record, profile);
        if (skipping) notes.push(`order ${record.field(2) || "?"} is quality control: not for a patient`);
        else current = sampleOf(record);
        break;
      case "R":
        if (skipping) break;
        current ??= sampleOf(null);
        current.results.push(record);
        break;
      case "C":
        if (!skipping && current !== null) current.comments.push(...filled([record.components(4)], " "));
        break;
      default:
        break;
    }
  }
  return { samples: [...samples.values()], notes };
}

/** O-12 action code Q (LIS02-A2 §8.4.12), or an order the profile knows as control. */
function isControl(order: AstmRecord, profile: AstmProfile): boolean {
  return order.field(12).trim().toUpperCase() === "Q" || (profile.skipOrder?.test(order.field(5)) ?? false);
}

/** O-16, specimen descriptor (LIS02-A2 §8.4.16): nothing fixes its words. */
const URINE = /^(u|ur|urine?)$/i;

/** A field as sent; "" where nothing is in it but blanks and delimiters, or `""`, the standard's delete (LIS02-A2 §5.4.9). */
function sent(record: AstmRecord | null, field: number): string {
  const raw = record?.raw(field) ?? "";
  return /[\p{L}\p{N}]/u.test(raw) ? raw : "";
}

/** A text without the blanks around it, "" for the standard's delete. */
function given(text: string): string {
  const trimmed = text.trim();
  return trimmed === '""' ? "" : trimmed;
}

/** Each repeat's filled components, joined; repeats without any are left out. */
function filled(repeats: readonly (readonly string[])[], joint: string): string[] {
  return repeats.map((parts) => parts.map(given).filter(Boolean).join(joint)).filter(Boolean);
}

/** O-8 collected, O-7 ordered. */
function orderTimes(order: AstmRecord | null): string[] {
  return order === null ? [] : [order.field(8), order.field(7)];
}

function orderTime(order: AstmRecord | null, context: ReadContext): string | null {
  return firstTime(orderTimes(order), context);
}

function firstTime(texts: readonly string[], { timeZone }: ReadContext): string | null {
  return texts.map((text) => readTime(text, timeZone)).find((time) => time !== null) ?? null;
}

/** One Report a modality; without any readable row still one, which says what was left out. */
function readSample(sample: Sample, header: AstmRecord, profile: AstmProfile, context: ReadContext): Report[] {
  const { patient, order, results } = sample;
  if (results.length === 0) return [];
  const species = patient === null ? "" : (profile.species?.(patient) ?? "").trim();
  const rows = readRows(sample, profile, readSpecies(species));
  const resultTimes = results.flatMap((result) => [result.field(13), result.field(12)]); // completed, started
  const ownTimes = [...orderTimes(order), ...resultTimes];
  const firstResult = firstTime(resultTimes, context);
  const ordered = orderTime(order, context);
  const headerTime = readTime(header.field(14), context.timeZone);
  const acquired_at = firstResult ?? ordered ?? headerTime ?? new Date(context.receivedAt).toISOString();
  const noTimes = [...ownTimes, header.field(14)].filter(
    (text) => given(text) !== "" && readTime(text, context.timeZone) === null,
  );
  const notes = [...rows.notes, ...new Set(noTimes.map((text) => `${JSON.stringify(text.trim())} is no time`))];
  if (firstResult === null && ordered === null) {
    notes.push(
      `the results carry no readable time: ${headerTime === null ? "that of receipt" : "the header's"} stands for it`,
    );
  }
  const numbers = [3, 4, 5].map((field) => sent(patient, field));
  const exact = firstTime(ownTimes.filter(hasClock), context);
  const identity = {
    patient: numbers.some((number) => number !== "") ? numbers : [sent(patient, 6)],
    specimen: [sent(order, 3), sent(order, 4)],
    time: exact ?? ordered ?? firstResult,
    isExact: exact !== null,
  };
  const common = {
    device_name: profile.device_name ?? deviceName(header),
    ...identifiers(patient, order),
    patient_hint: patientHint(patient, species, profile),
    species: readSpecies(species),
    acquired_at,
    unmapped: rows.unmapped,
    leftOut: rows.leftOut,
    notes,
    comments: sample.comments,
  };
  const byModality = new Map<Modality, ReportRow[]>();
  for (const { modality, row } of rows.found) byModality.set(modality, [...(byModality.get(modality) ?? []), row]);
  if (byModality.size === 0) byModality.set(profile.modality ?? "BIOCHEMISTRY", []);
  return [...byModality].map(([modality, own], index) => ({
    ...common,
    modality,
    dedupe_key: dedupeKey(context.device, { ...identity, modality }, own),
    rows: own,
    // What was left out of the sample is said once.
    ...(index === 0 ? {} : { unmapped: [], leftOut: [], notes: [], comments: [] }),
  }));
}

interface Rows {
  readonly found: { readonly modality: Modality; readonly row: ReportRow }[];
  readonly unmapped: string[];
  readonly leftOut: string[];
  readonly notes: string[];
}

/** An ALP of 1,234 U/L is thousands to one laboratory; a specific gravity of 1,025 is not. */
const THOUSANDS = /^\D*[1-9],\d{3}\D*$/;

function readRows({ order, results }: Sample, profile: AstmProfile, species: string | null): Rows {
  const rows: Rows = { found: [], unmapped: [], leftOut: [], notes: [] };
  const named = results.map((result) => ({
    result,
    names: profile
      .code(result)
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  }));
  const urine =
    URINE.test(order?.component(16, 1).trim() ?? "") ||
    named.some(({ names }) => names.some((name) => isUrineOnly(name)));
  for (const { result, names } of named) {
    const label = names[0] ?? "(no code)";
    const status = result.field(9).trim().toUpperCase();
    if (NOT_FINAL[status] !== undefined) {
      rows.leftOut.push(`${label} has no final value: ${NOT_FINAL[status]} (R-9 is ${status})`);
      continue;
    }
    const match = findAnalyte(names, { modality: profile.modality, urine });
    if (match === null) {
      rows.unmapped.push(names.join("^") || "(no code)");
      continue;
    }
    const { analyte, note } = match;
    if (note !== null) rows.notes.push(note);
    // GeneXpert may leave the first component empty and put the number into the second. Two values are none.
    const text = filled(result.repeats(4), "^").join("^");
    const value = readValue(text, {
      decimalComma: true,
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
    const unit = ordinal ? { unit: null, warning: null } : readUnit(analyte, given(result.field(5)), number);
    if (unit.warning !== null) rows.notes.push(unit.warning);
    const range = readRange(result.field(6));
    const row: ReportRow = {
      code: analyte.code,
      value: number,
      comparator: ordinal ? null : value.comparator,
      ordinal,
      text,
      unit: ordinal ? null : (unit.unit ?? (given(result.field(5)).slice(0, 32) || null)),
      device_range: range === null ? null : { ...range, species },
      // Abnormal flags may repeat: `H\HH`.
      device_flag:
        filled(
          result.repeats(7).map(([first = ""]) => [first]),
          "",
        ).join(" ") || null,
    };
    rows.found.push({ modality: profile.modality ?? analyte.modality, row });
  }
  return rows;
}

/** H-5, sender name: the first component names the instrument, the others its software and serial number. */
function deviceName(header: AstmRecord): string {
  return header.component(5, 1).trim().slice(0, 200) || "ASTM analyzer";
}

/** P-3 practice, P-4 laboratory, P-5 third id: the first that is there is the one a person typed. */
function identifiers(patient: AstmRecord | null, order: AstmRecord | null) {
  const typed = patient === null ? [] : [3, 4, 5].map((number) => given(patient.component(number, 1))).filter(Boolean);
  const specimen = order === null ? [] : [...order.components(3), ...order.components(4)].map(given).filter(Boolean);
  return { identifier: typed[0] ?? null, otherIdentifiers: [...typed.slice(1), ...specimen] };
}

function hintText(value: string): string | null {
  return given(value).slice(0, 200) || null;
}

function patientHint(patient: AstmRecord | null, species: string, profile: AstmProfile): PatientHint {
  // P-6: two components are owner and animal, a single one is the animal (house, section 6).
  const [first = "", second = ""] = patient?.components(6).map(given) ?? [];
  const two = second !== "";
  const [weight = "", unit = ""] = patient?.components(18) ?? [];
  const kilograms = /^kg$/i.test(unit.trim()) && /^\d{1,4}(\.\d+)?$/.test(weight.trim()) ? Number(weight) : null;
  return {
    identifier: hintText(identifiers(patient, null).identifier ?? ""),
    name: hintText(two ? second : first),
    species: hintText(species),
    breed: null,
    sex: hintText(patient?.field(9) ?? ""),
    owner: hintText((patient === null ? "" : (profile.owner?.(patient) ?? "")) || (two ? first : "")),
    date_of_birth: patient === null ? null : readDate(patient.field(8)),
    weight_kg: kilograms,
  };
}

interface Identity {
  readonly patient: readonly string[];
  readonly specimen: readonly string[];
  readonly time: string | null;
  /** The time has its hour and minute: a date alone names no measurement. */
  readonly isExact: boolean;
  readonly modality: Modality;
}

/**
 * Device + patient as sent + specimen or order + time (house, section 6). A patient's number alone would make next year's
 * results a correction of this year's, so without specimen and time the results themselves are part of the key.
 */
function dedupeKey(device: string, identity: Identity, rows: readonly ReportRow[]): string {
  const anonymous = !identity.isExact && identity.specimen.every((part) => part === "");
  const parts = [identity.patient, identity.specimen, identity.time, identity.modality, anonymous ? rows : null];
  return `${device}:${digest(parts).slice(0, 32)}`;
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

/**
 * Whether a message that was cut short is wholly contained in a later one: the device began again and sent the same records.
 * Headers differ (they carry the time of sending); the last record of the cut one may be a part.
 */
export function completes(message: Uint8Array, incomplete: Uint8Array): boolean {
  const CR = 0x0d;
  const whole = message.subarray(message.indexOf(CR) + 1);
  const cut = incomplete.indexOf(CR);
  if (cut < 0) return true; // not even its header came whole
  const part = incomplete.subarray(cut + 1);
  return part.every((byte, index) => byte === whole[index]);
}

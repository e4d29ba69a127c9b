import { createHash } from "node:crypto";
import { CONTROL_RESULTS_MAX, type ControlResult, type PrintedTarget } from "../../shared/api/quality.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { readDate } from "./device-time.ts";
import type { ControlDraft, ReadContext } from "./report.ts";
import type { Sample } from "./sample.ts";
import type { FoundRow, SampleRows } from "./sample-rows.ts";

// Control material: the same rows as a patient's sample, but a record without any field of an animal.

/** Folds the number of a sample: `qc 1` is QC1. */
export function foldNumber(number: string): string {
  return number.replaceAll(/\s/g, "").toUpperCase();
}

/** A number that names control material. A patient's number typed by mistake stays in the message. */
const CONTROL_NUMBER = /(?<!\p{L})(?:[IEL]?QC|CTRL|CONTR)/iu;

/** Returns whether a number is a counter of the device, which names no material. */
export function isCounter(number: string): boolean {
  return /^\d{1,4}$/.test(number.trim());
}

/** Levels in the texts of makers: `LEVEL 1`, `QC2`, `CTRL-Normal`, `Control High`, `QC-L`, `NORMAL 0042`. */
const LEVELS = [
  /(?<!\p{L})level[\s_#-]*(\d{1,2}|[LMNH])(?![\p{L}\p{N}])/iu,
  /(?<!\p{L})(?:QC|CTRL|CONTROL[SE]?)[\s_#-]*(\d{1,2}|[LMNH]|low|normal|medium|mid|high)(?![\p{L}\p{N}])/iu,
  /^(low|normal|abnormal|medium|high)(?!\p{L})/iu,
];
/** The end of a material's name: `QP-L`. Also of an animal's number, so it counts in names alone. */
const LEVEL_OF_NAME = /[\s_-](\d|[LMNH]|low|normal|medium|high)$/iu;

const LETTERS: Readonly<Record<string, string>> = { LOW: "L", NORMAL: "N", MID: "M", MEDIUM: "M", HIGH: "H" };

function levelIn(text: string, patterns: readonly RegExp[]): string | null {
  const level = patterns.map((pattern) => pattern.exec(text.trim())?.[1]).find((found) => found !== undefined);
  const upper = level?.toUpperCase();
  return upper === undefined ? null : (LETTERS[upper] ?? upper);
}

/** The sample's measured time, and the part of it that identifies the measurement; null if another time replaces the device's. */
interface ControlTime {
  readonly acquired_at: string;
  readonly identifying: string | null;
}

/** Makes the run of a sample of control material. @returns null if no result of it could be read */
export function controlDraft(
  sample: Sample,
  rows: SampleRows,
  time: ControlTime,
  { device, controls }: Pick<ReadContext, "device" | "controls">,
): ControlDraft | null {
  const { control = {}, device_name } = sample;
  const found = rows.found.slice(0, CONTROL_RESULTS_MAX);
  if (found.length === 0) return null;
  const [material, lot] = [textOf(control.material, 100), textOf(control.lot, 64)];
  const ids = numbersOf(sample, controls);
  const level = textOf(control.level, 32) ?? levelOf(material, ids, found);
  const identity = [material, level, lot, ids, ...identityOf(found, time.identifying)];
  return {
    kind: "control",
    dedupe_key: `${device}:control:${digest(identity)}`,
    device_name,
    measured_at: time.acquired_at,
    ...{ material, level, lot },
    expires: expiryOf(control.expires),
    sample_ids: ids,
    results: found.map((row) => resultOf(row, textOf(control.verdict, 64))),
    comments: commentsOf(sample, rows),
  };
}

function namesMaterial(number: string): boolean {
  return CONTROL_NUMBER.test(number) || levelIn(number, LEVELS) !== null;
}

/** Lists the numbers that name the material: those of the sample but a counter, and a typed one unless it may be an animal's. */
function numbersOf(
  { identifier, otherIdentifiers, sampleIds = [], patient_hint: { name } }: Sample,
  controls: ReadonlySet<string> = new Set(),
): string[] {
  const isClinics = (number: string) => controls.has(foldNumber(number));
  const typed = identifier !== null && (isClinics(identifier) || namesMaterial(identifier)) ? [identifier] : [];
  const own = sampleIds.filter((number) => isClinics(number) || !isCounter(number));
  const others = [...otherIdentifiers, name ?? ""].filter((number) => !isCounter(number) && isClinics(number));
  const numbers = [...own, ...typed, ...others].map((number) => textOf(number, 64));
  return [...new Set(numbers.filter((number) => number !== null))].slice(0, 8);
}

function textOf(text: string | undefined, charsMax: number): string | null {
  return text?.trim().slice(0, charsMax).trim() || null;
}

/** Reads the level from the names of the material, of its sample, and of all of its tests. */
function levelOf(material: string | null, ids: readonly string[], found: readonly FoundRow[]): string | null {
  const ofNames = [
    ...(material === null ? [] : [levelIn(material, [...LEVELS, LEVEL_OF_NAME])]),
    ...ids.map((id) => levelIn(id, LEVELS)),
  ].find((level) => level !== null);
  if (ofNames !== undefined) return ofNames;
  const [first = null, ...others] = new Set(found.map(({ row }) => levelIn(row.device_code ?? row.code, LEVELS)));
  return others.length === 0 ? first : null;
}

/** Reads a day, or a month, whose last day counts. */
function expiryOf(text = ""): string | null {
  const [, year, month] = /^(\d{4})-?(\d\d)$/.exec(text.trim()) ?? [];
  if (year === undefined || month === undefined) return readDate(text);
  const isMonth = Number(month) >= 1 && Number(month) <= 12;
  return isMonth ? new Date(Date.UTC(Number(year), Number(month), 0)).toISOString().slice(0, 10) : null;
}

/**
 * Names the tests by the device's codes: a new mapping of the clinic must not make a resend another run. The values count too,
 * because a second control may run in the same minute. A value that the device corrects makes a second run, and a person excludes the
 * wrong one.
 */
function identityOf(found: readonly FoundRow[], identifying: string | null): unknown[] {
  return [identifying, found.map(({ row }) => row.device_code ?? row.code), found.map(({ row }) => row.text)];
}

function resultOf({ row, target }: FoundRow, verdict: string | null): ControlResult {
  const printed = target ?? rangeOf(row);
  const flag = textOf(row.device_flag ?? "", 64) ?? verdict;
  return {
    analyte: row.code,
    ...(row.codeSource === undefined ? {} : { code_source: row.codeSource }),
    value: row.ordinal ? null : row.value,
    ...(row.comparator === null ? {} : { comparator: row.comparator }),
    text: row.text.slice(0, 200),
    unit: row.unit,
    ...(printed === null ? {} : { target: printed }),
    ...(flag === null ? {} : { device_flag: flag }),
  };
}

function rangeOf({ device_range }: Measurement): PrintedTarget | null {
  const { low = null, high = null } = device_range ?? {};
  if (low === null && high === null) return null;
  return { ...(low === null ? {} : { low }), ...(high === null ? {} : { high }) };
}

/** Lists the device's comments, its doubts, and the results without a value, but none that names an animal or an owner. */
function commentsOf({ comments, settings = [], patient_hint: hint, identifier }: Sample, rows: SampleRows): string[] {
  const names = [hint.name, hint.owner, hint.identifier, identifier]
    .map((text) => text?.trim().toLowerCase() ?? "")
    .filter((text) => text.length >= 3 && !namesMaterial(text));
  const doubts = rows.found.flatMap(({ row }) => (row.comment == null ? [] : [`${row.code}: ${row.comment}`]));
  const all = [...comments, ...settings, ...rows.comments, ...doubts, ...rows.leftOut];
  const said = all.filter((text) => !names.some((name) => text.toLowerCase().includes(name)));
  return [...new Set(said.map((text) => text.trim().slice(0, 500)).filter(Boolean))].slice(0, 50);
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

import { type Static, Type } from "typebox";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { textProblems, problems, shown } from "../../../shared/schema/problems.ts";
import { ClosedObject, Nullable, TIMESTAMP_PATTERN } from "../../../shared/schema/schema.ts";
import { reasonOf } from "../../../shared/api/reason.ts";
import { Modality, type Result, RESULTS_MAX, type RowSnapshot } from "../../../shared/api/study.ts";
import { isRealInstant } from "../../../shared/schema/timestamp.ts";
import { findAnalyte } from "../../../shared/clinical/analytes/analytes.ts";
import type { FlagCode } from "../../../shared/clinical/flag.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { type Measurement, resultsOf } from "../../../shared/clinical/results.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { readUnit } from "../../../shared/clinical/analytes/units.ts";
import { MANUAL_DEVICE, type RowFault } from "../../dashboard/types/results/manual-study.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";

// Reads a study that a user typed. The server computes ranges and flags.

/** A study as a user types it. */
export const ManualStudy = ClosedObject({
  modality: Modality,
  acquired_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  device_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  results: Type.Array(
    ClosedObject({
      analyte: Type.String({ minLength: 1, maxLength: 64 }),
      /** A number, or printed text: `<0.2`, `7,1`, `2+`, `Positive`. */
      value: Type.Union([Type.Number(), Type.String()]),
      unit: Type.Optional(Nullable(Type.String({ maxLength: 32 }))),
    }),
    { maxItems: RESULTS_MAX },
  ),
});
export type ManualStudy = Static<typeof ManualStudy>;

const manualStudy = compileLater(ManualStudy);

export interface ManualEntry extends Pick<ManualStudy, "modality" | "acquired_at"> {
  device_name: string;
  measurements: Measurement[];
  /** Measurements in images. They have neither range nor flag. */
  ofImages: ImageMeasurement[];
}

interface ImageMeasurement {
  result: Result;
  row: RowSnapshot;
}

type Read<Value> = { measurement: Value } | RowFault;

/** Whether the results of a kind of study are measurements in images. */
export function isOfImages(modality: Modality): boolean {
  return modality === "RADIOLOGY" || modality === "ULTRASOUND" || modality === "ENDOSCOPY";
}

/** Reads a typed study. @returns all problems, so that the user can correct them together */
export function readManualStudy(typed: unknown, now: number): { entry: ManualEntry } | { problems: string[] } {
  const faults = [...problems(manualStudy, typed), ...textProblems(typed)];
  if (faults.length > 0) return { problems: faults };
  const { modality, acquired_at, device_name = MANUAL_DEVICE, results } = typed as ManualStudy;
  const time = timeFault(acquired_at, now);
  if (time !== null) {
    const expected = time === "future" ? "a time in the past" : "a time that exists";
    faults.push(`acquired_at is ${acquired_at}, expected ${expected}`);
  }
  if (results.length === 0 && !isOfImages(modality)) faults.push("results has no items, expected at least 1");
  const entry: ManualEntry = { modality, acquired_at, device_name, measurements: [], ofImages: [] };
  for (const result of results) {
    const problem = addResult(entry, result);
    if (problem !== null) faults.push(problem.problem);
  }
  for (const code of repeatedCodes(entry)) faults.push(`${code} is listed more than once`);
  return faults.length > 0 ? { problems: faults } : { entry };
}

/** The page proposes the time of its browser, whose clock may be ahead of the server's. */
const CLOCKS_APART_MS = 5 * 60_000;

/** Returns the fault of the time of a sample; null if it has none. */
export function timeFault(acquired_at: string, now: number): "no time" | "future" | null {
  if (!isRealInstant(acquired_at)) return "no time";
  return Date.parse(acquired_at) > now + CLOCKS_APART_MS ? "future" : null;
}

/** Reads one typed result into the entry. @returns its fault; null if it has none */
export function addResult(entry: ManualEntry, result: ManualStudy["results"][number]): RowFault | null {
  if (isOfImages(entry.modality)) {
    const read = readImageMeasurement(result);
    if ("problem" in read) return read;
    entry.ofImages.push(read.measurement);
  } else {
    const read = readMeasurement(result, entry.modality);
    if ("problem" in read) return read;
    entry.measurements.push(read.measurement);
  }
  return null;
}

/** @returns the codes that an entry has more than once */
function repeatedCodes({ measurements, ofImages }: ManualEntry): Set<string> {
  const codes = [...measurements.map(({ code }) => code), ...ofImages.map(({ row }) => row.code)];
  return new Set(codes.filter((each, index) => codes.indexOf(each) < index));
}

/** Returns the results of a typed study with ranges and flags for its patient. */
export function resultsOfEntry(
  { acquired_at, device_name, measurements, ofImages }: ManualEntry,
  patient: Parameters<typeof signalmentAt>[0],
  ranges: ClinicRanges | null,
): ReturnType<typeof resultsOf> {
  const signalment = signalmentAt(patient, acquired_at);
  const { results, snapshot } = resultsOf(measurements, { signalment, instrument: device_name, acquired_at, ranges });
  return {
    results: [...results, ...ofImages.map(({ result }) => result)],
    snapshot: { ...snapshot, rows: [...snapshot.rows, ...ofImages.map(({ row }) => row)] },
  };
}

/** Reads one typed result of a lab study. */
function readMeasurement(
  { analyte: name, value, unit: sentUnit }: ManualStudy["results"][number],
  modality: Modality,
): Read<Measurement> {
  const found = findAnalyte([name], { modality, urine: modality === "URINALYSIS", unit: sentUnit ?? "" });
  if (found === null) {
    return fault("analyte", "unknown analyte", `analyte is ${shown(name)}, expected an analyte of ${modality}`);
  }
  const { analyte } = found;
  if (analyte.modality !== modality) {
    const problem = `analyte is ${shown(name)}, which is of ${analyte.modality}, expected an analyte of ${modality}`;
    return fault("analyte", "unknown analyte", problem);
  }
  const text = String(value);
  const read = readValue(text, { decimalComma: true });
  if (read.is === "none") return fault("value", "unreadable", `${name} has no value: ${read.reason}`);
  const own = { code: analyte.code, text, device_range: null, device_flag: null };
  if (analyte.value_type === "word") {
    if (read.is === "number") {
      return fault("value", "not a word", `${name} is ${shown(text)}, expected a word such as Positive`);
    }
    if (sentUnit) {
      return fault("unit", "unit of a word", `unit of ${name} is ${shown(sentUnit)}, expected none for a word`);
    }
    return { measurement: { ...own, text: read.text, value: null, comparator: null, ordinal: false, unit: null } };
  }
  const ordinal = read.is === "ordinal";
  if (read.is === "word" || ordinal !== (analyte.value_type === "ordinal")) {
    const isNumeric = analyte.value_type === "numeric";
    const expected = isNumeric ? "a number" : "a pad's grade such as neg or 2+";
    const problem = `${name} is ${shown(text)}, expected ${expected}`;
    return fault("value", isNumeric ? "not a number" : "not a grade", problem);
  }
  const number = ordinal ? read.rank : read.value;
  const unit = readUnit(analyte, sentUnit ?? "", number);
  if (unit.warning !== null) return fault("unit", sentUnit ? "unit unknown" : "unit missing", unit.warning);
  if (unit.doubt !== undefined) return fault("value", "impossible", unit.doubt);
  const comparator = ordinal ? null : read.comparator;
  return { measurement: { ...own, value: number, comparator, ordinal, unit: unit.unit } };
}

/** Reads a measurement in images. Its name is its code, because the catalogue has none of them. */
function readImageMeasurement({ analyte, value, unit }: ManualStudy["results"][number]): Read<ImageMeasurement> {
  const name = analyte.trim();
  if (name === "") return fault("analyte", "name missing", "a measurement has no name");
  const text = String(value).trim();
  const read = readValue(text, { decimalComma: true });
  if (read.is !== "number" || read.comparator !== null) {
    return fault("value", "not a number", `${name} is ${shown(text)}, expected a number`);
  }
  const result = { analyte: name, value: read.value, unit: unit?.trim() || null, reference_range: null, flag: null };
  const row = {
    ...{ analyte: name, code: name, interval_id: null, text, meaning: name },
    reason: reasonOf("INTERVAL.NOT_FOR_IMAGES" satisfies FlagCode),
    ...{ device_range: null, device_species: null, device_flag: null },
  };
  return { measurement: { result, row } };
}

function fault(field: RowFault["field"], kind: RowFault["kind"], problem: string): RowFault {
  return { field, kind, problem };
}

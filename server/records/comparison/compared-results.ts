import type { Patient } from "../../../shared/api/patient.ts";
import type { Result, RowSnapshot, Study } from "../../../shared/api/study.ts";
import type { Analyte } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import {
  type ComparedResult,
  compareResults,
  type Instrument,
  isSameDevice,
  type ResultChange,
} from "../../../shared/clinical/compare/compare.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { isFailure } from "../../../shared/clinical/control/study-quality.ts";
import { substanceOf } from "../../../shared/clinical/compare/not-comparable.ts";
import { analyteOf, shownIn } from "../../../shared/clinical/units/shown-result.ts";
import type { ShownValue } from "../../../shared/clinical/units/shown-value.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { type RangesOf, rowFor } from "../studies/stored-results.ts";
import { toStudy } from "../studies/study-content.ts";
import { type OptionalStudyColumns, parseStored, type StudyColumns } from "../../database/schema.ts";

// The stored results of one animal as they compare with each other.

export type Animal = Pick<Patient, "species" | "breed" | "sex" | "date_of_birth">;

/** A result with the study that has it. */
export interface PlacedResult {
  readonly study: Study;
  readonly device: Instrument;
  readonly result: Result;
  readonly row: RowSnapshot | undefined;
  /** The clinic's intervals by which it was flagged. */
  readonly ranges: ClinicRanges | undefined;
  /** Undefined for a code outside the catalogue. */
  readonly analyte: Analyte | undefined;
  /** The unit in which the reader sees it; null for the unit that was sent. */
  readonly unit: string | null;
  /** Equal for all results of one substance. */
  readonly subject: string;
  /** Whether a control of the device failed before or after the measurement. The value stays, and compares as any other. */
  readonly isControlFailed: boolean;
  /** In that unit. Null for words, the rank of a urine pad, and a code outside the catalogue. */
  readonly compared: ComparedResult | null;
}

/** A study with its results as they compare. */
export interface PlacedStudy {
  readonly study: Study;
  readonly device: Instrument;
  readonly results: readonly PlacedResult[];
}

export type StoredResults = Parameters<typeof toStudy>[0] & {
  clinic_id: number | null;
  source: StudyColumns["source"];
  snapshot: StudyColumns["snapshot"];
  quality: OptionalStudyColumns["quality"];
};

/** Returns the unit in which a reader sees an analyte; null for the unit that was sent. */
export type UnitOf = (analyte: Analyte, sent: string | null) => string | null;

export interface Reader {
  readonly animal: Animal;
  readonly unitOf: UnitOf;
  /** Returns the clinic's intervals by which a study was flagged. */
  readonly rangesOf: RangesOf;
}

export function placedStudy(stored: StoredResults, { animal, unitOf, rangesOf }: Reader): PlacedStudy {
  const study = toStudy(stored);
  const ranges = rangesOf(stored);
  const id = deviceIdOf(stored);
  // Ids of devices are unique within a clinic.
  const device = { name: study.device_name, id: id === null ? null : `${stored.clinic_id} ${id}` };
  const rows = parseStored(stored.snapshot)?.rows ?? [];
  const quality = parseStored(stored.quality);
  const failed = new Set(quality?.marks.filter(isFailure).map(({ analyte }) => analyte));
  const { ageDays } = signalmentAt(animal, study.acquired_at);
  const results = study.results.map((result, index) => {
    const row = rowFor(result, rows[index]);
    const analyte = analyteOf({ modality: study.modality, result, row });
    // A value with a range that is not an interval stays as sent; see shownValue().
    const { low, high } = boundsOf(result.reference_range);
    const isOdd = result.reference_range !== null && low === null && high === null;
    const unit = analyte === undefined ? null : isOdd ? result.unit : unitOf(analyte, result.unit);
    const compared = comparedOf({ result, row, analyte, device, unit, ageDays });
    const subject = subjectText(study, result, analyte);
    const isControlFailed = failed.has(result.analyte);
    return { study, device, result, row, ranges, analyte, unit, isControlFailed, compared, subject };
  });
  return { study, device, results };
}

/** The clinic's id of the device that pushed a study; null for an imported or an entered one. */
export function deviceIdOf({ source }: Pick<StoredResults, "source">): string | null {
  return parseStored(source)?.device_id ?? null;
}

function comparedOf({
  result: { value, value_text, unit: sent, comparator, comment },
  row,
  analyte,
  device,
  unit,
  ageDays,
}: Omit<PlacedResult, "study" | "ranges" | "isControlFailed" | "compared" | "subject"> & {
  ageDays: number | null;
}): ComparedResult | null {
  if (value === null || value_text !== undefined || analyte === undefined) return null;
  const converted = unit === null || sent === null ? null : convert(analyte, value, sent, unit);
  return {
    analyte: analyte.code,
    ...(converted === null || unit === sent ? { value, unit: sent } : { value: converted, unit }),
    comparator: comparator ?? null,
    device,
    interval: row?.interval_id ?? null,
    ageDays,
    doubt: comment !== undefined,
  };
}

/** Shows a result in the reader's unit, or in another one. */
export function shownPlaced({ study, result, row, ranges, analyte, unit }: PlacedResult, other = unit): ShownValue {
  return shownIn({ modality: study.modality, result, row, ranges }, analyte, other);
}

/** Groups results of one substance; each group keeps the order. */
export function bySubject(results: readonly PlacedResult[]): Map<string, PlacedResult[]> {
  return Map.groupBy(results, ({ subject }) => subject);
}

/** Whether two results belong in one history. A device's own code means the same on that device alone. */
export function isSameSubject(one: PlacedResult, other: PlacedResult): boolean {
  if (one.subject !== other.subject) return false;
  return one.result.code_source !== "device" || isSameDevice(one.device, other.device);
}

function subjectText(study: Study, { analyte: code, code_source }: Result, analyte: Analyte | undefined): string {
  const name = analyte === undefined ? code : substanceOf(analyte.code);
  return JSON.stringify([study.modality, code_source === "device", name]);
}

/** Returns null if one of the results is not a number of the catalogue. */
export function changeBetween(before: PlacedResult, now: PlacedResult, animal: Animal): ResultChange | null {
  if (before.compared === null || now.compared === null) return null;
  return compareResults(before.compared, now.compared, animal.species);
}

/** A difference has no digits that the printed values lack. */
export function asPrinted<Difference extends { readonly absolute: number } | { readonly code: string }>(
  difference: Difference,
  values: readonly string[],
): Difference {
  if (!("absolute" in difference)) return difference;
  const decimals = Math.max(...values.map((value) => value.split(".")[1]?.length ?? 0));
  return { ...difference, absolute: Number(difference.absolute.toFixed(decimals)) };
}

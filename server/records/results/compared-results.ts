import type { Result, RowSnapshot, Snapshot, Study, StudySource } from "../../../shared/api/study.ts";
import { type Analyte, analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import {
  type ComparedResult,
  compareResults,
  type Instrument,
  isSameDevice,
} from "../../../shared/clinical/compare/compare.ts";
import { substanceOf } from "../../../shared/clinical/compare/not-comparable.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import type { ResultChange } from "../../dashboard/types/results/results.ts";
import type { findPatient } from "../patients/patients.ts";
import { parseStored, toStudy } from "../studies/study-content.ts";

// The stored results of one animal as they compare with each other.

export type Animal = Pick<
  NonNullable<Awaited<ReturnType<typeof findPatient>>>["patient"],
  "species" | "breed" | "sex" | "date_of_birth"
>;

/** A result with the study that has it. */
export interface PlacedResult {
  readonly study: Study;
  readonly device: Instrument;
  readonly result: Result;
  readonly row: RowSnapshot | undefined;
  /** Undefined for a code outside the catalogue. */
  readonly analyte: Analyte | undefined;
  /** Null for words, the rank of a urine pad, and a code outside the catalogue. */
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
  source: string | null;
  snapshot: string | null;
};

export function placedStudy(stored: StoredResults, animal: Animal): PlacedStudy {
  const study = toStudy(stored);
  const id = deviceIdOf(stored);
  // Ids of devices are unique within a clinic.
  const device = { name: study.device_name, id: id === null ? null : `${stored.clinic_id} ${id}` };
  const rows = (parseStored(stored.snapshot) as Snapshot | null)?.rows ?? [];
  const { ageDays } = signalmentAt(animal, study.acquired_at);
  const results = study.results.map((result, index) => {
    const kept = rows[index];
    const row = kept?.analyte === result.analyte ? kept : undefined;
    const analyte = analyteOf(result, row, study);
    return { study, device, result, row, analyte, compared: comparedOf({ result, row, analyte, device, ageDays }) };
  });
  return { study, device, results };
}

/** The clinic's id of the device that pushed a study; null for an imported or an entered one. */
export function deviceIdOf({ source }: Pick<StoredResults, "source">): string | null {
  return (parseStored(source) as StudySource | null)?.device_id ?? null;
}

function analyteOf(
  { analyte: code, code_source }: Result,
  row: RowSnapshot | undefined,
  { modality }: Study,
): Analyte | undefined {
  if (code_source === "device") return undefined;
  return row === undefined ? byPrintedCode.get(`${modality} ${code}`) : analyteByCode(row.code);
}

function comparedOf({
  result: { value, value_text, unit, comparator, comment },
  row,
  analyte,
  device,
  ageDays,
}: Pick<PlacedResult, "result" | "row" | "analyte" | "device"> & { ageDays: number | null }): ComparedResult | null {
  if (value === null || value_text !== undefined || analyte === undefined) return null;
  return {
    analyte: analyte.code,
    ...{ value, unit, device, ageDays },
    comparator: comparator ?? null,
    interval: row?.interval_id ?? null,
    doubt: comment !== undefined,
  };
}

/** Groups results of one substance; each group keeps the order. */
export function bySubject(results: readonly PlacedResult[]): Map<string, PlacedResult[]> {
  const groups = new Map<string, PlacedResult[]>();
  for (const result of results) {
    const subject = subjectOf(result);
    const group = groups.get(subject);
    if (group === undefined) groups.set(subject, [result]);
    else group.push(result);
  }
  return groups;
}

/** Whether two results belong in one history. A device's own code means the same on that device alone. */
export function isSameSubject(one: PlacedResult, other: PlacedResult): boolean {
  if (subjectOf(one) !== subjectOf(other)) return false;
  return one.result.code_source !== "device" || isSameDevice(one.device, other.device);
}

/** A text that is equal for all results of one substance. */
export function subjectOf({ study, result: { analyte: code, code_source }, analyte }: PlacedResult): string {
  const name = analyte === undefined ? code : substanceOf(analyte.code);
  return JSON.stringify([study.modality, code_source === "device", name]);
}

/** Returns null if one of the results is no number of the catalogue. */
export function changeBetween(before: PlacedResult, now: PlacedResult, animal: Animal): ResultChange | null {
  if (before.compared === null || now.compared === null) return null;
  return compareResults(before.compared, now.compared, animal.species);
}

const byPrintedCode = new Map(
  analytes.toReversed().map((analyte) => [`${analyte.modality} ${analyte.api_code}`, analyte]),
);

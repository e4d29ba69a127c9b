import { analyteByCode } from "../shared/analytes.ts";
import { assess } from "../shared/flag.ts";
import type { Patient } from "../shared/patient.ts";
import { animalAt, catalogueVersion } from "../shared/reference.ts";
import type { PushedStudy, Result } from "../shared/study.ts";
import type { Report } from "./report.ts";

/** Stage 4: the study with the API's field names, but for fp and revision, which the spool gives it. */
export interface DraftStudy {
  readonly body: Omit<PushedStudy, "fp" | "revision">;
  /** What the flags were computed from, kept with the study and never recomputed (rule R7). */
  readonly snapshot: readonly RowSnapshot[];
  readonly catalogue: string;
}

export interface RowSnapshot {
  readonly analyte: string;
  readonly interval_id: string | null;
  /** Why there is no range or no flag. */
  readonly reason: string | null;
  readonly text: string;
  readonly device_range: string | null;
  readonly device_flag: string | null;
}

/**
 * Report and patient to a study with flags for the animal's species, age and sex at `acquired_at`.
 * Without a patient there is no species, so neither range nor flag: never an invented normal.
 */
export function study(
  report: Report,
  patient: Patient | null,
  source: PushedStudy["source"],
  model: string | null = null,
): DraftStudy {
  const { device_name, modality, acquired_at, dedupe_key, patient_hint } = report;
  const animal = patient === null ? null : animalAt(patient, acquired_at);
  const snapshot: RowSnapshot[] = [];
  const results = report.rows.map((row): Result => {
    const analyte = analyteByCode(row.code);
    if (analyte === undefined) throw new Error(`the Report has the analyte ${row.code}, which the catalogue has not`);
    const { device_range, device_flag, ordinal, text, unit, value, comparator } = row;
    const assessment = assess(
      { analyte, value, comparator, ordinal, unit, device_range, device_flag },
      animal,
      model ?? device_name,
    );
    snapshot.push({
      analyte: analyte.api_code,
      interval_id: assessment.interval_id,
      reason: assessment.reason,
      text,
      device_range: device_range?.text ?? null,
      device_flag,
    });
    return {
      analyte: analyte.api_code,
      value,
      unit,
      reference_range: assessment.reference_range,
      flag: assessment.flag,
      ...(comparator === null ? {} : { comparator }),
      ...(ordinal ? { value_text: text } : {}),
    };
  });
  const body = {
    patient_fp: patient?.fp ?? null,
    modality,
    device_name,
    status: "COMPLETED" as const,
    acquired_at,
    results,
    dedupe_key,
    source,
    patient_hint,
  };
  return { body, snapshot, catalogue: catalogueVersion };
}

/** What a correction changes and a resend does not: the measured values, not what was computed from them. */
export function content({ body }: DraftStudy): string {
  const values = body.results.map(({ analyte, value, unit, comparator, value_text }) => [
    analyte,
    value,
    unit,
    comparator ?? null,
    value_text ?? null,
  ]);
  return JSON.stringify([body.modality, values]);
}

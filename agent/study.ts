import { analyteByCode } from "../shared/analytes.ts";
import { assess } from "../shared/flag.ts";
import type { Patient } from "../shared/patient.ts";
import { animalAt, catalogueVersion } from "../shared/reference.ts";
import type { PushedStudy, Result } from "../shared/study.ts";
import { describe, type Report } from "./report.ts";
import type { RowSnapshot, StudyBody } from "./revision.ts";

/**
 * Stage 4: Report and patient to a study with flags for the animal's species, age and sex at `acquired_at`.
 * Without a patient there is no species, so neither range nor flag: never an invented normal.
 */
export function study(
  report: Report,
  patient: Patient | null,
  source: PushedStudy["source"],
  model: string | null = null,
): StudyBody {
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
  const notes = [...report.notes, ...describe(report)];
  return { body, snapshot: { catalogue: catalogueVersion, rows: snapshot, notes } };
}

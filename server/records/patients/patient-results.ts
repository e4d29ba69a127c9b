import type { Modality, Snapshot, Study } from "../../../shared/api/study.ts";
import { analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import type { PatientResults, PatientStudy } from "../../dashboard/types/patients.ts";

// Prepares the studies of a patient for the dashboard.

/** Adds the bounds of each interval, and the device's name of each own code. */
export function patientStudy(
  { fp, modality, device_name, acquired_at, results }: Omit<Study, "patient_fp" | "status">,
  snapshot: Snapshot | null,
): PatientStudy {
  const values = results.map((result, index) => {
    const row = result.code_source === "device" ? snapshot?.rows[index] : undefined;
    const device_label = row?.analyte === result.analyte ? row.device_label || null : null;
    return { ...result, ...boundsOf(result.reference_range), device_label };
  });
  return { fp, modality, device_name, acquired_at, values };
}

/** Names the analytes of the studies in the order of the catalogue. Another modality may print the same code for another analyte. */
export function analyteNames(studies: readonly PatientStudy[]): PatientResults["analytes"] {
  const printed = new Set(
    studies.flatMap(({ modality, values }) =>
      values
        .filter(({ code_source }) => code_source !== "device")
        .map(({ analyte }) => codeOf({ modality, code: analyte })),
    ),
  );
  return analytes
    .map(({ modality, api_code, name }) => ({ modality, code: api_code, name }))
    .filter((analyte) => printed.has(codeOf(analyte)));
}

function codeOf({ modality, code }: { modality: Modality; code: string }): string {
  return `${modality} ${code}`;
}

import type { Modality, Snapshot, Study } from "../../../shared/api/study.ts";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { factorOf } from "../../../shared/clinical/analytes/units.ts";
import { analyteOf, shownIn } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../shared/clinical/units/unit-systems.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import type { PatientResults, PatientStudy, ResultValue } from "../../dashboard/types/patients.ts";

// Prepares the studies of a patient for the dashboard.

/** Returns the unit of an analyte's row; null for the unit that was sent. */
type UnitOf = (analyte: Analyte, sent: string | null) => string | null;

/**
 * Returns one unit for each analyte, whatever the devices sent, so that its values are one row. Where `units` chooses none, the first
 * unit decides, which is that of the newest value.
 */
export function rowUnits(units: UnitChoice): UnitOf {
  const known = new Map<Analyte, string>();
  return (analyte, sent) => {
    const unit = known.get(analyte) ?? chosenUnit(units, analyte) ?? sent;
    if (unit !== null && factorOf(analyte, unit) !== null) known.set(analyte, unit);
    return unit;
  };
}

/** Shows each value in the unit of its row, with the bounds of its interval and the device's name of its own code. */
export function patientStudy(
  { fp, modality, device_name, acquired_at, results }: Omit<Study, "patient_fp" | "status">,
  snapshot: Snapshot | null,
  unitOf: UnitOf,
): PatientStudy {
  const values = results.map((result, index): ResultValue => {
    const kept = snapshot?.rows[index];
    const row = kept?.analyte === result.analyte ? kept : undefined;
    const of = { modality, result, row };
    const analyte = analyteOf(of);
    const {
      value: text,
      number,
      ...shown
    } = shownIn(of, analyte, analyte === undefined ? null : unitOf(analyte, result.unit));
    const isAsSent = shown.unit === (result.unit === null ? null : unitText(result.unit) || null);
    return {
      ...result,
      ...shown,
      value: number,
      text,
      ...(isAsSent ? {} : { sent: sentValue(result) }),
      device_label: result.code_source === "device" ? row?.device_label || null : null,
    };
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

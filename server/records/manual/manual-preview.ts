import type { Patient } from "../../../shared/api/patient.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { sideOf } from "../../dashboard/types/results/result-value.ts";
import {
  MANUAL_DEVICE,
  type ManualPreview,
  type PreviewRow,
  type RowFault,
  type TypedRow,
  type TypedStudy,
} from "../../dashboard/types/results/manual-study.ts";
import { addResult, isOfImages, type ManualEntry, resultsOfEntry, timeFault } from "./manual-study.ts";

// Shows a study that a user still types: the range of each row, the flag of each value, and the study as the API will show it.

/** Facts for the ranges of a typed study. */
export interface PreviewFacts {
  readonly patient: Patient;
  readonly ranges: ClinicRanges | null;
  readonly now: number;
}

/** Values that find the range of a row whose value is not typed yet. A word has no range. */
const STAND_INS = { numeric: "1", ordinal: "neg", word: null } as const;

/** Computes what saving would store. A row without a value, or with a wrong one, gets its range. */
export function previewStudy(typed: TypedStudy, { patient, ranges, now }: PreviewFacts): ManualPreview {
  const { modality, acquired_at, device_name = MANUAL_DEVICE } = typed;
  const time = timeFault(acquired_at, now);
  // Until the time is right, the ranges of today apply.
  const sampled = time === "no time" ? new Date(now).toISOString() : acquired_at;
  const entry: ManualEntry = { modality, acquired_at: sampled, device_name, measurements: [], ofImages: [] };
  const read = typed.results.map((row) => addRow(entry, row));
  const { results, snapshot } = resultsOfEntry(entry, patient, ranges);

  const shown: typeof results = [];
  let next = 0;
  const rows = typed.results.map((row, index): PreviewRow => {
    const { fault, hasResult } = read[index]!;
    if (!hasResult) return { ...NOTHING, fault };
    const result = results[next]!;
    const { interval_id } = snapshot.rows[next]!;
    next += 1;
    const isTyped = fault === null && !isBlank(row);
    if (isTyped) shown.push(result);
    const bounds = boundsOf(result.reference_range);
    return {
      reference_range: result.reference_range,
      flag: isTyped ? result.flag : null,
      ...(isTyped && result.abnormal === true ? { abnormal: true as const } : {}),
      value: isTyped ? result.value : null,
      number: isTyped && (result.value_text ?? result.comparator) === undefined ? result.value : null,
      ...bounds,
      side: isTyped ? sideOf({ ...result, ...bounds }) : null,
      source: interval_id === null ? null : interval_id.startsWith("clinic:") ? "clinic" : "catalogue",
      fault,
    };
  });
  const study = { patient_fp: patient.fp, modality, device_name, status: "COMPLETED" as const, acquired_at };
  return { rows, time_fault: time, study: { ...study, results: shown } };
}

const NOTHING = {
  reference_range: null,
  flag: null,
  value: null,
  number: null,
  low: null,
  high: null,
  side: null,
  source: null,
};

/** Adds a row to the entry, with a placeholder for a missing or wrong value. */
function addRow(entry: ManualEntry, row: TypedRow): { fault: RowFault | null; hasResult: boolean } {
  const analyte = isOfImages(entry.modality) ? undefined : analyteByCode(row.analyte);
  const standIn = analyte === undefined ? null : STAND_INS[analyte.value_type];
  const addStandIn = () => standIn !== null && addResult(entry, { ...row, value: standIn }) === null;
  if (isBlank(row) && isOfImages(entry.modality) && row.analyte.trim() !== "") {
    return { fault: { field: "value", kind: "value missing", problem: "value is empty" }, hasResult: false };
  }
  if (isBlank(row)) return { fault: null, hasResult: addStandIn() };
  const codes = codesOf(entry);
  const fault = addResult(entry, row);
  if (fault !== null) return { fault, hasResult: fault.field === "value" && addStandIn() };
  const code = codesOf(entry).at(-1) ?? "";
  if (!codes.includes(code)) return { fault: null, hasResult: true };
  (isOfImages(entry.modality) ? entry.ofImages : entry.measurements).pop();
  const problem = `${code} is listed more than once`;
  return { fault: { field: "analyte", kind: "repeated", problem }, hasResult: false };
}

function codesOf({ measurements, ofImages }: ManualEntry): string[] {
  return [...measurements.map(({ code }) => code), ...ofImages.map(({ row }) => row.code)];
}

function isBlank({ value }: TypedRow): boolean {
  return value.trim() === "";
}

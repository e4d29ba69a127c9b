import type { Modality } from "../../../shared/api/study.ts";
import { analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { type Instrument, isSameDevice } from "../../../shared/clinical/compare/compare.ts";
import { substanceOf } from "../../../shared/clinical/compare/not-comparable.ts";
import type { AnalyteName, PatientResults, PatientStudy, ResultValue } from "../../dashboard/types/patients.ts";
import {
  type Animal,
  bySubject,
  changeBetween,
  deviceIdOf,
  isSameSubject,
  type PlacedResult,
  placedStudy,
  type StoredResults,
} from "../results/compared-results.ts";
import { curvePlaces, underOneName } from "./curves.ts";
import { sideBySide } from "./side-by-side.ts";

// Prepares the studies of a patient for the dashboard.

interface Asked {
  readonly clinicId: number;
  readonly animal: Animal;
  /** The code of the only substance; null for all results. */
  readonly analyte: string | null;
}

/** Takes the studies of one animal, the newest first. */
export function describeResults(
  stored: readonly StoredResults[],
  { clinicId, animal, analyte }: Asked,
): Omit<PatientResults, "patient_name" | "total" | "left_out"> {
  const placed = stored.map((study) => placedStudy(study, animal));
  const devices: Instrument[] = [];
  const heads = stored.map((study, index) => ({
    fp: study.fp,
    modality: study.modality as Modality,
    device_name: study.device_name,
    device: numberOf(placed[index]?.device ?? { name: study.device_name, id: null }, devices),
    // Another clinic's id of its device is not told.
    device_id: study.clinic_id === clinicId ? deviceIdOf(study) : null,
    acquired_at: placed[index]?.study.acquired_at ?? "",
  }));
  const results = placed.flatMap((study) => study.results);
  const chosen = analyte === null ? results : results.filter((result) => isOf(analyte, result));
  const described = new Map<PlacedResult, ResultValue>();
  for (const history of bySubject(chosen).values()) {
    for (const [result, value] of describeHistory(history, animal, analyte !== null)) described.set(result, value);
  }
  const studies = heads.map((head, index): PatientStudy => {
    const values = placed[index]?.results.flatMap((result) => described.get(result) ?? []);
    return { ...head, values: values ?? [] };
  });
  if (analyte !== null) {
    const withValues = studies.filter(({ values }) => values.length > 0);
    const histories = [...bySubject(results.filter(({ compared }) => compared !== null)).values()];
    const others = namesOf(histories.flatMap((history) => history[0] ?? []).filter((result) => !isOf(analyte, result)));
    return { studies: withValues, analytes: namesOf(chosen), others };
  }
  const pairs = heads.flatMap((head, index) => {
    const study = placed[index];
    return study === undefined ? [] : [{ placed: study, head }];
  });
  return { studies, analytes: namesOf(results), side_by_side: sideBySide(pairs) };
}

/** Another name of a substance is the same substance. A code outside the catalogue is itself alone. */
function isOf(code: string, { result, analyte }: PlacedResult): boolean {
  return result.analyte === code || (analyte !== undefined && substanceOf(analyte.code) === substanceOf(code));
}

function describeHistory(
  history: readonly PlacedResult[],
  animal: Animal,
  hasCurves: boolean,
): [PlacedResult, ResultValue][] {
  const curves = hasCurves ? curvePlaces(history, animal) : null;
  const newest = history.find(({ compared }) => compared !== null);
  return history.map((result, index) => {
    const before = history.find((each, at) => at > index && each.study !== result.study && isSameSubject(each, result));
    const value: ResultValue = {
      ...result.result,
      ...boundsOf(result.result.reference_range),
      device_label: result.result.code_source === "device" ? result.row?.device_label || null : null,
      change: before === undefined ? null : changeBetween(before, result, animal),
      ...(curves === null ? {} : { curve: curves.get(result) ?? null }),
    };
    return [result, curves === null || newest === undefined ? value : underOneName(value, result, newest)];
  });
}

/** Returns the place of a device among those that are known, and adds a new one. */
function numberOf(device: Instrument, known: Instrument[]): number {
  const found = known.findIndex((other) => isSameDevice(other, device));
  return found === -1 ? known.push(device) - 1 : found;
}

/** Names the analytes of the results in the order of the catalogue. Another modality may print the same code for another analyte. */
function namesOf(results: readonly PlacedResult[]): AnalyteName[] {
  const printed = new Set(
    results
      .filter(({ result }) => result.code_source !== "device")
      .map(({ study: { modality }, result }) => codeOf({ modality, code: result.analyte })),
  );
  return analytes
    .map(({ modality, api_code, name, name_tr }) => ({ modality, code: api_code, name, name_tr }))
    .filter((analyte) => printed.has(codeOf(analyte)));
}

function codeOf({ modality, code }: { modality: Modality; code: string }): string {
  return `${modality} ${code}`;
}

import type { Modality } from "../../../shared/api/study.ts";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { factorOf } from "../../../shared/clinical/analytes/units.ts";
import { type Instrument, isSameDevice, type ResultChange } from "../../../shared/clinical/compare/compare.ts";
import { substanceOf } from "../../../shared/clinical/compare/not-comparable.ts";
import type { ShownValue } from "../../../shared/clinical/units/shown-value.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../shared/clinical/units/unit-systems.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import type { AnalyteName, PatientResults, PatientStudy, ResultValue } from "../../dashboard/types/patients.ts";
import {
  type Animal,
  asPrinted,
  bySubject,
  changeBetween,
  deviceIdOf,
  isSameSubject,
  type PlacedResult,
  placedStudy,
  type Reader,
  shownPlaced,
  type StoredResults,
  type UnitOf,
} from "./compared-results.ts";
import { curvePlaces, shownUnderName } from "./curves.ts";
import { sideBySide } from "./side-by-side.ts";

// Prepares the studies of a patient for the dashboard.

interface Asked {
  readonly clinicId: number;
  readonly reader: Reader;
  /** The code of the only substance; null for all results. */
  readonly analyte: string | null;
}

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

/** Takes the studies of one animal, the newest first. */
export function describeResults(
  stored: readonly StoredResults[],
  { clinicId, reader, analyte }: Asked,
): Omit<PatientResults, "patient_name" | "total" | "left_out"> {
  const placed = stored.map((study) => placedStudy(study, reader));
  const devices: Instrument[] = [];
  const heads = stored.map((study, index) => ({
    fp: study.fp,
    modality: study.modality,
    device_name: study.device_name,
    device: numberOf(placed[index]?.device ?? { name: study.device_name, id: null }, devices),
    // Another clinic's id of its device is left out.
    device_id: study.clinic_id === clinicId ? deviceIdOf(study) : null,
    acquired_at: placed[index]?.study.acquired_at ?? "",
  }));
  const results = placed.flatMap((study) => study.results);
  const chosen = analyte === null ? results : results.filter((result) => isOf(analyte, result));
  const described = new Map<PlacedResult, ResultValue>();
  for (const history of bySubject(chosen).values()) {
    for (const [result, value] of describeHistory(history, reader, analyte !== null)) described.set(result, value);
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
  { animal }: Reader,
  hasCurves: boolean,
): [PlacedResult, ResultValue][] {
  const curves = hasCurves ? curvePlaces(history, animal) : null;
  const newest = history.find(({ compared }) => compared !== null);
  const renamedOf = (placed: PlacedResult) =>
    curves === null || newest === undefined ? null : shownUnderName(newest, placed);
  return history.map((placed, index) => {
    const before = earlierIn(history, index);
    const renamed = renamedOf(placed);
    const change =
      before === undefined ? null : printedChange(before, placed, { animal, shown: [renamedOf(before), renamed] });
    if (renamed === null || newest === undefined) {
      const curve = curves === null ? {} : { curve: curves.get(placed) ?? null };
      return [placed, { ...describe(placed, shownPlaced(placed)), change, ...curve }];
    }
    const place = curves?.get(placed);
    const curve = place === undefined ? null : { ...place, other_name: placed.result.analyte };
    const value = { ...describe(placed, renamed), analyte: newest.result.analyte, sent: sentValue(placed.result) };
    return [placed, { ...value, change, curve }];
  });
}

/** The next result of the same subject in another study. The newest come first. */
function earlierIn(history: readonly PlacedResult[], index: number): PlacedResult | undefined {
  const placed = history[index];
  for (let at = index + 1; placed !== undefined && at < history.length; at += 1) {
    const each = history[at];
    if (each !== undefined && each.study !== placed.study && isSameSubject(each, placed)) return each;
  }
  return undefined;
}

/** `shown`: the two values under another name of the substance, whose unit the change then has; null under their own. */
function printedChange(
  before: PlacedResult,
  now: PlacedResult,
  { animal, shown: [earlier, later] }: { animal: Animal; shown: readonly [ShownValue | null, ShownValue | null] },
): ResultChange | null {
  const change = changeBetween(before, now, animal);
  const values = [(earlier ?? shownPlaced(before)).value, (later ?? shownPlaced(now)).value] as const;
  if (change === null || later === null || "code" in change) return change && asPrinted(change, values);
  return asPrinted({ ...change, absolute: Number(values[1]) - Number(values[0]) }, values);
}

function describe({ result, row, isControlFailed }: PlacedResult, { value: text, number, ...shown }: ShownValue) {
  const isAsSent = shown.unit === (result.unit === null ? null : unitText(result.unit) || null);
  return {
    ...result,
    ...shown,
    value: number,
    text,
    ...(isAsSent ? {} : { sent: sentValue(result) }),
    device_label: result.code_source === "device" ? row?.device_label || null : null,
    ...(isControlFailed ? { control_failed: true as const } : {}),
  };
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

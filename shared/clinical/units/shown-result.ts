import type { Result, RowSnapshot } from "../../api/study.ts";
import { type Analyte, analyteByCode, analytes } from "../analytes/analytes.ts";
import { type ClinicRanges, clinicRangeById } from "../clinic-ranges.ts";
import { type Interval, publishedInterval } from "../reference.ts";
import { type ShownValue, shownValue } from "./shown-value.ts";
import type { UnitChoice } from "./unit-choice.ts";
import { chosenUnit } from "./unit-systems.ts";

// A result of a stored study in the clinic's units.

/** A result with what its study knows of it. */
export interface StudyResult {
  readonly modality: string;
  readonly result: Result;
  readonly row?: RowSnapshot | undefined;
  /** The clinic's own intervals, in the version of the study's snapshot. */
  readonly ranges?: ClinicRanges | undefined;
}

const byApiCode = new Map(analytes.map((analyte) => [`${analyte.modality} ${analyte.api_code}`, analyte]));

/** Returns the analyte of a printed code; undefined for one outside the catalogue. */
export function analyteOfCode(modality: string, apiCode: string): Analyte | undefined {
  return byApiCode.get(`${modality} ${apiCode}`);
}

/** Returns the analyte of a result. A device's own code has none. */
export function analyteOf({ modality, result, row }: StudyResult): Analyte | undefined {
  if (result.code_source === "device") return undefined;
  return row === undefined ? analyteOfCode(modality, result.analyte) : analyteByCode(row.code);
}

/** Shows a result in the unit that `units` chooses for its analyte. */
export function shownResult(of: StudyResult, units: UnitChoice): ShownValue {
  const analyte = analyteOf(of);
  return shownIn(of, analyte, analyte === undefined ? null : chosenUnit(units, analyte));
}

/** Shows a result in a unit of its analyte; null for the unit that was sent. */
export function shownIn(
  { result, row, ranges }: StudyResult,
  analyte: Analyte | undefined,
  unit: string | null,
): ShownValue {
  const isSame = unit === null || unit === result.unit;
  return shownValue(analyte, result, unit, isSame ? null : intervalOf(row?.interval_id ?? null, ranges));
}

function intervalOf(
  id: string | null,
  ranges: ClinicRanges | undefined,
): Pick<Interval, "low" | "high" | "unit" | "text"> | null {
  if (id === null) return null;
  const own = ranges && clinicRangeById(ranges, id);
  if (own === undefined) return publishedInterval(id);
  return { low: Number(own.low), high: Number(own.high), unit: own.unit, text: `${own.low}-${own.high}` };
}

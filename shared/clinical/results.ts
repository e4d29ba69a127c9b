import { type Analyte, analyteByCode, analytes } from "./analytes/analytes.ts";
import { type ClinicRanges, intervalsInForce } from "./clinic-ranges.ts";
import { type Assessment, assess, type DeviceRange } from "./flag.ts";
import { catalogueVersion } from "./reference.ts";
import { isAbnormalWord } from "./result-words.ts";
import { reasonOf } from "../api/reason.ts";
import type { CodeSource, Comparator, Result, RowSnapshot, Snapshot, Study } from "../api/study.ts";
import type { Signalment } from "./signalment.ts";
import { readRange } from "./analytes/value.ts";

// Turns measurements into the results of a study and their snapshot. The agent does so for each message, the server when a user
// places a study.

/** One measured value, before an interval is chosen. */
export interface Measurement {
  /** Code of the catalogue, or the device's own if `codeSource` is "device". The API may print another one. */
  readonly code: string;
  /** Absent for a code that the catalogue found. */
  readonly codeSource?: CodeSource;
  /** Code and name as the device sent them. Absent for a value that no device sent. */
  readonly device_code?: string;
  readonly device_label?: string | null;
  /** Null for a value in words. */
  readonly value: number | null;
  readonly comparator: Comparator | null;
  /** Whether the value is the rank of a urine pad. */
  readonly ordinal: boolean;
  /** The text as printed. */
  readonly text: string;
  /** The unit in the catalogue's spelling, or as sent if it is unknown. Null if the device sent none. */
  readonly unit: string | null;
  readonly device_range: DeviceRange | null;
  readonly device_flag: string | null;
  /** The device's doubt about the value. Such a value gets no flag. */
  readonly comment?: string | null;
}

/** Inputs of the flags in addition to the values. */
export interface FlagContext {
  /** Null if the patient is unknown, so that there is neither range nor flag. */
  readonly signalment: Signalment | null;
  /** The device's name, or the configured model of a generic profile. */
  readonly instrument: string | null;
  readonly acquired_at: string;
  readonly ranges: ClinicRanges | null;
}

/** Returns the results with range and flag, and their snapshot, whose rows have the same order. */
export function resultsOf(
  measurements: readonly Measurement[],
  { signalment, instrument, acquired_at, ranges }: FlagContext,
  notes: readonly string[] = [],
): { results: Result[]; snapshot: Snapshot } {
  const clinic =
    ranges === null
      ? {}
      : {
          interval: intervalsInForce(ranges, acquired_at),
          includeLowQuality: ranges.low_quality,
          limits: ranges.limits ?? [],
        };
  const results: Result[] = [];
  const rows: RowSnapshot[] = [];
  for (const measurement of measurements) {
    const { code, codeSource, value, comparator, ordinal, text, unit, device_range, comment = null } = measurement;
    const analyte = codeSource === "device" ? null : analyteByCode(code);
    if (analyte === undefined) throw new Error(`a result has the analyte ${code}, which the catalogue lacks`);
    const { reference_range, flag, interval_id, reason, limit_id } =
      analyte === null ? UNKNOWN_CODE : assess({ ...measurement, analyte, value }, signalment, instrument, clinic);
    const api_code = analyte?.api_code ?? code;
    results.push({
      analyte: api_code,
      value,
      unit,
      reference_range,
      flag,
      ...(comparator === null ? {} : { comparator }),
      ...(ordinal || value === null ? { value_text: text } : {}),
      ...(codeSource === undefined ? {} : { code_source: codeSource }),
      ...(analyte !== null && value === null && isAbnormalWord(analyte, text) ? { abnormal: true as const } : {}),
      ...(comment === null ? {} : { comment }),
    });
    rows.push({
      analyte: api_code,
      code,
      interval_id,
      reason,
      text,
      device_range: device_range?.text ?? null,
      device_species: device_range?.species ?? null,
      device_flag: measurement.device_flag,
      ...(limit_id === undefined ? {} : { limit_id }),
      ...deviceName(measurement),
    });
  }
  const version = ranges?.version ?? null;
  return { results, snapshot: { catalogue: catalogueVersion, ranges: version, instrument, rows, notes: [...notes] } };
}

/**
 * @returns the measurements of a stored study, to compare them with another patient's intervals; null if the catalogue lacks
 * an analyte. Without `snapshot` (null) the device's range and flag are unknown.
 */
export function measurementsOf(
  { modality, results }: Pick<Study, "modality" | "results">,
  snapshot: Snapshot | null,
): Measurement[] | null {
  const found: Measurement[] = [];
  for (const [index, result] of results.entries()) {
    const { analyte, value, unit, comparator = null, value_text, code_source, comment } = result;
    const kept = snapshot?.rows[index];
    const row = kept?.analyte === analyte ? kept : undefined;
    const isOfDevice = code_source === "device";
    const known = row === undefined ? analyteOf(analyte, modality) : analyteByCode(row.code);
    if (known === undefined && !isOfDevice) return null;
    const range = row?.device_range == null ? null : readRange(row.device_range);
    found.push({
      code: isOfDevice || known === undefined ? analyte : known.code,
      ...(code_source === undefined ? {} : { codeSource: code_source }),
      ...(row?.device_code === undefined ? {} : { device_code: row.device_code }),
      ...(row?.device_label === undefined ? {} : { device_label: row.device_label }),
      value,
      comparator,
      ordinal: value !== null && value_text !== undefined && known?.value_type === "ordinal",
      text: row?.text ?? value_text ?? `${comparator ?? ""}${value}`,
      unit,
      device_range: range === null ? null : { ...range, species: row?.device_species ?? null },
      device_flag: row?.device_flag ?? null,
      ...(comment === undefined ? {} : { comment }),
    });
  }
  return found;
}

const UNKNOWN_CODE: Assessment = {
  reference_range: null,
  flag: null,
  interval_id: null,
  reason: reasonOf("CODE.UNKNOWN"),
};

/** Returns the device's code, and its name of a test outside the catalogue. */
function deviceName({ codeSource, device_code, device_label }: Measurement) {
  return {
    ...(device_code === undefined ? {} : { device_code }),
    ...(codeSource === undefined || device_label == null ? {} : { device_label }),
  };
}

/**
 * Marks the words that are not the expected ones in results of another sender: an older agent, or an imported file. The device's
 * own code has no expected word.
 */
export function withAbnormalWords({ modality, results }: Pick<Study, "modality" | "results">): Result[] {
  return results.map((result) => {
    const { analyte: code, value, value_text, code_source, abnormal } = result;
    if (abnormal !== undefined || value !== null || value_text === undefined || code_source === "device") return result;
    const analyte = analyteOf(code, modality);
    return analyte !== undefined && isAbnormalWord(analyte, value_text) ? { ...result, abnormal: true } : result;
  });
}

/** Finds the analyte that a result of the API names. */
export function analyteOf(apiCode: string, modality: string): Analyte | undefined {
  return analytes.find((analyte) => analyte.api_code === apiCode && analyte.modality === modality);
}

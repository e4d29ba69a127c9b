import { type Analyte, analyteByCode, analytes } from "./analytes.ts";
import { type ClinicRanges, intervalsInForce } from "./clinic-ranges.ts";
import { assess, type DeviceRange } from "./flag.ts";
import { catalogueVersion } from "./reference.ts";
import type { Comparator, Result, RowSnapshot, Snapshot, Study } from "../api/study.ts";
import type { Signalment } from "./signalment.ts";
import { readRange } from "./value.ts";

// Turns measurements into the results of a study and their snapshot. The agent does so for each message, the server when a
// user assigns a study.

/** One measured value, before an interval is chosen. */
export interface Measurement {
  /** Code of the catalogue. The API may print another one. */
  readonly code: string;
  readonly value: number;
  readonly comparator: Comparator | null;
  /** Whether the value is the rank of a urine pad. */
  readonly ordinal: boolean;
  /** As printed. */
  readonly text: string;
  /** The unit in the catalogue's spelling, or as sent if it is unknown. Null if the device sent none. */
  readonly unit: string | null;
  readonly device_range: DeviceRange | null;
  readonly device_flag: string | null;
}

/** Inputs of the flags beside the values. */
export interface FlagContext {
  /** Null if the patient is unknown, so that there is neither range nor flag. */
  readonly signalment: Signalment | null;
  /** The device's name, or the configured model behind a generic profile. */
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
    ranges === null ? {} : { interval: intervalsInForce(ranges, acquired_at), includeLowQuality: ranges.low_quality };
  const results: Result[] = [];
  const rows: RowSnapshot[] = [];
  for (const measurement of measurements) {
    const { code, value, comparator, ordinal, text, unit, device_range, device_flag } = measurement;
    const analyte = analyteByCode(code);
    if (analyte === undefined) throw new Error(`a result has the analyte ${code}, which the catalogue lacks`);
    const { reference_range, flag, interval_id, reason } = assess(
      { ...measurement, analyte },
      signalment,
      instrument,
      clinic,
    );
    results.push({
      analyte: analyte.api_code,
      value,
      unit,
      reference_range,
      flag,
      ...(comparator === null ? {} : { comparator }),
      ...(ordinal ? { value_text: text } : {}),
    });
    rows.push({
      analyte: analyte.api_code,
      code,
      interval_id,
      reason,
      text,
      device_range: device_range?.text ?? null,
      device_species: device_range?.species ?? null,
      device_flag,
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
  for (const [index, { analyte, value, unit, comparator = null, value_text }] of results.entries()) {
    const kept = snapshot?.rows[index];
    const row = kept?.analyte === analyte ? kept : undefined;
    const known = row === undefined ? analyteOf(analyte, modality) : analyteByCode(row.code);
    if (known === undefined) return null;
    const range = row?.device_range == null ? null : readRange(row.device_range);
    found.push({
      code: known.code,
      value,
      comparator,
      ordinal: value_text !== undefined && known.value_type === "ordinal",
      text: row?.text ?? value_text ?? `${comparator ?? ""}${value}`,
      unit,
      device_range: range === null ? null : { ...range, species: row?.device_species ?? null },
      device_flag: row?.device_flag ?? null,
    });
  }
  return found;
}

function analyteOf(apiCode: string, modality: string): Analyte | undefined {
  return analytes.find((analyte) => analyte.api_code === apiCode && analyte.modality === modality);
}

import { createHash } from "node:crypto";
import type { Modality } from "../../shared/api/study.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import type { Collection, Report } from "./report.ts";

// Keys that only a measurement and its resends share.

interface MeasurementIdentity {
  readonly patient: readonly string[];
  readonly specimen: readonly string[];
  readonly time: string | null;
  /** The time has hour and minute; a date alone names no measurement. */
  readonly isExact: boolean;
  /** The specimen number is a device counter, reused on another day. */
  readonly isCounted: boolean;
  readonly modality: Modality;
}

/** Whether a name has numbers of at most four digits alone, such as `12` or `12^1^5`: counters, which many devices start again each day. */
function isCounter(name: string): boolean {
  return /\d/.test(name) && !/\p{L}|\p{N}{5}/u.test(name);
}

/**
 * Builds the key from device, patient as sent, specimen or order, and time. A patient number alone would make next
 * year's results a correction of this year's. Without specimen and time, the results are part of the key: sample 12 of today, by a
 * counter alone, would correct that of another animal.
 */
export function dedupeKey(device: string, identity: MeasurementIdentity, rows: readonly Measurement[]): string {
  const isNamed = !identity.isCounted && identity.specimen.some((part) => part !== "" && !isCounter(part));
  const isAnonymous = !identity.isExact && !isNamed;
  const results = isAnonymous ? identifyingRows(rows) : null;
  const parts = [identity.patient, identity.specimen, identity.time, identity.modality, results];
  return `${device}:${digest(parts).slice(0, 32)}`;
}

/**
 * Returns the part of the rows that identifies a measurement. Neither the clinic's codes nor new fields of a row may give an
 * earlier message another key.
 */
function identifyingRows(rows: readonly Measurement[]): unknown[] {
  const known = rows.filter(({ codeSource }) => codeSource === undefined);
  if (known.length === 0) return rows.map(({ device_code, text, device_flag }) => [device_code, text, device_flag]);
  return known.map(({ code, value, comparator, ordinal, text, unit, device_range, device_flag }) => ({
    code,
    value,
    comparator,
    ordinal,
    text,
    unit,
    device_range,
    device_flag,
  }));
}

/**
 * Builds the key of a collected study. A test's time is not the sample's time; it only separates reused sample numbers.
 */
export function collectionKey(
  device: string,
  sampleParts: readonly unknown[],
  acquired_at: string,
  hours: number,
): { dedupe_key: string; collect: Collection } {
  const prefix = `${device}:${digest(sampleParts).slice(0, 32)}@`;
  return { dedupe_key: prefix + acquired_at, collect: { prefix, withinMs: hours * 60 * 60_000 } };
}

/**
 * Separates Reports with equal keys by their results: one message may hold several patients without a number in one
 * second.
 */
export function separateEqualKeys(reports: readonly Report[]): Report[] {
  const seen = new Map<string, number>();
  const count = (key: string) => {
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times;
  };
  for (const { dedupe_key } of reports) count(dedupe_key);
  return reports.map((report) => {
    if (seen.get(report.dedupe_key) === 1) return report;
    // No Report keeps the bare key: a single resend must not count as a correction of another Report.
    const own = `${report.dedupe_key}:${digest(identifyingRows(report.rows)).slice(0, 8)}`;
    const nth = count(own);
    return { ...report, dedupe_key: nth === 1 ? own : `${own}:${nth}` };
  });
}

/** Returns the SHA-256 of a value, in hexadecimal. */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

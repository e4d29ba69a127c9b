import type { Result } from "../api/study.ts";

// By itself: the spool's thread needs it, and not the reference data, which would be in memory twice (27 MB).

/** @returns a text that is equal for equal measurements, in any order of rows; it ignores computed fields */
export function measurementKey(results: readonly Result[]): string {
  const rows = results.map(({ analyte, value, unit, comparator, value_text }) =>
    JSON.stringify([analyte, value, unit, comparator ?? null, value_text ?? null]),
  );
  return rows.toSorted().join();
}

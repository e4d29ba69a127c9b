import type { Result } from "../api/study.ts";

// A module of its own, since the spool's thread must not load the reference data.

/** @returns a text that is equal for equal measurements, in any order of rows; it ignores computed fields */
export function measurementKey(results: readonly Result[]): string {
  const rows = results.map(({ analyte, value, unit, comparator, value_text, code_source, comment }) =>
    JSON.stringify([analyte, value, unit, comparator, value_text, code_source, comment]),
  );
  return rows.toSorted().join();
}

import type { ChangeKind } from "../../page/types/maker.ts";
import type { Reading, Report } from "../../report/report.ts";

// A draft changes a stored message: the kinds of difference between the present reading and the draft's.

/** Returns the kinds of difference; empty for the same reading. */
export function changesBetween(before: Reading, after: Reading): ChangeKind[] {
  if (before.is !== "reports" || after.is !== "reports") {
    if (before.is === after.is) return [];
    if (after.is === "reports") return ["read"];
    return [before.is === "reports" ? "unreadable" : "other"];
  }
  const [old, next] = [before.reports, after.reports];
  const kinds = new Set<ChangeKind>();
  const [rows, nextRows] = [rowsOf(old), rowsOf(next)];
  if (nextRows.length > rows.length) kinds.add("rowsMore");
  if (nextRows.length < rows.length) kinds.add("rowsFewer");
  if (nextRows.length === rows.length && valuesOf(rows) !== valuesOf(nextRows)) kinds.add("values");
  const differs = (of: (report: Report) => unknown) => JSON.stringify(old.map(of)) !== JSON.stringify(next.map(of));
  if (differs(({ identifier }) => identifier)) kinds.add("identifier");
  if (differs(({ patient_hint }) => patient_hint.name)) kinds.add("name");
  if (differs(({ species }) => species))
    kinds.add(next.some(({ species }) => species !== null) ? "species" : "speciesLost");
  if (differs(({ acquired_at }) => acquired_at)) kinds.add("time");
  if (
    kinds.size === 0 &&
    differs(({ rows: own, patient_hint, sampleIds, comments }) => [own, patient_hint, sampleIds, comments])
  ) {
    kinds.add("other");
  }
  return [...kinds];
}

type Rows = Report["rows"];

function rowsOf(reports: readonly Report[]): Rows {
  return reports.flatMap(({ rows }) => rows);
}

function valuesOf(rows: Rows): string {
  return JSON.stringify(rows.map(({ code, text, unit, device_flag }) => [code, text, unit, device_flag]));
}

/** Counts the texts of patients and orders that nothing reads. */
export function unreadIn(reading: Reading): number {
  if (reading.is !== "reports") return 0;
  return reading.reports.reduce((sum, { patient_hint }) => sum + (patient_hint.other?.length ?? 0), 0);
}

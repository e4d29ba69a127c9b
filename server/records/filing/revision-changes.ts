import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import type { Result } from "../../../shared/api/study.ts";
import type { RowChange } from "../../dashboard/types/results/results.ts";
import { valueText } from "../../../shared/clinical/units/value-text.ts";

// The difference of the results of two revisions, as a person reads it.

/** Returns the rows that differ: changed and added ones in the later order, then the removed ones. */
export function rowChanges(before: readonly Result[], after: readonly Result[]): RowChange[] {
  const earlier = byAnalyte(before);
  const changes: RowChange[] = [];
  for (const [key, result] of byAnalyte(after)) {
    const old = earlier.get(key);
    earlier.delete(key);
    const [was, is] = [old === undefined ? null : lineOf(old), lineOf(result)];
    if (was !== is) changes.push({ analyte: result.analyte, before: was, after: is });
  }
  const removed = [...earlier.values()].map((old) => ({ analyte: old.analyte, before: lineOf(old), after: null }));
  return [...changes, ...removed];
}

/** Pairs rows by their analyte. The second row of an analyte is another one than the first. */
function byAnalyte(results: readonly Result[]): Map<string, Result> {
  const rows = new Map<string, Result>();
  const seen = new Map<string, number>();
  for (const result of results) {
    const count = (seen.get(result.analyte) ?? 0) + 1;
    seen.set(result.analyte, count);
    rows.set(`${result.analyte} ${count}`, result);
  }
  return rows;
}

function lineOf(result: Result): string {
  const { unit, reference_range, flag, comment } = result;
  const range = reference_range === null ? "" : `(${reference_range})`;
  return [valueText(result), unitText(unit ?? ""), range, flag ?? "", comment ?? ""]
    .filter((part) => part !== "")
    .join(" ");
}

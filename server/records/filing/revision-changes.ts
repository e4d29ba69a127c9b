import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import type { Result } from "../../../shared/api/study.ts";
import type { ChangedRow, RowChange } from "../../dashboard/types/results/results.ts";
import { valueText } from "../../../shared/clinical/units/value-text.ts";

// The difference of the results of two revisions, as a person reads it.

/** Returns the rows that differ: changed and added ones in the later order, then the removed ones. */
export function rowChanges(before: readonly Result[], after: readonly Result[]): RowChange[] {
  const earlier = byAnalyte(before);
  const changes: RowChange[] = [];
  for (const [key, result] of byAnalyte(after)) {
    const old = earlier.get(key);
    earlier.delete(key);
    const [was, is] = [old === undefined ? null : rowOf(old), rowOf(result)];
    if (JSON.stringify(was) !== JSON.stringify(is)) changes.push({ analyte: result.analyte, before: was, after: is });
  }
  const removed = [...earlier.values()].map((old) => ({ analyte: old.analyte, before: rowOf(old), after: null }));
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

function rowOf(result: Result): ChangedRow {
  const { unit, reference_range, flag, comment = null } = result;
  const range = reference_range === null ? "" : `(${reference_range})`;
  const text = [valueText(result), unitText(unit ?? ""), range].filter((part) => part !== "").join(" ");
  return { text, flag, comment };
}

import type { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import type { ChangedRange, RangeDifference } from "../../dashboard/types/settings/ranges.ts";

/** Compares a clinic's intervals with their replacement, row by row of the same id. */
export function rangeChanges(before: readonly ClinicRange[], after: readonly ClinicRange[]): RangeDifference {
  const old = new Map(before.map((row) => [row.id, row]));
  const ids = new Set(after.map(({ id }) => id));
  const added = after.filter(({ id }) => !old.has(id));
  const changed = after.flatMap((row) => {
    const fields = changedFields(old.get(row.id) ?? row, row);
    return fields.length === 0 ? [] : [{ row, fields }];
  });
  return {
    added,
    removed: before.filter(({ id }) => !ids.has(id)),
    changed,
    unchanged: after.length - added.length - changed.length,
  };
}

function changedFields(before: ClinicRange, after: ClinicRange): ChangedRange["fields"] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof ClinicRange>;
  return [...names].flatMap((field) => {
    const [from, to] = [before[field] ?? null, after[field] ?? null];
    return from === to ? [] : [{ field, from: textOf(from), to: textOf(to) }];
  });
}

function textOf(value: string | number | boolean | null): string | null {
  return value === null ? null : String(value);
}

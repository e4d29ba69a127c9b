// A page of a list of changes, the last change first.

/** A position in the list. The record may have left it. */
export interface ChangePosition {
  readonly changedAt: number;
  readonly fp: string;
}

/** A position before all others. */
export const NEWEST: ChangePosition = { changedAt: Number.MAX_SAFE_INTEGER, fp: "" };

/** Cuts a page out of rows that have one more, which shows whether another page follows. */
export function cutPage<Row extends { readonly changed_at: number; readonly fp: string }>(
  found: readonly Row[],
  pageSize: number,
): { readonly rows: readonly Row[]; readonly last: ChangePosition | null } {
  const rows = found.slice(0, pageSize);
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  return { rows, last: last === undefined ? null : { changedAt: last.changed_at, fp: last.fp } };
}

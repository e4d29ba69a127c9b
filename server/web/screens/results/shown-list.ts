import type { ListedStudy, ResultsPage } from "../../../dashboard/types/results/results.ts";

/** The rows that the list shows: consecutive pages without a gap. */
export interface ShownList {
  readonly items: readonly ListedStudy[];
  /** Position of the next page; null if all rows are shown. */
  readonly next: string | null;
  /** Number of damaged studies that these pages omit. */
  readonly left_out: number;
}

/** Adds the next page. */
export function withMore({ items, left_out }: ShownList, page: ResultsPage): ShownList {
  const known = new Set(items.map(({ fp }) => fp));
  const more = page.items.filter(({ fp }) => !known.has(fp));
  return { items: [...items, ...more], next: page.next, left_out: left_out + page.left_out };
}

/**
 * Puts a newer first page above the rows that follow it. If none of the shown rows is its last row, rows may be missing between
 * them, and the list starts again with this page.
 */
export function withNewFirstPage(shown: ShownList, page: ResultsPage): ShownList {
  const last = page.items.at(-1)?.fp;
  const place = shown.items.findIndex(({ fp }) => fp === last);
  const older = place < 0 ? [] : shown.items.slice(place + 1);
  if (page.next === null || older.length === 0) return page;
  const fresh = new Set(page.items.map(({ fp }) => fp));
  const items = [...page.items, ...older.filter(({ fp }) => !fresh.has(fp))];
  // Later pages may also omit damaged studies.
  return { items, next: shown.next, left_out: Math.max(shown.left_out, page.left_out) };
}

/** Returns the fps of rows that arrived, or were corrected, since the rows before. */
export function arrivedSince(before: readonly ListedStudy[], items: readonly ListedStudy[]): string[] {
  const newest = before.reduce((latest, { received_at }) => (received_at > latest ? received_at : latest), "");
  const known = new Set(before.map(({ fp, revision }) => `${fp} ${revision}`));
  return items.flatMap(({ fp, revision, received_at }) =>
    received_at >= newest && !known.has(`${fp} ${revision}`) ? [fp] : [],
  );
}

// The order of the rows of a table: numbers as numbers, times as times, names by the alphabet of the language.

/** The words of ARIA. */
export type Direction = "ascending" | "descending";

/** The key by which a column sorts: a number, a text, or null, which is last in both directions. */
export type SortValue = number | string | null;

/** Returns the rows in the order of their values. Rows with the same value keep their order. */
export function sortedRows<Row>(
  rows: readonly Row[],
  { by, direction, language }: { by: (row: Row) => SortValue; direction: Direction; language: string },
): readonly Row[] {
  // `numeric` sorts "Lot 9" before "Lot 10".
  const { compare } = new Intl.Collator(language, { numeric: true });
  const sign = direction === "ascending" ? 1 : -1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .toSorted(({ value: a }, { value: b }) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : compare(String(a), String(b)));
    })
    .map(({ row }) => row);
}

/** Returns what a time of the API sorts by. */
export function timeValue(instant: string | null): SortValue {
  return instant === null ? null : Date.parse(instant);
}

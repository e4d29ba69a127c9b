import { useState } from "preact/hooks";
import { language } from "../../text.ts";
import type { SortedColumn } from "./data-table.tsx";
import { type Direction, type SortValue, sortedRows } from "./sort.ts";

/**
 * Sorts the rows of a list that the page has completely. A list that comes in pages is sorted by the server, or not at all.
 * `column` makes the heading of a column by its key; the rows keep their order until the user chooses one.
 */
export function useSorted<Row, Key extends string>(
  rows: readonly Row[],
  values: Readonly<Record<Key, (row: Row) => SortValue>>,
) {
  const [order, setOrder] = useState<{ key: Key; direction: Direction } | undefined>(undefined);
  const column = (key: Key, heading: string, className?: string): SortedColumn => {
    const direction = order?.key === key ? order.direction : undefined;
    const next = direction === "ascending" ? "descending" : "ascending";
    const sort = () => setOrder({ key, direction: next });
    return { heading, direction, sort, ...(className !== undefined && { class: className }) };
  };
  const sorted =
    order === undefined
      ? rows
      : sortedRows(rows, { by: values[order.key], direction: order.direction, language: language.value });
  return { rows: sorted, column };
}

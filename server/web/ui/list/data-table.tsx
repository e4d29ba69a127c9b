import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Direction } from "./sort.ts";
import "./data-table.css";

/**
 * The heading of a column, alone or with its class. On a card the cells of a `labelled` column have the heading before them,
 * since a date or a number alone means nothing there. False leaves the column out.
 */
type Column = string | readonly [heading: string, className: string] | SortedColumn | false;

/** A column by which the user sorts the rows. */
export interface SortedColumn {
  readonly heading: string;
  readonly class?: string;
  /** Undefined while the rows are in another order. */
  readonly direction: Direction | undefined;
  /** Sorts by this column; again, the other way round. */
  readonly sort: () => void;
}

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Class of the table. `cards` turns each row into a card on a phone. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table in a frame that pointer and keyboard can scroll on a narrow page. */
export function DataTable({ label, columns, class: ofTable = "", children }: DataTableProps) {
  const table = useRef<HTMLTableElement>(null);
  const named = columns.flatMap((column) => (column === false ? [] : [columnOf(column)]));
  const isSorted = named.some(({ sort }) => sort !== undefined);
  useLayoutEffect(() => {
    if (table.current !== null && / cards /.test(` ${ofTable} `)) describeCards(table.current, named);
  });
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table ref={table} class={`${ofTable}${isSorted ? " sorted" : ""}`.trimStart() || undefined}>
        <thead>
          <tr>
            {named.map(({ heading, class: ofColumn, direction, sort }) => (
              <th
                key={heading}
                scope="col"
                class={ofColumn}
                aria-sort={direction ?? (sort === undefined ? undefined : "none")}
              >
                {sort === undefined ? (
                  heading
                ) : (
                  <button type="button" onClick={sort}>
                    {heading}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

type NamedColumn = Pick<SortedColumn, "heading" | "class"> & Partial<SortedColumn>;

function columnOf(column: Exclude<Column, false>): NamedColumn {
  if (typeof column === "string") return { heading: column };
  return "heading" in column ? column : { heading: column[0], class: column[1] };
}

/** Labels the cells, and keeps the roles of a table, which browsers drop when the style of a row is not that of a table. */
function describeCards(table: HTMLTableElement, columns: readonly NamedColumn[]): void {
  table.setAttribute("role", "table");
  for (const group of [...(table.tHead === null ? [] : [table.tHead]), ...table.tBodies]) {
    group.setAttribute("role", "rowgroup");
    for (const row of group.rows) {
      row.setAttribute("role", "row");
      for (const cell of row.cells) {
        const isHeading = cell.tagName === "TH";
        cell.setAttribute("role", !isHeading ? "cell" : group === table.tHead ? "columnheader" : "rowheader");
        const { heading = "", class: ofColumn = "" } = columns[cell.cellIndex] ?? {};
        if (!isHeading && /\blabelled\b/.test(ofColumn)) cell.dataset["label"] = heading;
      }
    }
  }
}

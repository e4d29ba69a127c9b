import type { ComponentChildren } from "preact";
import "./data-table.css";

/** The heading of a column, alone or with its class. False leaves the column out. */
type Column = string | readonly [heading: string, className: string] | false;

interface DataTableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Class of the table. `cards` turns each row into a card on a phone. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table in a frame that pointer and keyboard can scroll on a narrow page. */
export function DataTable({ label, columns, class: ofTable, children }: DataTableProps) {
  const named = columns.flatMap((column) => (column === false ? [] : [typeof column === "string" ? [column] : column]));
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table class={ofTable}>
        <thead>
          <tr>
            {named.map(([heading, className]) => (
              <th key={heading} scope="col" class={className}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

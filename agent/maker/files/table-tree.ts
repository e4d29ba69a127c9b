import { type TableRow, headerOf, tableRows } from "../../protocols/file/layouts/table-records.ts";
import { columnName, type TableLayout } from "../../protocols/file/layouts/records.ts";
import type { MakerNode } from "../../page/types/maker.ts";
import { timeFormats } from "./time-formats.ts";

// A table as a tree: the lines before its header, the header with a node for each column, and its first rows.

/** Max rows of a table that are shown. Its columns look at further ones for the format of a time. */
const ROWS_SHOWN = 20;
const COLUMNS_MAX = 200;

export function tableTree(bytes: Uint8Array, layout: TableLayout): MakerNode | null {
  const found = tableRows(bytes, layout);
  if ("problem" in found) return null;
  const { rows } = found;
  const at = headerOf(rows, layout);
  const header = rows[at];
  if (header === undefined)
    return treeOf(
      rows.slice(0, ROWS_SHOWN).map((row) =>
        recordOf(
          "line",
          row,
          row.cells.map(() => ""),
        ),
      ),
    );
  const places = placesOf(header.cells);
  const body = rows.slice(at + 1);
  const columns = places.map((place, index) => {
    const formats = timeFormats(body.map(({ cells }) => cells[index]?.trim() ?? ""));
    return {
      ...nodeOf(place, "column", header.cells[index]?.trim() ?? ""),
      label: labelOf(place, header.cells[index]),
      formats,
    };
  });
  return treeOf([
    ...rows.slice(0, at).map((row) =>
      recordOf(
        "line",
        row,
        row.cells.map(() => ""),
      ),
    ),
    { ...recordOf("header", header, []), children: columns },
    ...body.slice(0, ROWS_SHOWN).map((row) => recordOf("row", row, places)),
  ]);
}

/** Returns the names of the columns. One without a name, or with the name of another, has its number. */
function placesOf(cells: readonly string[]): string[] {
  const names = cells.slice(0, COLUMNS_MAX).map(columnName);
  return names.map((name, index) => {
    const isOwn = name !== "" && name.length <= 100 && names.filter((each) => each === name).length === 1;
    return isOwn && !/^col \d{1,3}$/.test(name)
      ? (cells[index] ?? "").replaceAll("\ufeff", "").trim()
      : `col ${index + 1}`;
  });
}

function labelOf(place: string, cell: string | undefined): string {
  const name = cell?.trim() ?? "";
  return name === "" || name === place ? place : `${place} (${name})`;
}

function recordOf(place: "line" | "header" | "row", { cells }: TableRow, places: readonly string[]): MakerNode {
  const children = places.map((each, index) => nodeOf(each, "field", cells[index]?.trim() ?? ""));
  return { ...nodeOf(place, "record", cells.join(" | ").slice(0, 300)), children };
}

function nodeOf(place: string, kind: MakerNode["kind"], text: string): MakerNode {
  return { place, kind, from: 0, to: 0, text, children: [] };
}

function treeOf(children: readonly MakerNode[]): MakerNode {
  return { ...nodeOf("", "message", ""), children };
}

import type { LineFault, Meaning } from "../../dashboard/types/file-import.ts";
import type { CsvRecord } from "../../../shared/files/table/csv-records.ts";
import type { FileTable } from "./read-table.ts";

// The cells of a line by their meaning.

/** @returns the text of a cell; empty if no column has the meaning */
export function cellOf({ columns }: FileTable, { cells }: CsvRecord, meaning: Meaning): string {
  const index = columns.get(meaning);
  // Spreadsheets keep a text with a leading apostrophe or as ="...".
  return index === undefined ? "" : (cells[index] ?? "").replace(/^(?:="(.*)"|'(.*))$/s, "$1$2").trim();
}

/** Finds a line whose cells are not those of the header. */
export function widthFaults({ width, reading, columns }: FileTable, { cells }: CsvRecord): LineFault[] {
  const isLong = cells.slice(width).some((cell) => cell !== "");
  const isShort = reading.format === "csv" && cells.length < width;
  if (isLong || isShort) {
    return [{ field: "", code: isLong ? "too_many_cells" : "too_few_cells", value: `${cells.length}/${width}` }];
  }
  // A quote that was meant to close earlier: the cell has the end of one line and the start of the next.
  const isJoined = (cell = "") => cell.includes("\n") && cell.includes(reading.separator ?? "\n");
  const isSwallowed = reading.format === "csv" && [...columns.values()].some((index) => isJoined(cells[index]));
  return isSwallowed ? [{ field: "", code: "quote_swallows", value: "" }] : [];
}

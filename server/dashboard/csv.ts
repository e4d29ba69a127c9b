import { type Options, stringify } from "csv-stringify/sync";
import { printable } from "../../shared/runtime/printable.ts";

/** A cell of a table. A number stays a number, so that a negative one is not a formula. */
export type CsvCell = string | number | null;

/** RFC 4180. A spreadsheet computes text that starts with = + - or @, so such text gets an apostrophe in front. */
const CSV: Options = { record_delimiter: "windows", escape_formulas: true };

/** Starts of a formula after a mark at which a spreadsheet of some language splits cells, such as `;` in Turkish Excel. */
const SPLIT_FORMULA = /(;[\s"]*)(?=[=+\-@])/g;

/** Formats a row of a table for a spreadsheet, with its line end. Control characters become escapes, so that a row is one line. */
export function csvLine(cells: readonly CsvCell[]): string {
  const safe = cells.map((cell) =>
    typeof cell === "string" ? printable(cell).replaceAll(SPLIT_FORMULA, "$1'") : cell,
  );
  return stringify([safe], CSV);
}

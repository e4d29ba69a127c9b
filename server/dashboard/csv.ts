import { type Options, stringify } from "csv-stringify/sync";

/** A cell of a table. A number stays a number, so that a negative one is no formula. */
export type CsvCell = string | number | null;

/** RFC 4180. A spreadsheet computes text that begins with = + - @ TAB or CR, so such text gets an apostrophe in front. */
const CSV: Options = { record_delimiter: "windows", escape_formulas: true, quoted_match: /[\r\n]/ };

/** Begins of a formula behind a mark at which a spreadsheet of some language splits cells, such as `;` in Turkish Excel. */
const SPLIT_FORMULA = /(?!^)([;\t\r\n]\s*)(?=[=+\-@])/g;

/** Formats a row of a table for a spreadsheet, with its line end. */
export function csvLine(cells: readonly CsvCell[]): string {
  const safe = cells.map((cell) => (typeof cell === "string" ? cell.replaceAll(SPLIT_FORMULA, "$1'") : cell));
  return stringify([safe], CSV);
}

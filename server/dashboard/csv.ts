import { type Options, stringify } from "csv-stringify/sync";

/** A cell of a table. A number stays a number, so that a negative one is no formula. */
export type CsvCell = string | number | null;

/** RFC 4180. A spreadsheet computes text that begins with = + - @ TAB or CR, so such text gets an apostrophe in front. */
const CSV: Options = { record_delimiter: "windows", escape_formulas: true, quoted_match: /[\r\n]/ };

/** Formats a row of a table for a spreadsheet, with its line end. */
export function csvLine(cells: readonly CsvCell[]): string {
  return stringify([cells], CSV);
}

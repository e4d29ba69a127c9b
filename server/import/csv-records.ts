import { CsvError, parse } from "csv-parse/sync";

/** A record of a CSV file, with the number of its first line. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** The records of a file, or the first fault with its line: what follows a wrong quote means something else. */
export type CsvContent = { separator: string; records: CsvRecord[] } | { fault: { line: number; problem: string } };

/**
 * Reads CSV (RFC 4180). The separator is the comma, semicolon or tab that the first line has most of. Blank records are left out.
 */
export function readCsv(file: string): CsvContent {
  // The parser counts CR LF inside a cell as two lines.
  const text = file.replaceAll(/\r\n?/g, "\n");
  const separator = separatorOf(text);
  const records: CsvRecord[] = [];
  let lastLine = 0;
  try {
    parse(text, {
      delimiter: separator,
      record_delimiter: "\n",
      relax_column_count: true,
      trim: true,
      on_record: (cells: string[], { lines }) => {
        lastLine = lines;
        const line = lines - linesWithin(cells);
        if (cells.some((cell) => cell !== "")) records.push({ line, cells });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { fault: faultOf(error, lastLine + 1) };
  }
  const swallowed = swallowedRow(records, separator);
  return swallowed === undefined ? { separator, records } : { fault: swallowed };
}

/** The parser names the line at which it noticed. An unclosed quote is in the record after the last one. */
function faultOf({ code, lines }: CsvError & { lines?: unknown }, begin: number): { line: number; problem: string } {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return { line: begin, problem: "a quote opens and never closes, expected a second one at the end of the cell" };
    case "CSV_INVALID_CLOSING_QUOTE":
      return {
        line: begin,
        problem: `a quote opens, and the next one, in line ${String(lines)}, is not at the end of a cell, expected "" for a quote in a text`,
      };
    case "INVALID_OPENING_QUOTE":
      return { line: begin, problem: "a quote is in the middle of a cell, expected the complete cell in quotes" };
    default:
      return { line: begin, problem: "the line is not CSV" };
  }
}

/** Finds a cell that holds a row of its own: its quote was meant to close at the end of the line. */
function swallowedRow(
  [header, ...records]: readonly CsvRecord[],
  separator: string,
): { line: number; problem: string } | undefined {
  const columns = header?.cells.length ?? 0;
  for (const { line, cells } of records) {
    const isRow = (text: string) => columns > 1 && text.split(separator).length >= columns;
    if (cells.some((cell) => cell.split("\n").slice(1).some(isRow))) {
      return {
        line,
        problem: "a quote opens, and the cell takes in the rows after it, expected a second one in this line",
      };
    }
  }
  return undefined;
}

function linesWithin(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
}

function separatorOf(text: string): string {
  const [firstLine = ""] = text.trimStart().split("\n", 1);
  const count = (separator: string) => firstLine.split(separator).length;
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
}

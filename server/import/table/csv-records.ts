import { CsvError, parse } from "csv-parse/sync";

/** A record of a CSV file, with the number of its first line. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

export const SEPARATORS = [",", ";", "\t", "|"] as const;
export type Separator = (typeof SEPARATORS)[number];

export interface CsvFault {
  readonly line: number;
  readonly code: "quote_open" | "quote_inside" | "quote_misplaced" | "quote_swallows" | "not_csv";
  readonly problem: string;
}

/** The records of a file, or the first fault with its line: what follows a wrong quote means something else. */
export type CsvContent = { separator: Separator; records: CsvRecord[] } | { fault: CsvFault };

/** A line that Excel reads before the header: it names the separator. */
const SEPARATOR_LINE = /^\s*"?sep=([,;\t|])"?[ \t]*(?=\n|$)/i;

/**
 * Reads CSV (RFC 4180). The separator is what the line `sep=;` names, else the one that the first line has most of. Blank records
 * are left out.
 */
export function readCsv(file: string, chosen?: Separator): CsvContent {
  // The parser counts CR LF inside a cell as two lines.
  const lines = file.replaceAll(/\r\n?/g, "\n");
  const [named = "", separatorNamed] = SEPARATOR_LINE.exec(lines) ?? [];
  // The line stays, empty, so that the others keep their numbers.
  const text = named === "" ? lines : lines.slice(named.length);
  const offset = named.split("\n").length - 1;
  const separator = chosen ?? SEPARATORS.find((each) => each === separatorNamed) ?? separatorOf(text);
  const records: CsvRecord[] = [];
  let lastLine = 0;
  try {
    parse(text, {
      delimiter: separator,
      record_delimiter: "\n",
      relax_column_count: true,
      trim: true,
      on_record: (cells: string[], { lines: count }) => {
        lastLine = count + offset;
        const line = lastLine - linesWithin(cells);
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
function faultOf({ code, lines }: CsvError & { lines?: unknown }, begin: number): CsvFault {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return {
        line: begin,
        code: "quote_open",
        problem: "a quote opens and never closes, expected a second one at the end of the cell",
      };
    case "CSV_INVALID_CLOSING_QUOTE":
      return {
        line: begin,
        code: "quote_inside",
        problem: `a quote opens, and the next one, in line ${String(lines)}, is not at the end of a cell, expected "" for a quote in a text`,
      };
    case "INVALID_OPENING_QUOTE":
      return {
        line: begin,
        code: "quote_misplaced",
        problem: "a quote is in the middle of a cell, expected the complete cell in quotes",
      };
    default:
      return { line: begin, code: "not_csv", problem: "the line is not CSV" };
  }
}

/** Finds a cell that holds a row of its own: its quote was meant to close at the end of the line. */
function swallowedRow([header, ...records]: readonly CsvRecord[], separator: string): CsvFault | undefined {
  const columns = header?.cells.length ?? 0;
  for (const { line, cells } of records) {
    const isRow = (text: string) => columns > 1 && text.split(separator).length >= columns;
    if (cells.some((cell) => cell.split("\n").slice(1).some(isRow))) {
      return {
        line,
        code: "quote_swallows",
        problem: "a quote opens, and the cell takes in the rows after it, expected a second one in this line",
      };
    }
  }
  return undefined;
}

function linesWithin(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
}

/** Max lines above the header, such as a title, that have no separator. */
const TITLE_LINES_MAX = 10;

function marksIn(line: string, separator: string): number {
  return line.split(separator).length - 1;
}

function separatorOf(text: string): Separator {
  for (const line of text.trimStart().split("\n", TITLE_LINES_MAX)) {
    const best = SEPARATORS.reduce((most, one) => (marksIn(line, one) > marksIn(line, most) ? one : most));
    if (marksIn(line, best) > 0) return best;
  }
  return ",";
}

import { pipeline } from "node:stream/promises";
import { CsvError, type Options, parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";

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

/** Reads a short CSV text (RFC 4180), with the separator that `separatorOf` finds unless one is chosen. Blank records are left out. */
export function readCsv(text: string, chosen?: Separator): CsvContent {
  const records: CsvRecord[] = [];
  const [lines = ""] = withLineFeeds([text]);
  const reader = new RecordReader(lines, chosen, (record) => records.push(record));
  try {
    parseText(lines.slice(reader.start), reader.options);
  } catch (error) {
    return { fault: reader.faultOf(error) };
  }
  return reader.swallowed === null ? { separator: reader.separator, records } : { fault: reader.swallowed };
}

/**
 * Reads a CSV text (RFC 4180) in pieces, and keeps none of them. The separator is what the line `sep=;` names, else the one that the
 * first line has most of. Blank records are left out.
 */
export async function readCsvPieces(
  pieces: Iterable<string>,
  chosen: Separator | undefined,
  keep: (record: CsvRecord) => void,
): Promise<{ separator: Separator } | { fault: CsvFault }> {
  const texts = withLineFeeds(pieces);
  const first = texts.next();
  const lines = first.done === true ? "" : first.value;
  const reader = new RecordReader(lines, chosen, keep);
  const parser = parse(reader.options);
  parser.resume();
  const rest = function* () {
    yield lines.slice(reader.start);
    yield* texts;
  };
  try {
    await pipeline(rest, parser);
  } catch (error) {
    return { fault: reader.faultOf(error) };
  }
  return reader.swallowed === null ? { separator: reader.separator } : { fault: reader.swallowed };
}

/** The parser counts CR LF inside a cell as two lines. */
function* withLineFeeds(pieces: Iterable<string>): Generator<string> {
  let held = "";
  for (const piece of pieces) {
    const text = held + piece;
    held = text.endsWith("\r") ? "\r" : "";
    yield text.slice(0, text.length - held.length).replaceAll(/\r\n?/g, "\n");
  }
  if (held !== "") yield "\n";
}

/** The state of the parser, which reads a text as a whole or in pieces. */
class RecordReader {
  readonly separator: Separator;
  /** Where the text begins: after the line that names the separator. Its line end stays, so that the others keep their numbers. */
  readonly start: number;
  readonly options: Options;
  /** The first row that has rows in a cell. */
  swallowed: CsvFault | null = null;
  #lastLine = 0;
  #columns: number | null = null;

  constructor(beginning: string, chosen: Separator | undefined, keep: (record: CsvRecord) => void) {
    const [named = "", separatorNamed] = SEPARATOR_LINE.exec(beginning) ?? [];
    this.start = named.length;
    this.separator =
      chosen ?? SEPARATORS.find((each) => each === separatorNamed) ?? separatorOf(beginning.slice(named.length));
    const offset = named.split("\n").length - 1;
    this.options = {
      delimiter: this.separator,
      record_delimiter: "\n",
      relax_column_count: true,
      trim: true,
      on_record: (cells: string[], { lines: count }) => {
        this.#lastLine = count + offset;
        const line = this.#lastLine - linesWithin(cells);
        if (cells.every((cell) => cell === "")) return null;
        this.#columns ??= cells.length;
        this.swallowed ??= swallowedRow({ line, cells }, this.#columns, this.separator);
        keep({ line, cells });
        return null;
      },
    };
  }

  /** @throws an error that is not of the text */
  faultOf(error: unknown): CsvFault {
    if (!(error instanceof CsvError)) throw error;
    return faultOf(error, this.#lastLine + 1);
  }
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
function swallowedRow({ line, cells }: CsvRecord, columns: number, separator: string): CsvFault | null {
  const isRow = (text: string) => columns > 1 && text.split(separator).length >= columns;
  if (!cells.some((cell) => cell.includes("\n") && cell.split("\n").slice(1).some(isRow))) return null;
  return {
    line,
    code: "quote_swallows",
    problem: "a quote opens, and the cell takes in the rows after it, expected a second one in this line",
  };
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

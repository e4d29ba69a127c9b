import { readCsv, type Separator, SEPARATORS } from "../../../../shared/files/table/csv-records.ts";
import { decodeText } from "./file-text.ts";
import { columnAt, columnName, type FileRecord, type FileRecords, RECORDS_MAX, type TableLayout } from "./records.ts";

// The rows of a table by the names of its header.

/** A row of cells, with the number of its line. */
export interface TableRow {
  readonly line: number;
  readonly cells: readonly string[];
}

type Rows = { readonly rows: readonly TableRow[]; readonly notes: readonly string[]; readonly separator: string };

interface Unreadable {
  readonly problem: string;
  readonly isCut?: boolean;
}

export function tableRecords(bytes: Uint8Array, layout: TableLayout, places: readonly string[]): FileRecords {
  const found = tableRows(bytes, layout);
  if ("problem" in found) return found;
  const { rows, notes, separator } = found;
  const at = headerOf(rows, layout);
  const header = rows[at];
  if (header === undefined) {
    const { find, within } = layout.header;
    return { problem: `no header with ${find.join(", ")} in the first ${within} lines: ${headOf(rows)}` };
  }
  const names = header.cells.map(columnName);
  const positions = new Map(places.map((place) => [place, columnAt(names, place)]));
  const missing = places.filter((place) => positions.get(place) === -1);
  if (missing.length > 0) {
    const has = header.cells.filter((cell) => cell !== "").join(", ");
    return { problem: `no column ${missing.join(", ")}: the header in line ${header.line} has ${has.slice(0, 300)}` };
  }
  const twice = places.find((place) => names.filter((name) => name === columnName(place)).length > 1);
  if (twice !== undefined)
    return { problem: `two columns ${twice} in the header: name one by its number, as in col 4` };
  const body = rows.slice(at + 1);
  if (body.length > RECORDS_MAX) return { problem: `${body.length} lines, at most ${RECORDS_MAX}: begin a new file` };
  // A separator within a text or a number moves the cells after it to other columns. A spreadsheet's cells do not move.
  const isMoved = ({ cells }: TableRow) =>
    layout.kind !== "xlsx" && cells.slice(names.length).some((cell) => cell.trim() !== "");
  const moved = body.filter(isMoved).map(({ line, cells }) => {
    return `line ${line} has ${cells.length} cells, the header ${names.length}: which is which is unknown`;
  });
  const records = body
    .filter((row) => !isMoved(row))
    .map(({ line, cells }): FileRecord => {
      return {
        where: `line ${line}`,
        at: (place) => cells[positions.get(place) ?? columnAt(names, place)]?.trim() ?? "",
        columns: header.cells.map((name, position) => ({ name: name.trim(), text: cells[position]?.trim() ?? "" })),
      };
    });
  return { records, notes: [...notes, ...moved], hasPointDecimals: separator !== ";" && separator !== "\t" };
}

/** Returns the rows of a table, its header among them. */
export function tableRows(bytes: Uint8Array, layout: TableLayout): Rows | Unreadable {
  return layout.kind === "xlsx" ? sheetRows(bytes) : textRows(bytes, layout);
}

/** Returns whether a table ends within a row: in a quote, or in a line without an end that lacks cells. */
export function isCutTable(bytes: Uint8Array, layout: TableLayout): boolean {
  const text = decodeText(bytes, layout.charset);
  const found = textRows(bytes, layout);
  if ("problem" in found) return found.isCut === true;
  const [header, last] = [found.rows[headerOf(found.rows, layout)], found.rows.at(-1)];
  return !/[\r\n]$/.test(text) && (last?.cells.length ?? 0) < (header?.cells.length ?? 0);
}

/** Returns the position of the header; -1 without one. */
export function headerOf(rows: readonly TableRow[], { header: { find, within } }: TableLayout): number {
  return rows.findIndex(({ line, cells }) => {
    const names = new Set(cells.map(columnName));
    return line <= within && find.every((name) => names.has(columnName(name)));
  });
}

function headOf(rows: readonly TableRow[]): string {
  const [first] = rows;
  return first === undefined
    ? "the file has no line"
    : `line ${first.line} is ${first.cells.join(" | ").slice(0, 200)}`;
}

function textRows(bytes: Uint8Array, layout: TableLayout): Rows | Unreadable {
  const text = decodeText(bytes, layout.charset);
  const end = /[\r\n]$/.test(text) || !layout.grows ? text.length : lastLineStart(text);
  const unended = text.slice(end).trim();
  const notes = unended === "" ? [] : ["the last line has no end yet, and waits"];
  const complete = text.slice(0, end);
  const chosen = layout.kind === "tsv" ? "\t" : layout.separator;
  let first: Rows | Unreadable | null = null;
  for (const separator of chosen === "auto" ? [undefined, ...SEPARATORS] : [chosen]) {
    const rows = rowsOf(complete, separator, notes);
    if (!("problem" in rows) && headerOf(rows.rows, layout) >= 0) return rows;
    first ??= rows;
  }
  return first ?? { problem: "the file has no line" };
}

function rowsOf(text: string, separator: Separator | undefined, notes: readonly string[]): Rows | Unreadable {
  const read = readCsv(text, separator);
  if ("fault" in read) {
    const { line, problem, code } = read.fault;
    return { problem: `line ${line}: ${problem}`, isCut: code === "quote_open" };
  }
  return { rows: read.records, notes, separator: read.separator };
}

function lastLineStart(text: string): number {
  return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}

/** Reads the rows that cellsOf() took from a spreadsheet. */
function sheetRows(bytes: Uint8Array): Rows | Unreadable {
  // A spreadsheet itself is not JSON.
  if (bytes[0] !== 0x7b) return { problem: "the cells of the spreadsheet are not there" };
  const read = JSON.parse(Buffer.from(bytes).toString()) as { rows: TableRow[] } | { problem: string };
  return "problem" in read ? read : { rows: read.rows, notes: [], separator: "cell" };
}

import { unzipSync } from "fflate";
import readXlsxFile, { InvalidSpreadsheetError } from "read-excel-file/universal";
import { StoredRows } from "./stored-rows.ts";

// The cells of an Excel file, as the texts that a CSV file would have.

/** Max bytes of its parts after unpacking: a file of a few kB can unpack to gigabytes. */
const UNPACKED_BYTES_MAX = 200 * 1024 * 1024;

/** Max cells from the first to the last of a sheet, also blank ones: a cell in the last column of the last row makes 17 billion. */
const CELLS_MAX = 20_000_000;
/** Characters of a sheet that are searched for places at a time, and those of the longest place. */
const [SEARCHED_CHARS, PLACE_CHARS] = [1024 * 1024, 64];

type SheetContent =
  | { sheet: string; records: StoredRows }
  | { fault: "unpacks_too_large" | "not_xlsx" | "damaged_xlsx" | "no_rows" | "too_complex" };

/**
 * Reads the first sheet that has cells. Blank rows are left out; a record's line is the number of its row. `withClock`: a date also
 * has its time, as in 2026-11-20T09:30:00.
 */
export async function readSpreadsheet(
  bytes: Uint8Array,
  { unpackedMax = UNPACKED_BYTES_MAX, withClock = false } = {},
): Promise<SheetContent> {
  const refused = zipFault(bytes, unpackedMax);
  if (refused !== null) return { fault: refused };
  let sheets;
  try {
    if (cellsOf(bytes) > CELLS_MAX) return { fault: "too_complex" };
    sheets = await readXlsxFile(new Uint8Array(bytes).buffer);
  } catch (error) {
    return { fault: error instanceof InvalidSpreadsheetError ? "not_xlsx" : "damaged_xlsx" };
  }
  let characters = 0;
  for (const { sheet, data } of sheets) {
    const records = new StoredRows();
    for (const [index, row] of data.entries()) {
      const cells = row.map((cell) => textOf(cell, withClock));
      // Thousands of cells may have the same long text, which the file has once.
      characters = cells.reduce((sum, cell) => sum + cell.length, characters);
      if (characters > unpackedMax) return { fault: "too_complex" };
      if (cells.some((cell) => cell !== "")) records.add({ line: index + 1, cells });
    }
    if (records.length > 0) return { sheet, records };
  }
  return { fault: "no_rows" };
}

/** Checks the list of the parts, before any is unpacked. fflate unpacks no part beyond the size that the list has. */
function zipFault(bytes: Uint8Array, unpackedMax: number): "unpacks_too_large" | "not_xlsx" | "damaged_xlsx" | null {
  let size = 0;
  let isWorkbook = false;
  try {
    unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        size += originalSize;
        isWorkbook ||= name === "xl/workbook.xml";
        return false;
      },
    });
  } catch {
    return "damaged_xlsx";
  }
  if (size > unpackedMax) return "unpacks_too_large";
  return isWorkbook ? null : "not_xlsx";
}

/** Returns the cells of all sheets, also the blank ones before the last, which the reader makes. */
function cellsOf(bytes: Uint8Array): number {
  const names: string[] = [];
  unzipSync(bytes, {
    filter: ({ name }) => {
      if (/\.xml$/i.test(name)) names.push(name);
      return false;
    },
  });
  const cells = names.map((name) => {
    const part = unzipSync(bytes, { filter: (each) => each.name === name })[name] ?? new Uint8Array(0);
    let [last, columns, rows] = [0, 1, 0];
    for (let from = 0; from < part.length; from += SEARCHED_CHARS) {
      const text = Buffer.from(part.subarray(from, from + SEARCHED_CHARS + PLACE_CHARS)).toString("latin1");
      for (const [, letters, number] of text.matchAll(/<(?:\w+:)?row\b|\sr\s*=\s*["']([A-Z]{0,9})(\d{1,15})["']/gi)) {
        if (number === undefined) rows += 1;
        last = Math.max(last, Number(number ?? 0));
        columns = Math.max(columns, columnNumber(letters ?? ""));
      }
    }
    return Math.max(last, rows) * columns;
  });
  return cells.reduce((sum, each) => sum + each, 0);
}

/** Returns the number of a column by its letters: Z is 26, AA is 27. */
function columnNumber(letters: string): number {
  return Array.from(letters.toUpperCase()).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

/** A spreadsheet keeps a time as a part of a day, which is a little before or after the second. */
function secondOf(date: Date): string {
  return new Date(Math.round(date.getTime() / 1000) * 1000).toISOString().slice(0, 19);
}

/** An error of a formula, such as #N/A. */
const FORMULA_ERROR = /^#[A-Z/0]+[!?]?$/;

function textOf(cell: unknown, withClock: boolean): string {
  if (cell instanceof Date) return withClock ? secondOf(cell) : cell.toISOString().slice(0, 10);
  const text = typeof cell === "string" ? cell.trim() : typeof cell === "number" ? String(cell) : "";
  if (typeof cell === "boolean") return String(cell);
  return FORMULA_ERROR.test(text) ? "" : text;
}

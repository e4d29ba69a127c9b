import { unzipSync } from "fflate";
import readXlsxFile, { InvalidSpreadsheetError } from "read-excel-file/universal";
import { StoredRows } from "./stored-rows.ts";

// The cells of an Excel file, as the texts that a CSV file would have.

/** Max bytes of its parts after unpacking: a file of a few kB can unpack to gigabytes. */
const UNPACKED_BYTES_MAX = 200 * 1024 * 1024;

type SheetContent =
  | { sheet: string; records: StoredRows }
  | { fault: "unpacks_too_large" | "not_xlsx" | "damaged_xlsx" | "no_rows" };

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
    sheets = await readXlsxFile(new Uint8Array(bytes).buffer);
  } catch (error) {
    return { fault: error instanceof InvalidSpreadsheetError ? "not_xlsx" : "damaged_xlsx" };
  }
  for (const { sheet, data } of sheets) {
    const records = new StoredRows();
    for (const [index, row] of data.entries()) {
      const cells = row.map((cell) => textOf(cell, withClock));
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

import type {
  FileChoices,
  FileColumn,
  FileFault,
  FileQuestion,
  FileReading,
  Meaning,
  WeightUnit,
} from "../../dashboard/types/file-import.ts";
import { countKnown, readColumns, unitOfHeader } from "./columns.ts";
import { type CsvRecord, readCsvPieces } from "../../../shared/files/table/csv-records.ts";
import { type DateOrder, decideDateOrder } from "./dates.ts";
import { decode } from "../../../shared/files/table/encoding.ts";
import { readSpreadsheet } from "../../../shared/files/table/spreadsheet.ts";
import { StoredRows } from "../../../shared/files/table/stored-rows.ts";
import { readWeight, unitOf, usesDecimalComma } from "./weights.ts";

// Reads a file of animals, owners or stock and decides what its columns mean. It stores nothing and reads no clock.

export const FILE_BYTES_MAX = 50 * 1024 * 1024;
const FILE_ROWS_MAX = 100_000;

/** Lines above the header, such as a title. */
const TITLE_ROWS_MAX = 10;
const COLUMNS_MAX = 200;
const SAMPLES = 3;
const SAMPLED_ROWS = 50;
const SAMPLE_CHARS_MAX = 40;

/** A file whose columns are decided. */
export interface FileTable {
  readonly reading: FileReading;
  readonly rows: StoredRows;
  /** The position of the column with each meaning. */
  readonly columns: ReadonlyMap<Meaning, number>;
  /** Cells of a row: those of the header. */
  readonly width: number;
  readonly dateOrder: DateOrder;
  readonly weightUnit: WeightUnit | null;
}

/** Reads the bytes of a file. @returns why it cannot be read if it is not a table */
export async function readTable(bytes: Uint8Array, choices: FileChoices): Promise<FileTable | { fault: FileFault }> {
  if (bytes.length > FILE_BYTES_MAX) return fileFault("too_large");
  const content = await (isZip(bytes) ? xlsxContent(bytes) : csvContent(bytes, choices));
  if ("fault" in content) return content;
  const { records: rows, ...source } = content;
  const headerAt = headerRow(rows.slice(0, TITLE_ROWS_MAX));
  const header = rows.at(headerAt)?.cells ?? [];
  rows.skip(headerAt + 1);
  if (rows.length === 0) return fileFault("no_rows");
  if (rows.length > FILE_ROWS_MAX) return fileFault("too_many_rows", String(rows.length));
  const headers = headersOf(header, rows);
  if (headers.length > COLUMNS_MAX) return fileFault("too_many_columns", String(headers.length));
  return tableOf(source, headers, rows, choices);
}

type Source = Pick<FileReading, "format" | "encoding" | "separator" | "sheet">;
type Content = (Source & { records: StoredRows }) | { fault: FileFault };

/** First characters of a page or of data instead of a table. */
const OTHER_TEXT = /^\s*(?:<!doctype|<html|<\?xml|[{[])/i;

async function csvContent(bytes: Uint8Array, choices: FileChoices): Promise<Content> {
  const refused = binaryFault(bytes);
  if (refused !== null) return fileFault(refused);
  const { encoding, pieces } = decode(bytes, choices.encoding);
  const other = textFault(pieces());
  if (other !== null) return fileFault(other);
  const records = new StoredRows();
  const read = await readCsvPieces(pieces(), choices.separator, (record) => records.add(record));
  if ("fault" in read) return { fault: { code: read.fault.code, line: read.fault.line, value: "" } };
  return { format: "csv", encoding, separator: read.separator, sheet: null, records };
}

/** Finds a text of another kind. */
function textFault(pieces: Iterable<string>): string | null {
  let [isFirst, isBlank] = [true, true];
  for (const piece of pieces) {
    if (piece.includes("\0") || (isFirst && OTHER_TEXT.test(piece))) return "not_a_table";
    isFirst = false;
    isBlank &&= piece.trim() === "";
  }
  return isBlank ? "empty_file" : null;
}

async function xlsxContent(bytes: Uint8Array): Promise<Content> {
  const read = await readSpreadsheet(bytes);
  if ("fault" in read) return fileFault(read.fault);
  return { format: "xlsx", encoding: null, separator: null, ...read };
}

/** Whether the bytes start as an archive does, such as an Excel file. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

/** First bytes of PDF, PNG, JPEG, GIF, gzip, RAR and 7z. */
const OTHER_KINDS = ["%PDF", "\x89PNG", "\xff\xd8\xff", "GIF8", "\x1f\x8b", "Rar!", "7z\xbc"];

/** Finds a file of another kind by its first bytes. */
function binaryFault(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return "empty_file";
  const start = Buffer.from(bytes.subarray(0, 8)).toString("latin1");
  // The container of .xls, and of an .xlsx with a password.
  if (start.startsWith("\xd0\xcf\x11\xe0")) return "old_excel";
  return OTHER_KINDS.some((kind) => start.startsWith(kind)) ? "not_a_table" : null;
}

function fileFault(code: string, value = ""): { fault: FileFault } {
  return { fault: { code, line: null, value } };
}

/** Finds the header: the line among the first ones that has most known names. */
function headerRow(records: readonly CsvRecord[]): number {
  const counts = records.map(({ cells }) => countKnown(cells));
  const most = Math.max(0, ...counts);
  return most < 2 ? 0 : counts.indexOf(most);
}

/** Drops the empty columns at the end, which a mark at the end of each line makes. */
function headersOf(cells: readonly string[], rows: StoredRows): string[] {
  let filled = 0;
  for (const row of rows) filled = Math.max(filled, row.cells.findLastIndex((cell) => cell !== "") + 1);
  const named = cells.findLastIndex((cell) => cell !== "") + 1;
  return cells.slice(0, Math.max(named, Math.min(filled, cells.length)));
}

function tableOf(source: Source, headers: readonly string[], rows: StoredRows, choices: FileChoices): FileTable {
  const read = readColumns(headers, choices.columns);
  const kind = kindOf(read.map(({ meaning }) => meaning));
  const columns = new Map<Meaning, number>();
  for (const [index, { meaning }] of read.entries()) {
    const own = meaning === null ? null : meaningIn(kind, meaning);
    if (own !== null && !columns.has(own)) columns.set(own, index);
  }
  const cellsOf = function* (...meanings: Meaning[]) {
    const indexes = meanings.flatMap((meaning) => columns.get(meaning) ?? []);
    if (indexes.length > 0) for (const { cells } of rows) for (const index of indexes) yield cells[index] ?? "";
  };
  const dates = decideDateOrder(cellsOf("birth", "death", "expiry"));
  const dateOrder = choices.date_order ?? dates.order;
  const decimalComma = usesDecimalComma(cellsOf("weight"), source.separator === ";");
  const units = weightUnits(rows, columns, headers[columns.get("weight") ?? -1] ?? "", choices, decimalComma);
  const missing = missingIn(kind, columns);
  const questions: FileQuestion[] = [
    ...(missing.length > 0 ? (["columns"] as const) : []),
    ...(dates.needed && dateOrder === null ? (["date_order"] as const) : []),
    ...(units.isOpen ? (["weight_unit"] as const) : []),
  ];
  const first = rows.slice(0, SAMPLED_ROWS);
  const described = read.map((column, index): FileColumn => ({ ...column, samples: samplesOf(first, index) }));
  const reading: FileReading = {
    ...{ kind, ...source, date_order: dateOrder, decimal_comma: decimalComma, weight_unit: units.unit },
    ...{ key: columns.has(KEYS[kind]) ? "number" : "name", rows: rows.length },
    ...{ columns: described, questions, missing },
  };
  return { reading, rows, columns, width: headers.length, dateOrder: dateOrder ?? "dmy", weightUnit: units.unit };
}

/** The meaning of the number by which a line is known. */
const KEYS = { animals: "id", owners: "owner_id", stock: "sku" } as const;

/** A file with items or quantities and no animal is one of stock; one without species, but with names or addresses of people, of owners. */
function kindOf(meanings: readonly (Meaning | null)[]): FileReading["kind"] {
  const has = (...names: Meaning[]) => names.some((name) => meanings.includes(name));
  const isOfAnimals = has("breed", "microchip", "birth", "sex", "owner", "owner_id", "owner_last", "phone", "email");
  if (!isOfAnimals && has("item", "quantity") && has("sku", "category", "quantity", "lot", "expiry", "threshold")) {
    return "stock";
  }
  return !has("species", "breed", "microchip", "birth", "sex") && has("phone", "email", "owner_last")
    ? "owners"
    : "animals";
}

/** In a file of owners or stock, a number and a name are not an animal's. */
function meaningIn(kind: FileReading["kind"], meaning: Meaning): Meaning {
  return OTHER_MEANINGS[kind][meaning] ?? meaning;
}

const OTHER_MEANINGS: Readonly<Record<FileReading["kind"], Partial<Record<Meaning, Meaning>>>> = {
  animals: {},
  owners: { id: "owner_id", name: "owner" },
  stock: { id: "sku", card: "sku", name: "item", species: "category", weight_unit: "stock_unit" },
};

function missingIn(kind: FileReading["kind"], columns: ReadonlyMap<Meaning, number>): Meaning[] {
  const needed = NEEDED[kind];
  if (kind === "stock") return needed.filter((name) => !columns.has(name));
  const hasOwner = (["owner", "owner_last", "owner_first"] as const).some((name) => columns.has(name));
  const lacksOwner = !hasOwner && (kind === "owners" || !columns.has("owner_id"));
  return [...needed.filter((name) => !columns.has(name)), ...(lacksOwner ? (["owner"] as const) : [])];
}

const NEEDED: Readonly<Record<FileReading["kind"], readonly Meaning[]>> = {
  animals: ["name", "species"],
  owners: [],
  stock: ["item", "category"],
};

/** Decides the unit of the weights that name none. Without it the question stays open: pounds must not be read as kilograms. */
function weightUnits(
  rows: StoredRows,
  columns: ReadonlyMap<Meaning, number>,
  header: string,
  choices: FileChoices,
  decimalComma: boolean,
): { unit: WeightUnit | null; isOpen: boolean } {
  const named = choices.weight_unit ?? unitOf(unitOfHeader(header) ?? "");
  const [weight, unit] = [columns.get("weight"), columns.get("weight_unit") ?? -1];
  if (named !== null || weight === undefined) return { unit: named, isOpen: false };
  for (const { cells } of rows) {
    const read = readWeight(cells[weight] ?? "", { unit: unitOf(cells[unit] ?? ""), decimalComma });
    if ("code" in read && read.code === "no_unit") return { unit: null, isOpen: true };
  }
  return { unit: null, isOpen: false };
}

function samplesOf(rows: readonly CsvRecord[], index: number): string[] {
  const samples: string[] = [];
  for (const { cells } of rows) {
    const cell = cells[index] ?? "";
    if (cell !== "" && samples.length < SAMPLES) samples.push(cell.slice(0, SAMPLE_CHARS_MAX));
  }
  return samples;
}

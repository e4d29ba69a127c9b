import { readCsv, type Separator, SEPARATORS } from "../../../shared/files/table/csv-records.ts";
import type { FileProfileForm } from "../../devices/table/file.ts";
import type { ResultFiles } from "../../protocols/file/profile.ts";
import { fileHeader, readFileMessage } from "../../protocols/file/file-message.ts";
import { columnName } from "../../protocols/file/layouts/records.ts";
import { decodeText } from "../../protocols/file/layouts/file-text.ts";
import { withCells } from "../../protocols/file/spreadsheet-cells.ts";
import type { OpenPoint } from "../../page/types/maker.ts";
import type { Patch } from "../draft.ts";
import { repeatedElement } from "./xml-tree.ts";

// A file of an analyzer that a person brings, and what a profile of it begins with.

export type FileKind = FileProfileForm["file"]["kind"];

export interface OpenedFile {
  readonly kind: FileKind;
  /** The file as a message, a spreadsheet as its cells. */
  readonly message: Uint8Array;
  /** The patch of a blank profile by which this file can be read. */
  readonly begin: Patch;
}

/** Returns the file that the bytes are: a message of a folder, or the content alone. @returns null for bytes that are not text */
export async function openFile(bytes: Uint8Array): Promise<OpenedFile | null> {
  const stored = readFileMessage(bytes);
  const content = stored?.bytes ?? bytes;
  const kind = kindOf(content);
  if (kind === null) return null;
  const head = fileHeader({ name: stored?.name ?? `file.${kind}`, bytes: content.length });
  const framed = stored === null ? Buffer.concat([head, content]) : bytes;
  const layout = { kind, header: { find: [], within: 1 }, separator: "auto", grows: false } as const;
  const message = kind === "xlsx" ? await withCells(framed, { layout } as unknown as ResultFiles) : framed;
  return { kind, message, begin: { file: beginOf(kind, readFileMessage(message)?.bytes ?? content) } };
}

/** Returns whether the bytes are a message of a folder. */
export function isStoredFile(bytes: Uint8Array): boolean {
  return readFileMessage(bytes) !== null;
}

const ZIP = Buffer.from("PK\x03\x04");

function kindOf(bytes: Uint8Array): FileKind | null {
  if (Buffer.from(bytes.subarray(0, 4)).equals(ZIP)) return "xlsx";
  const text = decodeText(bytes, undefined);
  if (/(?![\t-\r])\p{Cc}/u.test(text) || text.trim() === "") return null;
  if (/^\ufeff?\s*<[?!A-Za-z]/.test(text)) return "xml";
  const table = separatorOf(text);
  return table === null ? "txt" : table.separator === "\t" ? "tsv" : "csv";
}

/** Lines within which the header is looked for. */
export const HEADER_LINES = 20;

/** Returns the separator by which most of the first lines have the same number of cells; null for a text that is not a table. */
function separatorOf(text: string): { readonly separator: Separator; readonly rows: readonly string[][] } | null {
  let best: { separator: Separator; rows: string[][]; fit: number } | null = null;
  for (const separator of SEPARATORS) {
    const read = readCsv(text, separator);
    if ("fault" in read) continue;
    const rows = read.records.map(({ cells }) => cells);
    const widths = rows.slice(0, HEADER_LINES).map(({ length }) => length);
    const wide = widths.filter((width) => width > 1 && width === Math.max(...widths)).length;
    const fit = wide * Math.max(0, ...widths);
    if (wide >= 2 && wide >= widths.length / 2 && fit > (best?.fit ?? 0)) best = { separator, rows, fit };
  }
  return best;
}

function beginOf(kind: FileKind, bytes: Uint8Array): Patch {
  switch (kind) {
    case "xlsx": {
      const read = JSON.parse(Buffer.from(bytes).toString()) as { rows?: { cells: string[] }[] };
      return { kind, header: headerPatch((read.rows ?? []).map(({ cells }) => cells)) };
    }
    case "csv":
    case "tsv": {
      const text = decodeText(bytes, undefined);
      const found = separatorOf(text);
      const header = headerPatch(found?.rows ?? []);
      return kind === "tsv" ? { kind, header } : { kind, header, separator: found?.separator ?? "auto" };
    }
    case "txt":
      return { kind, lines: [] };
    case "xml": {
      const records = repeatedElement(bytes);
      return records === null ? { kind } : { kind, records };
    }
  }
}

/** The header is the first line of the table's width that is half full of names, with one number at most. */
function headerPatch(rows: readonly string[][]): Patch {
  const width = Math.max(0, ...rows.slice(0, HEADER_LINES).map(({ length }) => length));
  const isHeader = (cells: readonly string[]) => {
    const filled = cells.filter((cell) => cell.trim() !== "");
    const named = filled.filter((cell) => /\p{L}/u.test(cell)).length;
    return filled.length >= Math.max(2, width / 2) && named >= filled.length - 1;
  };
  const at = Math.max(0, rows.slice(0, HEADER_LINES).findIndex(isHeader));
  return headerOfCells(rows[at] ?? [], HEADER_LINES);
}

/** Names by which a header is found again. */
const NAMES_MAX = 6;

/** Returns the header that these cells are. */
export function headerOfCells(cells: readonly string[], within: number): Patch {
  const names = cells
    .map((cell) => cell.replaceAll("\ufeff", "").trim())
    .filter((cell) => cell !== "" && cell.length <= 100);
  const unique = names.filter((name) => names.filter((each) => columnName(each) === columnName(name)).length === 1);
  return { find: unique.slice(0, NAMES_MAX), within };
}

const BLANK = "new-file";

/** The id of the base without any statement about the files of a kind. */
export function blankBase(kind: FileKind): string {
  return `${BLANK}/${kind}`;
}

/**
 * Returns the form that a base of blankBase() begins with, before its `begin`: what a profile has to state is left open, and
 * `stillOpen()` names it. @returns null for another base
 */
export function blankForm(base: string): FileProfileForm | null {
  const [, kind] = /^new-file\/(csv|tsv|xlsx|txt|xml)$/.exec(base) ?? [];
  if (kind === undefined) return null;
  const form = { schema: 1, profile: BLANK, revision: 1, protocol: "file", device: { name: "Analyzer" } };
  return { ...form, file: { kind }, sample: {}, results: { per: "row" } } as unknown as FileProfileForm;
}

/** Returns what a form has not stated yet. */
export function stillOpen({ file, sample, patient = {}, results }: FileProfileForm): OpenPoint[] {
  const open: OpenPoint[] = [];
  const isNamed = [sample.number, patient.identifier, patient.name].some((source) => source != null);
  if ("header" in file && (file.header?.find ?? []).length === 0) open.push("header");
  if (file.kind === "xml" && (file.records ?? "") === "") open.push("records");
  if (file.kind === "txt" && !(file.lines ?? []).some(({ as }) => as === "result")) open.push("lines");
  if (!isNamed) open.push("sample");
  if (sample.time?.at == null) open.push("time");
  if (results.per === "row") {
    if ((results.names ?? []).length === 0) open.push("code");
    if (results.value == null) open.push("value");
  }
  return open;
}

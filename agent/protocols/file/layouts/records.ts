// The records of a file: rows of a table, blocks or lines of a text, elements of XML.

/** A record with the texts that a profile names. */
export interface FileRecord {
  /** Its place, for a sentence: `line 7`. */
  readonly where: string;
  /** Returns the text at a place: a column, a named group, a path of XML; "" without one. */
  readonly at: (place: string) => string;
  /** The columns of a table in order, by their names. */
  readonly columns: readonly { readonly name: string; readonly text: string }[];
}

/** The records of a file, or why it is not one of its layout. */
export type FileRecords =
  | {
      readonly records: readonly FileRecord[];
      /** Lines that are not read, each with its reason. */
      readonly notes: readonly string[];
      /** A comma cannot be a decimal sign: it separates the cells, or nothing shows what it is. */
      readonly hasPointDecimals: boolean;
    }
  | { readonly problem: string };

/** Returns the position of the column that a place names, by its number (`col 4` is 3) or its name; -1 without one. */
export function columnAt(names: readonly string[], place: string): number {
  const [, number] = /^col (\d{1,3})$/.exec(place) ?? [];
  if (number === undefined) return names.indexOf(columnName(place));
  return Number(number) <= names.length ? Number(number) - 1 : -1;
}

/** Folds the name of a column: case, blanks around and between, a byte order mark. */
export function columnName(text: string): string {
  return text
    .replace(/\u{feff}/gu, "")
    .replace(/[\s_]+/gu, " ")
    .trim()
    .toLowerCase();
}

export const FILE_CHARSETS = [
  ...["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1254"],
  ...["iso-8859-1", "iso-8859-9"],
] as const;
export type FileCharset = (typeof FILE_CHARSETS)[number];

/** The rules by which the bytes of a file become records. */
export type Layout = TableLayout | BlockLayout | XmlLayout;

export interface TableLayout {
  readonly kind: "csv" | "tsv" | "xlsx";
  /** Names of columns that only the header has, and the lines within which it is. */
  readonly header: { readonly find: readonly string[]; readonly within: number };
  readonly separator: "auto" | "," | ";" | "\t" | "|";
  readonly charset?: FileCharset;
  /** The program appends to the file: a line without its end is not complete. */
  readonly grows: boolean;
}

/** Reads the named groups of a line; null for another line. */
export type LinePattern = (line: string) => Readonly<Record<string, string>> | null;

export interface BlockLayout {
  readonly kind: "txt";
  readonly charset?: FileCharset;
  /** Separates the blocks, each of which is one sample; null if the file is one. */
  readonly isSplit: ((line: string) => boolean) | null;
  /** The lines by what they are, the first that matches. A line that no pattern reads makes the block unreadable. */
  readonly lines: readonly { readonly as: "sample" | "result" | "filler"; readonly read: LinePattern }[];
}

export interface XmlLayout {
  readonly kind: "xml";
  /** The name of the elements that are records. */
  readonly records: string;
}

/** Max records of a file. A program that never begins a new one asks for it. */
export const RECORDS_MAX = 20_000;

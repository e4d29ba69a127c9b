import iconv from "iconv-lite";
import { isChinese } from "../utf8.ts";
import { PARTS_MAX, withinParts } from "../parts.ts";
import { escapeText, hexadecimal, printable, unescapeText } from "../escape-sequences.ts";

// Records of ASTM E1394 / CLSI LIS02-A2. Fields, repeats and components count from 1, as in the standard; field 1 is
// the record type.

export interface Delimiters {
  readonly field: string;
  readonly repeat: string;
  readonly component: string;
  /** null if the header declares none (`H|\^|`). */
  readonly escape: string | null;
}

export const STANDARD_DELIMITERS: Delimiters = { field: "|", repeat: "\\", component: "^", escape: "&" };

/** Charsets of devices that send neither UTF-8 nor Latin-1: IBM 850 and Windows code pages. */
export const CHARSETS = [
  "cp850",
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "windows-1257",
] as const;
export type Charset = (typeof CHARSETS)[number];

/** Chinese text is detected, and needs no profile. */
type TextCharset = Charset | "gb18030";

/** Max records of a message, empty lines included; a longer one is unreadable. The largest seen has 125. */
const RECORDS_MAX = 100_000;

export class AstmRecord {
  readonly #fields: readonly string[];
  readonly #delimiters: Delimiters;
  readonly #charset: TextCharset;

  constructor(text: string, delimiters: Delimiters, charset: TextCharset = "windows-1252") {
    this.#delimiters = delimiters;
    this.#charset = charset;
    this.#fields = text.split(delimiters.field);
  }

  /** H, P, O, R, C, M, Q, S or L in upper case (types are case-insensitive, §5.5). */
  get type(): string {
    return (this.#fields[0] ?? "").trim().toUpperCase();
  }

  /** Returns the unescaped text of a field with its repeats and components still joined, "" for a missing field. */
  field(number: number): string {
    return this.#unescape(this.raw(number));
  }

  /** Returns the n-th component of the field's first repeat, unescaped. */
  component(number: number, component: number): string {
    return this.components(number)[component - 1] ?? "";
  }

  /** Returns the components of the field's first repeat, unescaped. */
  components(number: number): string[] {
    return this.repeats(number)[0] ?? [];
  }

  /** Returns every repeat of the field as its components. Escapes are decoded after splitting (§5.4.5). */
  repeats(number: number): string[][] {
    const { repeat, component } = this.#delimiters;
    return this.raw(number)
      .split(repeat)
      .map((text) => text.split(component).map((part) => this.#unescape(part)));
  }

  /** Returns the field as sent. */
  raw(number: number): string {
    return this.#fields[number - 1] ?? "";
  }

  /** Number of sent fields, the type included. */
  get length(): number {
    return this.#fields.length;
  }

  #unescape(text: string): string {
    const mark = this.#delimiters.escape;
    return mark === null
      ? text
      : unescapeText(text, mark, (code) => decodeEscape(code, this.#delimiters, this.#charset));
  }
}

export interface AstmMessage {
  readonly delimiters: Delimiters;
  /** The first is the H record. */
  readonly records: readonly AstmRecord[];
}

/** Parses one H..L message. `charset`: of text that is not UTF-8. @returns the problem of an unreadable message */
export function parseRecords(
  message: Uint8Array,
  charset: TextCharset = isChinese(message) ? "gb18030" : "windows-1252",
): AstmMessage | { readonly problem: string } {
  // RECORDS_MAX, one for the empty piece after the last CR, and one to detect more.
  const pieces = decodeText(message, charset).split("\r", RECORDS_MAX + 2);
  if (pieces.length > RECORDS_MAX + 1) return { problem: `more than ${RECORDS_MAX} records` };
  const lines = pieces.map((line) => (line.startsWith("\n") ? line.slice(1) : line)).filter((line) => line !== "");
  const header = lines[0];
  if (header === undefined) return { problem: "the message is empty" };
  if (header[0]?.toUpperCase() !== "H") return { problem: `the first record is ${printable(header)}, expected H` };
  const delimiters = readDelimiters(header);
  if ("problem" in delimiters) return delimiters;

  if (withinParts(lines, Object.values(delimiters)).leftOut > 0)
    return { problem: `more than ${PARTS_MAX} separators` };
  const records: AstmRecord[] = [];
  for (const [index, line] of lines.entries()) {
    // Field 2 of H declares the delimiters and must not be split at them.
    const record = new AstmRecord(index === 0 ? maskDelimiters(line, delimiters) : line, delimiters, charset);
    if (!/^[A-Z]$/.test(record.type))
      return { problem: `record ${index + 1} is ${printable(line)}, expected a type letter` };
    if (record.type === "H" && index > 0) return { problem: `record ${index + 1} is a second H` };
    records.push(record);
  }
  return { delimiters, records };
}

/** Encodes a record without its CR, with escapes: the inverse of AstmRecord. */
export function encodeRecord(
  type: string,
  fields: readonly (string | readonly (readonly string[])[])[],
  delimiters: Delimiters = STANDARD_DELIMITERS,
): string {
  const codes = new Map([
    [delimiters.field, "F"],
    [delimiters.repeat, "R"],
    [delimiters.component, "S"],
    [delimiters.escape, "E"],
  ]);
  const escaped = (text: string) => escapeText(text, delimiters.escape, codes);
  const encoded = fields.map((field) => {
    const repeats = typeof field === "string" ? [[field]] : field;
    return repeats.map((components) => components.map(escaped).join(delimiters.component)).join(delimiters.repeat);
  });
  return [type, ...encoded].join(delimiters.field);
}

/** Reads the declaration of the H record, `H|\^&`, by position: any four characters may be declared. */
function readDelimiters(header: string): Delimiters | { readonly problem: string } {
  const [field, repeat, component, fourth] = [header[1], header[2], header[3], header[4]];
  const escapeMark = fourth === undefined || fourth === field || fourth === " " ? null : fourth;
  const used = [field, repeat, component, ...(escapeMark === null ? [] : [escapeMark])];
  const usable = used.every((char) => char !== undefined && !/[A-Za-z0-9\s]/.test(char));
  if (!usable || new Set(used).size !== used.length) {
    return {
      problem: `the header starts with ${printable(header)}, expected H and four different delimiters such as H|\\^&`,
    };
  }
  return { field: field as string, repeat: repeat as string, component: component as string, escape: escapeMark };
}

function maskDelimiters(header: string, delimiters: Delimiters): string {
  return `H${delimiters.field}${header.slice(delimiters.escape === null ? 4 : 5)}`;
}

function decodeEscape(code: string, delimiters: Delimiters, charset: TextCharset): string | null {
  switch (code.toUpperCase()) {
    case "F":
      return delimiters.field;
    case "R":
      return delimiters.repeat;
    case "S":
      return delimiters.component;
    case "E":
      return delimiters.escape;
    case "H":
    case "N":
      return ""; // highlighting on and off
    default: {
      const bytes = hexadecimal(code);
      return bytes === null ? null : decodeText(bytes, charset);
    }
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const UNDEFINED = "\ufffd";

/** Decodes a complete message, never a field. The standard prescribes Latin-1 (§5.1), but devices send UTF-8 too. */
function decodeText(bytes: Uint8Array, charset: TextCharset): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const text = iconv.decode(bytes, charset);
    if (charset === "gb18030") return text;
    // The other charsets have one byte per character. A byte that the code page leaves undefined is read as Latin-1.
    return text.includes(UNDEFINED)
      ? Array.from(text, (char, index) => (char === UNDEFINED ? String.fromCharCode(bytes[index]!) : char)).join("")
      : text;
  }
}

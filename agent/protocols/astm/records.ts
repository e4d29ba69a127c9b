import iconv from "iconv-lite";
import { escapeText, hexadecimal, printable, unescapeText } from "../escape-sequences.ts";

// ASTM E1394 / CLSI LIS02-A2 records. Fields, repeats and components are numbered as the standard numbers them: from 1,
// and field 1 is the record type.

export interface Delimiters {
  readonly field: string;
  readonly repeat: string;
  readonly component: string;
  /** null: the header declares none (`H|\^|`). */
  readonly escape: string | null;
}

export const STANDARD_DELIMITERS: Delimiters = { field: "|", repeat: "\\", component: "^", escape: "&" };

/** What devices write that send neither UTF-8 nor Latin-1: IBM 850 and the Windows code pages of the languages around it. */
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

/** More records than this (empty lines count too) are no message: the largest seen has 125. */
const RECORDS_MAX = 100_000;

export class AstmRecord {
  readonly #fields: readonly string[];
  readonly #delimiters: Delimiters;
  readonly #charset: Charset;

  constructor(text: string, delimiters: Delimiters, charset: Charset = "windows-1252") {
    this.#delimiters = delimiters;
    this.#charset = charset;
    this.#fields = text.split(delimiters.field);
  }

  /** H, P, O, R, C, M, Q, S or L, upper case (types are case-insensitive, §5.5). */
  get type(): string {
    return (this.#fields[0] ?? "").trim().toUpperCase();
  }

  /** The field's text, unescaped, its repeats and components still joined; "" when it is not there. */
  field(number: number): string {
    return this.#unescape(this.raw(number));
  }

  /** The n-th component of the field's first repeat, unescaped. */
  component(number: number, component: number): string {
    return this.components(number)[component - 1] ?? "";
  }

  /** The components of the field's first repeat, unescaped. */
  components(number: number): string[] {
    return this.repeats(number)[0] ?? [];
  }

  /** Every repeat of the field, each as its components. Escapes are decoded after splitting (§5.4.5). */
  repeats(number: number): string[][] {
    const { repeat, component } = this.#delimiters;
    return this.raw(number)
      .split(repeat)
      .map((text) => text.split(component).map((part) => this.#unescape(part)));
  }

  /** The field as it was sent. */
  raw(number: number): string {
    return this.#fields[number - 1] ?? "";
  }

  /** How many fields were sent, the type included. */
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

/** The records of one H..L message, or why they cannot be read. `charset`: of text that is no UTF-8. */
export function parseRecords(
  message: Uint8Array,
  charset: Charset = "windows-1252",
): AstmMessage | { readonly problem: string } {
  // One more than RECORDS_MAX for the empty piece after the last CR, and one to see that there are more.
  const pieces = decodeText(message, charset).split("\r", RECORDS_MAX + 2);
  if (pieces.length > RECORDS_MAX + 1) return { problem: `more than ${RECORDS_MAX} records` };
  const lines = pieces.map((line) => (line.startsWith("\n") ? line.slice(1) : line)).filter((line) => line !== "");
  const header = lines[0];
  if (header === undefined) return { problem: "the message is empty" };
  if (header[0]?.toUpperCase() !== "H") return { problem: `the first record is ${printable(header)}, expected H` };
  const delimiters = readDelimiters(header);
  if ("problem" in delimiters) return delimiters;

  const records: AstmRecord[] = [];
  for (const [index, line] of lines.entries()) {
    // Field 2 of H holds the delimiters themselves and must not be split at them.
    const record = new AstmRecord(index === 0 ? maskDelimiters(line, delimiters) : line, delimiters, charset);
    if (!/^[A-Z]$/.test(record.type))
      return { problem: `record ${index + 1} is ${printable(line)}, expected a type letter` };
    if (record.type === "H" && index > 0) return { problem: `record ${index + 1} is a second H` };
    records.push(record);
  }
  return { delimiters, records };
}

/** A record's text without its CR. Plain text in, escapes out: the mirror of AstmRecord. */
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

/** The H record's declaration: `H|\^&`. Its four characters are read by position, whatever they are. */
function readDelimiters(header: string): Delimiters | { readonly problem: string } {
  const [field, repeat, component, fourth] = [header[1], header[2], header[3], header[4]];
  const escapeMark = fourth === undefined || fourth === field || fourth === " " ? null : fourth;
  const used = [field, repeat, component, ...(escapeMark === null ? [] : [escapeMark])];
  const usable = used.every((char) => char !== undefined && !/[A-Za-z0-9\s]/.test(char));
  if (!usable || new Set(used).size !== used.length) {
    return {
      problem: `the header begins ${printable(header)}, expected H and four different delimiters such as H|\\^&`,
    };
  }
  return { field: field as string, repeat: repeat as string, component: component as string, escape: escapeMark };
}

function maskDelimiters(header: string, delimiters: Delimiters): string {
  return `H${delimiters.field}${header.slice(delimiters.escape === null ? 4 : 5)}`;
}

function decodeEscape(code: string, delimiters: Delimiters, charset: Charset): string | null {
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

/** The standard says Latin-1 (§5.1), devices send UTF-8 as well: decided once per message, never per field. */
function decodeText(bytes: Uint8Array, charset: Charset): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const text = iconv.decode(bytes, charset);
    // One byte is one character here, so a byte that the code page leaves open stays what it is in Latin-1.
    return text.includes(UNDEFINED)
      ? Array.from(text, (char, index) => (char === UNDEFINED ? String.fromCharCode(bytes[index]!) : char)).join("")
      : text;
  }
}

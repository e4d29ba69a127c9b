import iconv from "iconv-lite";
import { CR, LF } from "../bytes.ts";
import { escapeText, hexadecimal, printable, unescapeText } from "../escape-sequences.ts";

// HL7 v2 messages. Fields, repetitions, components and sub-components count from 1, as in the standard; MSH-1 is the
// field separator itself. Segments are split on first access.

export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string;
  /** null if the header declares none (`MSH|^~|`). */
  readonly escape: string | null;
  readonly subcomponent: string | null;
}

export const STANDARD_DELIMITERS: Delimiters = {
  field: "|",
  component: "^",
  repetition: "~",
  escape: "\\",
  subcomponent: "&",
};

/** MSH-18: table 0211, and values of devices. All known analyzers with UNICODE send UTF-8. */
const STATED_CHARSETS = {
  UNICODE: "utf-8",
  "UNICODE UTF-8": "utf-8",
  "UTF-8": "utf-8",
  UTF8: "utf-8",
  "8859/1": "windows-1252",
  "8859/2": "iso-8859-2",
  "8859/3": "iso-8859-3",
  "8859/4": "iso-8859-4",
  "8859/5": "iso-8859-5",
  "8859/6": "iso-8859-6",
  "8859/7": "iso-8859-7",
  "8859/8": "iso-8859-8",
  "8859/9": "windows-1254",
  "8859/15": "iso-8859-15",
  "GB 18030-2000": "gb18030",
  "GB 18030": "gb18030",
  GB18030: "gb18030",
  "BIG-5": "big5",
  "KS X 1001": "euc-kr",
  "ISO IR87": "iso-2022-jp",
} as const;
export type Charset = (typeof STATED_CHARSETS)[keyof typeof STATED_CHARSETS];
export const CHARSETS: readonly Charset[] = [...new Set(Object.values(STATED_CHARSETS))];

export interface CharsetOptions {
  /** Overrides MSH-18: some devices declare ASCII and send another charset. */
  readonly charset?: Charset;
  /** Charset of undeclared text that is not UTF-8; default windows-1252. */
  readonly fallbackCharset?: Charset;
}

/** Max segments of a message; a longer one is unreadable. The largest seen has 1300. */
const SEGMENTS_MAX = 100_000;

/** Repetitions of an empty field. */
const NOTHING: readonly (readonly string[])[] = [[""]];

export class Segment {
  /** Three letters or digits in upper case. */
  readonly name: string;
  /** Text as sent, without its line end; continuation lines are joined with LF. */
  readonly text: string;
  readonly #delimiters: Delimiters;
  readonly #charset: Charset;
  #fields: string[] | null = null;
  /** Split fields by number. A reader accesses the same few fields of every row. */
  readonly #repetitions: (readonly (readonly string[])[])[] = [];

  constructor(text: string, delimiters: Delimiters, charset: Charset = "utf-8") {
    this.name = text.slice(0, 3).toUpperCase();
    this.text = text;
    this.#delimiters = delimiters;
    this.#charset = charset;
  }

  /**
   * Returns the unescaped text of a field, delimiters included, because free text may hold a bare `&`. "" for a missing
   * field.
   */
  field(number: number): string {
    return this.#unescape(this.raw(number));
  }

  /** Returns the n-th component of the field's first repetition, unescaped, with its sub-components still joined. */
  component(number: number, component: number): string {
    const raw = this.raw(number);
    if (this.#isOnePart(raw)) return component === 1 ? raw : "";
    return this.components(number)[component - 1] ?? "";
  }

  /** Returns the components of the field's first repetition, unescaped. */
  components(number: number): readonly string[] {
    return this.repetitions(number)[0] ?? [];
  }

  /** Returns every repetition of the field as its components. */
  repetitions(number: number): readonly (readonly string[])[] {
    const raw = this.raw(number);
    if (raw === "") return NOTHING;
    if (this.#isOnePart(raw)) return [[raw]];
    this.#repetitions[number] ??= this.#split(number).map((components) =>
      components.map((text) => this.#unescape(text)),
    );
    return this.#repetitions[number];
  }

  /** Returns the sub-components of the n-th component of the field's first repetition. */
  subcomponents(number: number, component: number): string[] {
    const text = this.#split(number)[0]?.[component - 1] ?? "";
    return splitAt(text, this.#delimiters.subcomponent).map((part) => this.#unescape(part));
  }

  /** Returns the field as sent. */
  raw(number: number): string {
    this.#fields ??= this.#splitFields();
    return this.#fields[number] ?? "";
  }

  /** Number of the last sent field. */
  get length(): number {
    this.#fields ??= this.#splitFields();
    return this.#fields.length - 1;
  }

  #splitFields(): string[] {
    const fields = this.text.split(this.#delimiters.field);
    if (this.name === "MSH") fields.splice(1, 0, this.#delimiters.field);
    return fields;
  }

  /** Returns whether the text has neither delimiters nor escapes, as most fields. */
  #isOnePart(text: string): boolean {
    const { repetition, component, escape: mark } = this.#delimiters;
    return !text.includes(component) && !text.includes(repetition) && !(mark !== null && text.includes(mark));
  }

  /** Splits before escapes are decoded: an escaped delimiter is text. */
  #split(number: number): string[][] {
    const { repetition, component } = this.#delimiters;
    // MSH-2 holds the delimiters themselves.
    if (this.name === "MSH" && number <= 2) return [[this.raw(number)]];
    return this.raw(number)
      .split(repetition)
      .map((text) => text.split(component));
  }

  #unescape(text: string): string {
    const mark = this.#delimiters.escape;
    if (mark === null || !text.includes(mark)) return text;
    return unescapeText(text, mark, (code) => decodeEscape(code, this.#delimiters, this.#charset));
  }
}

export interface Hl7Message {
  readonly delimiters: Delimiters;
  readonly charset: Charset;
  /** Characters that could not be decoded, as U+FFFD. */
  readonly replacements: number;
  readonly header: Segment;
  /** Segments as sent; the first is the header. */
  readonly segments: readonly Segment[];
}

/** Parses one message with one MSH. @returns the problem of an unreadable message */
export function parseMessage(
  bytes: Uint8Array,
  options: CharsetOptions = {},
): Hl7Message | { readonly problem: string } {
  const { text, charset } = decodeText(bytes, options);
  // SEGMENTS_MAX, one for the empty piece after the last line end, and one to detect more.
  const lines = text.split(/[\r\n]+/, SEGMENTS_MAX + 2);
  if (lines.length > SEGMENTS_MAX + 1) return { problem: `more than ${SEGMENTS_MAX} segments` };
  // Only batch headers may precede MSH.
  const first = lines.findIndex((line) => line.trimStart() !== "" && !/^\s*[FB]HS/i.test(line));
  const header = lines[first]?.trimStart();
  if (header === undefined) return { problem: "the message is empty" };
  if (!/^MSH/i.test(header)) return { problem: `the first segment is ${printable(header)}, expected MSH` };
  const delimiters = readDelimiters(header);
  if ("problem" in delimiters) return delimiters;

  const texts = segmentTexts(header, lines.slice(first + 1), delimiters.field);
  const segments = texts.map((segment) => new Segment(segment, delimiters, charset));
  const second = segments.findIndex(({ name }, index) => name === "MSH" && index > 0);
  if (second > 0) return { problem: `segment ${second + 1} is a second MSH` };
  return { delimiters, charset, replacements: text.split("\ufffd").length - 1, header: segments[0]!, segments };
}

/** Splits a frame into its messages: each MSH at the start of a line begins one. */
export function splitMessages(payload: Uint8Array): Uint8Array[] {
  const starts = [0];
  let begun = false;
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  for (let at = bytes.indexOf("MSH"); at >= 0; at = bytes.indexOf("MSH", at + 1)) {
    if (!beginsHeader(payload, at)) continue;
    // Text before the first MSH belongs to the first message.
    if (begun) starts.push(at);
    begun = true;
  }
  return starts.map((start, index) => payload.subarray(start, starts[index + 1]));
}

/** A message without MSH-7 and MSH-10, which differ in a resend. One character per byte. */
export interface Unstamped {
  /** MSH-9. */
  readonly type: string;
  /** MSH-10. */
  readonly id: string;
  readonly header: string;
  /** Offset of the header's line end. */
  readonly end: number;
}

/**
 * Returns null if no line begins with MSH. Called twice for most messages while the device waits, so it splits as
 * little as possible.
 */
export function withoutStamp(message: Uint8Array): Unstamped | null {
  let start = message.indexOf(LETTER_M);
  while (start >= 0 && !beginsHeader(message, start)) start = message.indexOf(LETTER_M, start + 1);
  if (start < 0) return null;
  const end = endOfLine(message, start);
  const text = Buffer.from(message.buffer, message.byteOffset + start, end - start).toString("latin1");
  // MSH-1 is the separator itself, so MSH-n stands behind the (n-1)th separator.
  const separators: number[] = [];
  for (let at = 3; at >= 0 && separators.length < 10; at = text.indexOf(text[3]!, at + 1)) separators.push(at);
  const begin = (field: number) => (separators[field - 2] ?? text.length - 1) + 1;
  const stop = (field: number) => separators[field - 1] ?? text.length;
  const field = (number: number) => text.slice(begin(number), stop(number));
  const header = text.slice(0, begin(7)) + text.slice(stop(7), begin(10)) + text.slice(stop(10));
  return { type: field(9), id: field(10), header, end };
}

/** Returns the offset of the next CR or LF, or the end of the bytes. */
export function endOfLine(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end < bytes.length && bytes[end] !== CR && bytes[end] !== LF) end += 1;
  return end;
}

/** Field as text or repetitions of components; component as text or sub-components. */
export type Field = string | readonly (readonly (string | readonly string[])[])[];

/** Encodes a segment without its CR, with escapes: the inverse of Segment. It does not support MSH. */
export function encodeSegment(name: string, fields: readonly Field[], delimiters = STANDARD_DELIMITERS): string {
  const { field, repetition, component, subcomponent } = delimiters;
  const escaped = (text: string) => escapeField(text, delimiters);
  const encoded = fields.map((value) => {
    if (typeof value === "string") return escaped(value);
    const repetitions = value.map((components) =>
      components.map((part) =>
        typeof part === "string" ? escaped(part) : part.map(escaped).join(subcomponent ?? component),
      ),
    );
    return repetitions.map((components) => components.join(component)).join(repetition);
  });
  return [name, ...encoded].join(field);
}

/** Escapes text for a field. */
export function escapeField(text: string, { field, component, repetition, escape: mark, subcomponent }: Delimiters) {
  const codes = new Map([
    [field, "F"],
    [component, "S"],
    [repetition, "R"],
    [mark, "E"],
    [subcomponent, "T"],
  ]);
  return escapeText(text, mark, codes);
}

/** Encodes text; characters outside the charset become `?`. */
export function encodeText(text: string, charset: Charset): Uint8Array {
  return iconv.encode(text, iconv.encodingExists(charset) ? charset : "ascii");
}

const LETTER_M = 0x4d;
const LETTER_S = 0x53;
const LETTER_H = 0x48;

/** Compares bytes before decoding: no supported charset has CR or LF within a character. */
function beginsHeader(payload: Uint8Array, at: number): boolean {
  const before = payload[at - 1];
  if (at > 0 && before !== CR && before !== LF) return false;
  if (payload[at] !== LETTER_M || payload[at + 1] !== LETTER_S || payload[at + 2] !== LETTER_H) return false;
  const separator = payload[at + 3];
  return separator !== undefined && /[^A-Za-z0-9\s]/.test(String.fromCharCode(separator));
}

/** Reads MSH-1 and MSH-2 by position. Results do not use a fifth character (truncation, v2.7). */
function readDelimiters(header: string): Delimiters | { readonly problem: string } {
  const [field = "", ...rest] = header.slice(3, 8);
  const end = rest.indexOf(field);
  const [component, repetition, escapeMark, subcomponent] = end < 0 ? rest : rest.slice(0, end);
  const used = [field, component, repetition, escapeMark ?? null, subcomponent ?? null].filter((char) => char !== null);
  const usable = used.every((char) => char !== undefined && /^[!-/:-@[-`{-~]$/.test(char));
  if (!usable || new Set(used).size !== used.length) {
    return { problem: `the header begins ${printable(header)}, expected MSH and different delimiters such as |^~\\&` };
  }
  return {
    field,
    component: component as string,
    repetition: repetition as string,
    escape: escapeMark ?? null,
    subcomponent: subcomponent ?? null,
  };
}

/** Joins continuation lines: some devices break long text into lines, and only some lines begin a segment. */
function segmentTexts(header: string, lines: readonly string[], field: string): string[] {
  const texts = [header];
  for (const line of lines) {
    const text = line.trimStart();
    if (text === "") continue;
    if (beginsSegment(text, field)) texts.push(text);
    else texts[texts.length - 1] += `\n${line}`;
  }
  return texts;
}

/** Returns whether a line begins a segment. */
export function beginsSegment(text: string, field: string): boolean {
  if (text.length === 3) return /^[A-Z][A-Z0-9]{2}$/.test(text);
  return text[3] === field && /^[A-Za-z][A-Za-z0-9]{2}/.test(text);
}

function splitAt(text: string, delimiter: string | null): string[] {
  return delimiter === null ? [text] : text.split(delimiter);
}

/** Decodes an escape (chapter 2, "Use of escape sequences in text fields"). @returns null for an unknown code */
function decodeEscape(code: string, delimiters: Delimiters, charset: Charset): string | null {
  switch (code) {
    case "F":
      return delimiters.field;
    case "S":
      return delimiters.component;
    case "R":
      return delimiters.repetition;
    case "E":
      return delimiters.escape;
    case "T":
      return delimiters.subcomponent;
    case "H":
    case "N":
      return ""; // highlighting on and off
    case ".br":
      return "\n";
    default: {
      const bytes = hexadecimal(code);
      return bytes === null ? null : decodeFrom(charset, bytes);
    }
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Drops a leading byte order mark; an invalid byte becomes U+FFFD. */
function decodeFrom(charset: Charset, bytes: Uint8Array): string {
  return iconv.encodingExists(charset) ? iconv.decode(bytes, charset) : new TextDecoder(charset).decode(bytes);
}

/** Decodes the whole message before splitting: hundreds of GB 18030 characters end with the byte of a delimiter. */
function decodeText(
  bytes: Uint8Array,
  { charset, fallbackCharset = "windows-1252" }: CharsetOptions,
): { readonly text: string; readonly charset: Charset } {
  const stated = charset ?? statedCharset(bytes);
  if (stated !== null) return { text: decodeFrom(stated, bytes), charset: stated };
  try {
    return { text: utf8.decode(bytes), charset: "utf-8" };
  } catch {
    return { text: decodeFrom(fallbackCharset, bytes), charset: fallbackCharset };
  }
}

/** Bytes that are searched for MSH-18. */
const HEADER_BYTES_MAX = 2_048;

/**
 * Reads the first repetition of MSH-18. ASCII counts as undeclared, because devices declare it and send another
 * charset.
 */
function statedCharset(bytes: Uint8Array): Charset | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES_MAX)).toString("latin1");
  const [, field, rest] = /(?:^|[^A-Za-z0-9])MSH([^A-Za-z0-9\s])([^\r\n]*)/.exec(head) ?? [];
  if (field === undefined || rest === undefined) return null;
  const repetition = rest[1] ?? "";
  const stated = (rest.split(field)[16] ?? "").split(repetition)[0]?.trim().toUpperCase() ?? "";
  return Object.hasOwn(STATED_CHARSETS, stated) ? STATED_CHARSETS[stated as keyof typeof STATED_CHARSETS] : null;
}

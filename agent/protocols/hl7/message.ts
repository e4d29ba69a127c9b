import iconv from "iconv-lite";
import { CR, LF } from "../bytes.ts";
import { escapeText, hexadecimal, printable, unescapeText } from "../escape-sequences.ts";

// HL7 v2 messages. Segments' fields, repetitions, components and sub-components are numbered as the standard numbers them:
// from 1, and MSH-1 is the field separator itself. Nothing is split before it is asked for.

export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string;
  /** null: the header declares none (`MSH|^~|`). */
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

/** MSH-18 (table 0211, and what devices write there). Every analyzer seen that says UNICODE means UTF-8. */
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
  /** Whatever MSH-18 says: some devices say ASCII and send something else. */
  readonly charset?: Charset;
  /** Of text that says nothing and is no UTF-8; windows-1252 if not given. */
  readonly fallbackCharset?: Charset;
}

/** More segments than this are no message: the largest seen has 1300. */
const SEGMENTS_MAX = 100_000;

/** The repetitions of an empty field. */
const NOTHING: readonly (readonly string[])[] = [[""]];

export class Segment {
  /** Three letters or digits, upper case. */
  readonly name: string;
  /** As it was sent, without its line end; a continuation line is joined with LF. */
  readonly text: string;
  readonly #delimiters: Delimiters;
  readonly #charset: Charset;
  #fields: string[] | null = null;
  /** By the field's number, of those that have more than one part: a reader comes back to the same few, in every row. */
  readonly #repetitions: (readonly (readonly string[])[])[] = [];

  constructor(text: string, delimiters: Delimiters, charset: Charset = "utf-8") {
    this.name = text.slice(0, 3).toUpperCase();
    this.text = text;
    this.#delimiters = delimiters;
    this.#charset = charset;
  }

  /** The field's text, unescaped, whatever delimiters stand in it: free text may hold a bare `&`. "" when it is not there. */
  field(number: number): string {
    return this.#unescape(this.raw(number));
  }

  /** The n-th component of the field's first repetition, unescaped, its sub-components still joined. */
  component(number: number, component: number): string {
    const raw = this.raw(number);
    if (this.#isOnePart(raw)) return component === 1 ? raw : "";
    return this.components(number)[component - 1] ?? "";
  }

  /** The components of the field's first repetition, unescaped. */
  components(number: number): readonly string[] {
    return this.repetitions(number)[0] ?? [];
  }

  /** Every repetition of the field, each as its components. */
  repetitions(number: number): readonly (readonly string[])[] {
    const raw = this.raw(number);
    if (raw === "") return NOTHING;
    if (this.#isOnePart(raw)) return [[raw]];
    this.#repetitions[number] ??= this.#split(number).map((components) =>
      components.map((text) => this.#unescape(text)),
    );
    return this.#repetitions[number];
  }

  /** The sub-components of the n-th component of the field's first repetition. */
  subcomponents(number: number, component: number): string[] {
    const text = this.#split(number)[0]?.[component - 1] ?? "";
    return splitAt(text, this.#delimiters.subcomponent).map((part) => this.#unescape(part));
  }

  /** The field as it was sent. */
  raw(number: number): string {
    this.#fields ??= this.#splitFields();
    return this.#fields[number] ?? "";
  }

  /** The number of the last field that was sent. */
  get length(): number {
    this.#fields ??= this.#splitFields();
    return this.#fields.length - 1;
  }

  #splitFields(): string[] {
    const fields = this.text.split(this.#delimiters.field);
    if (this.name === "MSH") fields.splice(1, 0, this.#delimiters.field);
    return fields;
  }

  /** What most fields are: nothing in it is to be split, and nothing to be unescaped. */
  #isOnePart(text: string): boolean {
    const { repetition, component, escape: mark } = this.#delimiters;
    return !text.includes(component) && !text.includes(repetition) && !(mark !== null && text.includes(mark));
  }

  /** Delimiters are found before escapes are decoded: an escaped one is text. */
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
  /** Characters that the charset does not have, decoded as U+FFFD. */
  readonly replacements: number;
  readonly header: Segment;
  /** In the order they were sent; the first is the header. */
  readonly segments: readonly Segment[];
}

/** One message with one MSH, or why it cannot be read. */
export function parseMessage(
  bytes: Uint8Array,
  options: CharsetOptions = {},
): Hl7Message | { readonly problem: string } {
  const { text, charset } = decodeText(bytes, options);
  // One more for the empty piece after the last line end, and one to see that there are more.
  const lines = text.split(/[\r\n]+/, SEGMENTS_MAX + 2);
  if (lines.length > SEGMENTS_MAX + 1) return { problem: `more than ${SEGMENTS_MAX} segments` };
  // What stands before MSH: nothing, or the headers of a batch.
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

/** A frame may hold several messages: each MSH at the beginning of a line begins one. */
export function splitMessages(payload: Uint8Array): Uint8Array[] {
  const starts = [0];
  let begun = false;
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  for (let at = bytes.indexOf("MSH"); at >= 0; at = bytes.indexOf("MSH", at + 1)) {
    if (!beginsHeader(payload, at)) continue;
    // What stands before the first MSH belongs to it.
    if (begun) starts.push(at);
    begun = true;
  }
  return starts.map((start, index) => payload.subarray(start, starts[index + 1]));
}

/** A message without what changes when it is sent again: its MSH-7 and MSH-10. One character a byte. */
export interface Unstamped {
  /** MSH-9. */
  readonly type: string;
  /** MSH-10. */
  readonly id: string;
  readonly header: string;
  /** Where the header's line ends in the message. */
  readonly end: number;
}

/** Null where no line begins with MSH. Asked of most messages twice, while their device waits: nothing is split that need not be. */
export function withoutStamp(message: Uint8Array): Unstamped | null {
  let start = message.indexOf(LETTER_M);
  while (start >= 0 && !beginsHeader(message, start)) start = message.indexOf(LETTER_M, start + 1);
  if (start < 0) return null;
  const end = endOfLine(message, start);
  const text = Buffer.from(message.buffer, message.byteOffset + start, end - start).toString("latin1");
  // MSH-1 is the separator itself: MSH-n stands behind the (n-1)th.
  const separators: number[] = [];
  for (let at = 3; at >= 0 && separators.length < 10; at = text.indexOf(text[3]!, at + 1)) separators.push(at);
  const begin = (field: number) => (separators[field - 2] ?? text.length - 1) + 1;
  const stop = (field: number) => separators[field - 1] ?? text.length;
  const field = (number: number) => text.slice(begin(number), stop(number));
  const header = text.slice(0, begin(7)) + text.slice(stop(7), begin(10)) + text.slice(stop(10));
  return { type: field(9), id: field(10), header, end };
}

/** The first CR or LF from there, or the end of the bytes. */
export function endOfLine(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end < bytes.length && bytes[end] !== CR && bytes[end] !== LF) end += 1;
  return end;
}

/** A field as plain text, or as its repetitions of components; a component as plain text, or as its sub-components. */
export type Field = string | readonly (readonly (string | readonly string[])[])[];

/** A segment's text without its CR. Plain text in, escapes out: the mirror of Segment. Not for MSH. */
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

/** Plain text as a field may hold it. */
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

/** What the charset does not have becomes `?`. */
export function encodeText(text: string, charset: Charset): Uint8Array {
  return iconv.encode(text, iconv.encodingExists(charset) ? charset : "ascii");
}

const LETTER_M = 0x4d;
const LETTER_S = 0x53;
const LETTER_H = 0x48;

/** Bytes may be compared before they are decoded: no charset of ours has CR or LF within a character. */
function beginsHeader(payload: Uint8Array, at: number): boolean {
  const before = payload[at - 1];
  if (at > 0 && before !== CR && before !== LF) return false;
  if (payload[at] !== LETTER_M || payload[at + 1] !== LETTER_S || payload[at + 2] !== LETTER_H) return false;
  const separator = payload[at + 3];
  return separator !== undefined && /[^A-Za-z0-9\s]/.test(String.fromCharCode(separator));
}

/** MSH-1 and MSH-2 are read by position, whatever they are. A fifth character (truncation, v2.7) is not used in results. */
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

/** Some devices break long text into lines: what does not begin like a segment goes on with the one before. */
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

/** Whether a line of that text is a segment, and does not go on with the one before. */
export function beginsSegment(text: string, field: string): boolean {
  if (text.length === 3) return /^[A-Z][A-Z0-9]{2}$/.test(text);
  return text[3] === field && /^[A-Za-z][A-Za-z0-9]{2}/.test(text);
}

function splitAt(text: string, delimiter: string | null): string[] {
  return delimiter === null ? [text] : text.split(delimiter);
}

/** Chapter 2, "Use of escape sequences in text fields"; null: none that we know. */
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

/** A byte order mark at the beginning goes, and a byte that does not belong becomes U+FFFD. */
function decodeFrom(charset: Charset, bytes: Uint8Array): string {
  return iconv.encodingExists(charset) ? iconv.decode(bytes, charset) : new TextDecoder(charset).decode(bytes);
}

/** Decoded as a whole before it is split: hundreds of GB 18030 characters end with the byte of a delimiter. */
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

/** The header's bytes, to see what it says of itself. */
const HEADER_BYTES_MAX = 2_048;

/** MSH-18, its first repetition. ASCII is none: devices say so and send something else. */
function statedCharset(bytes: Uint8Array): Charset | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES_MAX)).toString("latin1");
  const [, field, rest] = /(?:^|[^A-Za-z0-9])MSH([^A-Za-z0-9\s])([^\r\n]*)/.exec(head) ?? [];
  if (field === undefined || rest === undefined) return null;
  const repetition = rest[1] ?? "";
  const stated = (rest.split(field)[16] ?? "").split(repetition)[0]?.trim().toUpperCase() ?? "";
  return Object.hasOwn(STATED_CHARSETS, stated) ? STATED_CHARSETS[stated as keyof typeof STATED_CHARSETS] : null;
}

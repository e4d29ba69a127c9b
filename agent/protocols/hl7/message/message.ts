import { CR, LF } from "../../bytes.ts";
import { printable } from "../../escape-sequences.ts";
import { PARTS_MAX, withinParts } from "../../parts.ts";
import { type Charset, type CharsetOptions, decodeText } from "./charset.ts";
import { type Delimiters, readDelimiters, Segment } from "./segment.ts";

// HL7 v2 messages: a frame into messages, a message into segments.

/**
 * Max bytes of a message, images included. The largest seen has 1.2 MB. Of a longer one this first part is stored and read, because
 * a device sends a refused message again for ever.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Max segments that are read. The largest message seen has 1300. */
const SEGMENTS_MAX = 100_000;

export interface Hl7Message {
  readonly delimiters: Delimiters;
  readonly charset: Charset;
  /** The declared charset of a message that is UTF-8; null if the declaration is right or missing. */
  readonly utf8Under: Charset | null;
  /** The part of the message that a limit cut off, in words; null for a complete one. */
  readonly cutShort: string | null;
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
  const { text, charset, utf8Under } = decodeText(bytes, options);
  const { lines, limit } = linesOf(text, bytes.length);
  // Only batch headers may precede MSH.
  const first = lines.findIndex((line) => line.trimStart() !== "" && !/^\s*[FB]HS/i.test(line));
  const header = lines[first]?.trimStart();
  if (header === undefined) return { problem: "the message is empty" };
  // The problem is logged, and what follows the name of a segment may name a patient.
  const letters = header.slice(0, 5).replace(/\W.*/s, "");
  if (!/^MSH/i.test(header)) return { problem: `the first segment is ${printable(letters)}, expected MSH` };
  const delimiters = readDelimiters(header);
  if ("problem" in delimiters) return delimiters;

  const read = withinParts([header, ...lines.slice(first + 1)], Object.values(delimiters));
  if (read.lines[0] !== header) return { problem: `the header has more than ${PARTS_MAX} separators` };
  const cutShort = [
    ...(limit === null ? [] : [`the message reaches the limit of ${limit}: the rest is not read`]),
    ...(read.leftOut === 0 ? [] : [`more than ${PARTS_MAX} separators: ${read.leftOut} segments are not read`]),
  ];
  const texts = segmentTexts(header, read.lines.slice(1), delimiters.field);
  const segments = texts.map((segment) => new Segment(segment, delimiters, charset));
  const second = segments.findIndex(({ name }, index) => name === "MSH" && index > 0);
  if (second > 0) return { problem: `segment ${second + 1} is a second MSH` };
  const replacements = text.split("\ufffd").length - 1;
  return {
    delimiters,
    charset,
    utf8Under,
    cutShort: cutShort.join("; ") || null,
    replacements,
    header: segments[0]!,
    segments,
  };
}

/** Returns the lines within the limits. The last line of a message that reached one may be cut, and is not read. */
function linesOf(text: string, bytes: number): { readonly lines: string[]; readonly limit: string | null } {
  // SEGMENTS_MAX, one for the empty piece after the last line end, and one to detect more.
  const lines = text.split(/[\r\n]+/, SEGMENTS_MAX + 2);
  const limit = limitOf(lines.length, bytes);
  return { lines: limit === null ? lines : lines.slice(0, -1), limit };
}

function limitOf(lines: number, bytes: number): string | null {
  if (lines > SEGMENTS_MAX + 1) return `${SEGMENTS_MAX} segments`;
  return bytes >= MESSAGE_BYTES_MAX ? `${MESSAGE_BYTES_MAX} bytes` : null;
}

/** Splits a frame into its messages: each MSH at the start of a line starts one. */
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

/** Returns the bytes from the first MSH at the start of a line; none without one. */
export function fromHeader(payload: Uint8Array): Uint8Array {
  let at = payload.indexOf(LETTER_M);
  while (at >= 0 && !beginsHeader(payload, at)) at = payload.indexOf(LETTER_M, at + 1);
  return at < 0 ? payload.subarray(payload.length) : payload.subarray(at);
}

/** A message without MSH-7 and MSH-10, which differ in a resend. One character per byte. */
export interface Unstamped {
  /** MSH-9. */
  readonly type: string;
  /** MSH-10. */
  readonly id: string;
  /** MSH-7. */
  readonly sent: string;
  readonly header: string;
  /** Offset of the header's line end. */
  readonly end: number;
}

/**
 * Returns null if no line starts with MSH. Called twice for most messages while the device waits, so it splits as
 * little as possible.
 */
export function withoutStamp(message: Uint8Array): Unstamped | null {
  let start = message.indexOf(LETTER_M);
  while (start >= 0 && !beginsHeader(message, start)) start = message.indexOf(LETTER_M, start + 1);
  if (start < 0) return null;
  const end = endOfLine(message, start);
  const text = Buffer.from(message.buffer, message.byteOffset + start, end - start).toString("latin1");
  // MSH-1 is the separator itself, so MSH-n follows the (n-1)th separator.
  const separators: number[] = [];
  for (let at = 3; at >= 0 && separators.length < 10; at = text.indexOf(text[3]!, at + 1)) separators.push(at);
  const begin = (field: number) => (separators[field - 2] ?? text.length - 1) + 1;
  const stop = (field: number) => separators[field - 1] ?? text.length;
  const field = (number: number) => text.slice(begin(number), stop(number));
  const header = text.slice(0, begin(7)) + text.slice(stop(7), begin(10)) + text.slice(stop(10));
  return { type: field(9), id: field(10), sent: field(7), header, end };
}

/** Returns the offset of the next CR or LF, or the end of the bytes. */
function endOfLine(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end < bytes.length && bytes[end] !== CR && bytes[end] !== LF) end += 1;
  return end;
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

/** Joins continuation lines: some devices break long text into lines, and only some lines start a segment. */
function segmentTexts(header: string, lines: readonly string[], field: string): string[] {
  const texts = [header];
  for (const line of lines) {
    const text = line.trimStart();
    if (text === "") continue;
    if (beginsSegment(text, field)) texts.push(text);
    // A line without letters and digits after the header, as after heartbeats, is not a part of it.
    else if (texts.length > 1 || /[\p{L}\d]/u.test(text)) texts[texts.length - 1] += `\n${line}`;
  }
  return texts;
}

/** Returns whether a line starts a segment. */
function beginsSegment(text: string, field: string): boolean {
  if (text.length === 3) return /^[A-Z][A-Z0-9]{2}$/.test(text);
  return text[3] === field && /^[A-Za-z][A-Za-z0-9]{2}/.test(text);
}

import { Unzlib } from "fflate";
import { pdfObjects, type PdfObject, valueOf } from "./pdf-objects.ts";

// The text of a PDF, for a search. It is never read for values: the place of a number on a page does not show what it is.

/** Max characters of a document's text. */
const TEXT_MAX = 200_000;
/** Max bytes of all streams of a document after unpacking, and of the contents that its pages show, some of them several times. */
const [UNPACKED_MAX, CONTENT_MAX] = [32 * 1024 * 1024, 8 * 1024 * 1024];
const [PAGES_MAX, FONTS_MAX] = [1000, 200];
/** The number of an object to which a key refers. */
const REFERENCE = /(\d{1,9})\s{1,9}\d{1,5}\s{1,9}R/g;

/** Returns the text of the pages; "" for a scanned page, an encrypted document or other bytes. Never throws. */
export function pdfText(bytes: Uint8Array): string {
  let left = UNPACKED_MAX;
  const unpack = (packed: Uint8Array): Uint8Array => {
    const { unpacked, length } = inflated(packed, left);
    left -= length;
    return unpacked;
  };
  const objects = pdfObjects(bytes, unpack);
  if (objects === null) return "";
  const fonts = new Map<number, Font>();
  let [text, read, pages] = ["", 0, 0];
  for (const page of objects.values()) {
    if (!/\/Type\s*\/Page\b/.test(page.dictionary)) continue;
    pages += 1;
    if (text.length >= TEXT_MAX || read >= CONTENT_MAX || pages > PAGES_MAX) break;
    const content = contentOf(page, objects);
    read += content.length;
    text += `${contentText(content, fontsOf(page, objects, fonts))}\n`;
  }
  return text.replace(/\s+/g, " ").trim().slice(0, TEXT_MAX);
}

/** Unpacks up to `max` bytes; what comes before damage counts. `length` also has the bytes that were too many. */
function inflated(packed: Uint8Array, max: number): { readonly unpacked: Uint8Array; readonly length: number } {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = new Unzlib((part) => {
      length += part.length;
      if (length > max) throw new Error("too large");
      parts.push(part);
    });
    // In pieces, so that a small stream cannot unpack to gigabytes at one stroke.
    for (let from = 0; from < packed.length && max > 0; from += 4096) stream.push(packed.subarray(from, from + 4096));
  } catch {
    // A damaged end loses the rest of this stream alone.
  }
  return { unpacked: Buffer.concat(parts), length };
}

type Objects = ReadonlyMap<number, PdfObject>;
/** Characters by their codes of a font, and the bytes of a code. */
interface Font {
  readonly characters: ReadonlyMap<number, string>;
  readonly bytes: 1 | 2;
}

/** Returns the fonts of a page by their names there. `known` has those of earlier pages by their objects. */
function fontsOf(page: PdfObject, objects: Objects, known: Map<number, Font>): ReadonlyMap<string, Font> {
  const resources = dictionaryOf(page.dictionary, "Resources", objects) ?? inherited(page, objects);
  const fonts = new Map<string, Font>();
  const names = dictionaryOf(resources, "Font", objects) ?? "";
  for (const [, name = "", written = ""] of names.matchAll(
    /\/([^\s/<>[\]()]{1,127})\s{1,9}(\d{1,9})\s{1,9}\d{1,5}\s{1,9}R/g,
  )) {
    const id = Number(written);
    const font = known.get(id) ?? (known.size < FONTS_MAX ? fontOf(objects.get(id), objects) : undefined);
    if (font === undefined) continue;
    known.set(id, font);
    fonts.set(name, font);
  }
  return fonts;
}

function contentOf(page: PdfObject, objects: Objects): string {
  const contents = valueOf(page.dictionary, /\/Contents\s*(?=[[\d])/, /^(?:\[[^\]]*\]|\d{1,9}\s{1,9}\d{1,5}\s{1,9}R)/);
  let content = "";
  for (const [, id = ""] of contents.matchAll(REFERENCE)) {
    if (content.length >= CONTENT_MAX) break;
    content += `${latin1(objects.get(Number(id))?.stream ?? new Uint8Array(0))}\n`;
  }
  return content.slice(0, CONTENT_MAX);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function inherited({ dictionary }: PdfObject, objects: Objects, depth = 0): string {
  const parent = objects.get(Number(/\/Parent\s+(\d+)/.exec(dictionary)?.[1]));
  if (parent === undefined || depth > 16) return "";
  return dictionaryOf(parent.dictionary, "Resources", objects) ?? inherited(parent, objects, depth + 1);
}

/** Returns the dictionary of a key, in place or as another object; null without one. */
function dictionaryOf(dictionary: string, key: string, objects: Objects): string | null {
  const at = new RegExp(String.raw`/${key}\s*(?=<<|\d)`).exec(dictionary);
  if (at === null) return null;
  const rest = dictionary.slice(at.index + at[0].length);
  const [, id] = /^(\d+)\s+\d+\s+R/.exec(rest) ?? [];
  if (id !== undefined) return objects.get(Number(id))?.dictionary ?? null;
  let depth = 0;
  for (const { 0: mark, index } of rest.matchAll(/<<|>>/g)) {
    depth += mark === "<<" ? 1 : -1;
    if (depth === 0) return rest.slice(0, index + 2);
  }
  return rest;
}

function fontOf(font: PdfObject | undefined, objects: Objects): Font {
  const map = objects.get(Number(/\/ToUnicode\s+(\d+)/.exec(font?.dictionary ?? "")?.[1]));
  const isWide = /\/Subtype\s*\/Type0\b/.test(font?.dictionary ?? "");
  const text = latin1(map?.stream?.subarray(0, MAP_BYTES_MAX) ?? new Uint8Array(0));
  const characters = new Map<number, string>();
  for (const rows of between(text, "bfchar")) {
    for (const [, code = "", to = ""] of rows.matchAll(/<([\da-f]+)>\s*<([\da-f]+)>/gi)) {
      characters.set(Number.parseInt(code, 16), utf16(to));
    }
  }
  addRanges(between(text, "bfrange").join("\n"), characters);
  return { characters, bytes: isWide ? 2 : 1 };
}

const MAP_BYTES_MAX = 512 * 1024;
/** Two bytes have no more. */
const CHARACTERS_MAX = 65_536;

function between(text: string, name: string): string[] {
  return text
    .split(`begin${name}`)
    .slice(1)
    .map((part) => part.split(`end${name}`, 1)[0] ?? "");
}

function addRanges(rows: string, characters: Map<number, string>): void {
  let left = CHARACTERS_MAX;
  for (const [, first = "", last = "", to, list] of rows.matchAll(
    /<([\da-f]+)>\s*<([\da-f]+)>\s*(?:<([\da-f]+)>|\[([^\]]*)\])/gi,
  )) {
    const [from, end] = [Number.parseInt(first, 16), Number.parseInt(last, 16)];
    const each = Array.from(list?.matchAll(/<([\da-f]+)>/gi) ?? [], ([, hex = ""]) => utf16(hex));
    const start = to === undefined ? null : Number.parseInt(to.slice(-4), 16);
    for (let code = from; code <= end && left > 0; code += 1) {
      left -= 1;
      const character = start === null ? each[code - from] : String.fromCharCode(start + code - from);
      if (character !== undefined) characters.set(code, character);
    }
  }
}

function utf16(hex: string): string {
  return Array.from(hex.matchAll(/.{4}/g), ([unit]) => String.fromCharCode(Number.parseInt(unit, 16))).join("");
}

/** The start of a string, strings in hex, names, numbers and operators of a page. */
const TOKEN = /\(|<[\da-f\s]*>|\/[^\s/<>[\]()]+|[-+.\d]+|[a-z'"*]+/gi;
/** A gap in thousandths of the letter's size that is a blank. */
const BLANK = -180;

function contentText(content: string, fonts: ReadonlyMap<string, Font>): string {
  let [font, text, name]: [Font | undefined, string, string] = [undefined, "", ""];
  const tokens = new RegExp(TOKEN);
  for (let found = tokens.exec(content); found !== null && text.length < TEXT_MAX; found = tokens.exec(content)) {
    const [token] = found;
    if (token === "(") {
      const end = literalEnd(content, tokens.lastIndex);
      text += shown(literalBytes(content.slice(tokens.lastIndex, end)), font);
      tokens.lastIndex = end + 1;
    } else if (token.startsWith("<")) text += shown(hexBytes(token), font);
    else if (token.startsWith("/")) name = token.slice(1);
    else if (token === "Tf") font = fonts.get(name);
    else if (/^(?:Td|TD|T\*|Tm|'|"|ET)$/.test(token) || Number(token) < BLANK) text += " ";
    if (text.length > TEXT_MAX) break;
  }
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\n", t: " ", b: "", f: "\n" };
const windows1252 = new TextDecoder("windows-1252");

/** Returns where the brackets of a string close, or the end of the content. */
function literalEnd(content: string, from: number): number {
  let depth = 1;
  for (let at = from; at < content.length; at += 1) {
    const character = content[at];
    if (character === "\\") at += 1;
    else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return content.length;
}

function shown(bytes: Uint8Array, font: Font | undefined): string {
  if (font === undefined || (font.characters.size === 0 && font.bytes === 1)) return windows1252.decode(bytes);
  let text = "";
  for (let at = 0; at + font.bytes <= bytes.length && text.length < TEXT_MAX; at += font.bytes) {
    const code = font.bytes === 2 ? bytes[at]! * 256 + bytes[at + 1]! : bytes[at]!;
    text += font.characters.get(code) ?? "";
  }
  return text;
}

function hexBytes(token: string): Uint8Array {
  return Buffer.from(token.replace(/[<>\s]/g, ""), "hex");
}

function literalBytes(literal: string): Uint8Array {
  const text = literal.replace(/\\(\d{1,3}|\r?\n|[^])/g, (_all, escaped: string) => {
    if (/^\d/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8) & 0xff);
    return /^\s/.test(escaped) ? "" : (ESCAPES[escaped] ?? escaped);
  });
  return Buffer.from(text, "latin1");
}

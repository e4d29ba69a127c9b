import { latin1 } from "../../protocols/dicom/bytes.ts";
import { decodeText, hasAmbiguousBytes } from "../../protocols/dicom/character-sets.ts";
import { encodingOf } from "../../protocols/dicom/dataset.ts";
import type { Elements } from "../../protocols/dicom/reports/elements.ts";
import { utf8Text } from "../../protocols/utf8.ts";

// Texts of a header that are UTF-8 under another declared character set, or under none, and texts of sequences, which the parser
// does not decode. The header is parsed again with the declaration blanked: each character is then one byte as sent.

/** Specific Character Set of a file, and the place of its value; none at the end of the bytes. */
interface Declaration {
  readonly charset: string;
  readonly from: number;
  readonly to: number;
}

const SPECIFIC_CHARACTER_SET = 0x0008_0005;

/** Finds the declaration after the File Meta Information. Few elements may precede it. */
function declarationIn(file: Uint8Array, transferSyntax: string): Declaration | null {
  const { explicitVr, littleEndian } = encodingOf(transferSyntax) ?? { explicitVr: true, littleEndian: true };
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const metaLength = view.getUint32(META_START - 4, true);
  for (let at = META_START + metaLength; at + 8 <= file.length; ) {
    const tag = view.getUint16(at, littleEndian) * 0x1_0000 + view.getUint16(at + 2, littleEndian);
    if (tag > SPECIFIC_CHARACTER_SET) return null;
    const length = explicitVr ? view.getUint16(at + 6, littleEndian) : view.getUint32(at + 4, littleEndian);
    const [from, to] = [at + 8, at + 8 + length];
    if (to > file.length) return null;
    if (tag === SPECIFIC_CHARACTER_SET) return { charset: latin1(file.subarray(from, to)).trim(), from, to };
    at = to;
  }
  return null;
}

/** Preamble, "DICM" and the group length of the File Meta Information. */
const META_START = 132 + 12;
const BLANK = 0x20;

export interface ReadTexts {
  readonly elements: Elements;
  /** The character set declared for texts that are UTF-8, "" for none; null without such texts. */
  readonly utf8Under: string | null;
}

/** Returns the elements with the texts that are UTF-8 decoded as such. `parse` reads a file as it declares. */
export function withTexts(
  file: Uint8Array,
  transferSyntax: string,
  elements: Elements,
  parse: (file: Uint8Array) => Elements,
): ReadTexts {
  if (!hasTextBeyondAscii(elements)) return { elements, utf8Under: null };
  const declared = declarationIn(file, transferSyntax);
  const charset = declared?.charset ?? "";
  const plain = declared === null ? elements : parse(file.slice().fill(BLANK, declared.from, declared.to));
  const texts = new Utf8Texts(charset);
  const read = texts.merge(elements, plain) as Elements;
  return { elements: read, utf8Under: texts.found && charset !== "ISO_IR 192" ? charset : null };
}

function hasTextBeyondAscii(value: unknown): boolean {
  if (typeof value === "string") return /[^\0-\x7f]/.test(value);
  if (Array.isArray(value)) return value.some(hasTextBeyondAscii);
  return isElements(value) && Object.values(value).some(hasTextBeyondAscii);
}

class Utf8Texts {
  readonly #charset: string;
  found = false;

  constructor(charset: string) {
    this.#charset = charset;
  }

  /** Returns a value as declared, with each text replaced whose bytes are UTF-8. `plain`: the value with a byte a character. */
  merge(own: unknown, plain: unknown): unknown {
    if (typeof own === "string") return this.#text(own, plain);
    if (Array.isArray(own)) return own.map((value, index) => this.merge(value, valueAt(plain, index)));
    if (!isElements(own)) return own;
    return Object.fromEntries(Object.entries(own).map(([key, value]) => [key, this.merge(value, valueAt(plain, key))]));
  }

  #text(own: string, plain: unknown): string {
    const bytes = typeof plain === "string" ? bytesOf(plain) : null;
    if (bytes === null) return own;
    const text = utf8Text(bytes, hasAmbiguousBytes(this.#charset));
    if (text !== null) this.found = true;
    // The parser reads the items of a sequence without the declaration around them.
    return text ?? (own === plain ? decodeText(bytes, this.#charset) : own);
  }
}

function valueAt(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[key] : undefined;
}

function isElements(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer);
}

/** Bytes by the character that the parser makes of each: the label latin1 means Windows-1252 to it. */
const BYTES = new Map(Array.from({ length: 0x100 }, (_, byte) => [latin1(Uint8Array.of(byte)), byte]));

/** Returns the bytes of a text with one character a byte; null for another text, such as one of an item with a declaration. */
function bytesOf(text: string): Uint8Array | null {
  const bytes = Array.from(text, (char) => BYTES.get(char));
  return bytes.some((byte) => byte === undefined) ? null : Uint8Array.from(bytes as number[]);
}

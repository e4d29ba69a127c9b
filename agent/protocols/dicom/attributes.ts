import { concat } from "../bytes.ts";
import {
  type Attributes,
  KEYWORDS_BY_TAG,
  isSequence,
  type Keyword,
  KEYWORD_BY_TAG,
  KEYWORDS,
  tagOf,
  vrOf,
} from "./attribute-table.ts";
import { ascii, latin1 } from "./bytes.ts";
import { chooseCharset, decodeText, encodeText } from "./character-sets.ts";
import { type Encoding, LONG_VRS, UNDEFINED_LENGTH } from "./dataset.ts";
import { type Dataset, encodeDataset } from "./encode.ts";

// Reads and encodes complete small datasets: of queries, procedure steps and commitments. Attributes that the table lacks are
// skipped.

export interface ReadAttributes {
  readonly attributes: Attributes;
  /** True if the dataset has attributes that the table lacks. */
  readonly someUnknown: boolean;
}

/** Max depth of sequences; deeper datasets are refused. */
const DEPTH_MAX = 8;
const ITEM = 0xfffe_e000;
const ITEM_END = 0xfffe_e00d;
const SEQUENCE_END = 0xfffe_e0dd;
/** VRs that Specific Character Set applies to (PS3.5 §6.1.2.3). */
const TEXT_VRS = new Set(["SH", "LO", "ST", "LT", "PN", "UC", "UT"]);
/** VRs in which a backslash is text. */
const SINGLE_VALUE_VRS = new Set(["ST", "LT", "UT"]);

class InvalidDataset extends Error {}

/** Reads the attributes of a little endian dataset. @returns a string with the problem of an invalid one */
export function readAttributes(bytes: Uint8Array, encoding: Encoding): ReadAttributes | string {
  const reader = new AttributeReader(bytes, encoding);
  try {
    const attributes = reader.read(bytes.length, "", 0);
    return { attributes, someUnknown: reader.someUnknown };
  } catch (error) {
    if (error instanceof InvalidDataset) return error.message;
    throw error;
  }
}

class AttributeReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #encoding: Encoding;
  #at = 0;
  someUnknown = false;

  constructor(bytes: Uint8Array, encoding: Encoding) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#encoding = encoding;
  }

  /** Reads the elements up to `end`, or up to the delimiter of an item of undefined length. */
  read(end: number | null, outerCharset: string, depth: number): Attributes {
    if (depth > DEPTH_MAX) throw new InvalidDataset(`sequences nested deeper than ${DEPTH_MAX} levels`);
    const attributes: Partial<Record<Keyword, readonly string[] | readonly Attributes[]>> = {};
    let charset = outerCharset;
    while (end === null || this.#at < end) {
      const tag = this.#tag();
      if (tag === ITEM_END && end === null) {
        this.#slice(4);
        break;
      }
      const { vr, length } = this.#vrAndLength(tag);
      const keyword = KEYWORD_BY_TAG.get(tag);
      if (keyword === undefined) this.someUnknown = true;
      if (vr === "SQ" || length === UNDEFINED_LENGTH) {
        const items = this.#items(length, charset, depth + 1);
        if (keyword !== undefined && isSequence(keyword)) attributes[keyword] = items;
        continue;
      }
      const value = this.#slice(length);
      if (keyword === undefined || isSequence(keyword)) continue;
      if (keyword === "SpecificCharacterSet") charset = latin1(value).trim();
      attributes[keyword] = valuesOf(value, vrOf(keyword), charset);
    }
    return attributes as Attributes;
  }

  #items(length: number, charset: string, depth: number): Attributes[] {
    const end = length === UNDEFINED_LENGTH ? null : this.#end(length);
    const items: Attributes[] = [];
    while (end === null || this.#at < end) {
      const tag = this.#tag();
      const itemLength = this.#uint32();
      if (tag === SEQUENCE_END && end === null) break;
      if (tag !== ITEM) throw new InvalidDataset("expected an item in a sequence, got another element");
      items.push(this.read(itemLength === UNDEFINED_LENGTH ? null : this.#end(itemLength), charset, depth));
    }
    return items;
  }

  #vrAndLength(tag: number): { vr: string; length: number } {
    if (!this.#encoding.explicitVr) {
      const keyword = KEYWORD_BY_TAG.get(tag);
      return { vr: keyword === undefined ? "UN" : vrOf(keyword), length: this.#uint32() };
    }
    const vr = latin1(this.#slice(2));
    if (!LONG_VRS.has(vr)) return { vr, length: this.#uint16() };
    this.#slice(2);
    return { vr, length: this.#uint32() };
  }

  #tag(): number {
    return this.#uint16() * 0x1_0000 + this.#uint16();
  }

  #uint16(): number {
    this.#end(2);
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }

  #uint32(): number {
    this.#end(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  #slice(length: number): Uint8Array {
    const end = this.#end(length);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #end(length: number): number {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new InvalidDataset(`${end - this.#bytes.length} bytes missing at the end`);
    return end;
  }
}

function valuesOf(bytes: Uint8Array, vr: string, charset: string): readonly string[] {
  if (bytes.length === 0) return [];
  if (vr === "US") {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => String(view.getUint16(index * 2, true)));
  }
  const text = TEXT_VRS.has(vr) ? decodeText(bytes, charset) : latin1(bytes);
  const values = SINGLE_VALUE_VRS.has(vr) ? [text] : text.split("\\");
  const trimmed = values.map((value) => value.replace(/[\0 ]+$/, "").trimStart());
  return trimmed.every((value) => value === "") ? [] : trimmed;
}

/** Encodes a dataset in `charset` if that has all characters, else in one that has. ASCII is not declared. */
export function encodeAttributes(attributes: Attributes, encoding: Encoding, charset = ""): Uint8Array {
  const chosen = chooseCharset(charactersOf(attributes), charset);
  const declared = chosen === "" ? attributes : { ...attributes, SpecificCharacterSet: [chosen] };
  return encodeDataset(elementsOf(declared, chosen), encoding);
}

function elementsOf(attributes: Attributes, charset: string): Dataset {
  return KEYWORDS_BY_TAG.flatMap((keyword) => {
    const value = attributes[keyword];
    if (value === undefined) return [];
    const encoded = isSequence(keyword)
      ? (value as readonly Attributes[]).map((item) => elementsOf(item, charset))
      : encodeValues(value as readonly string[], vrOf(keyword), charset);
    return [[tagOf(keyword), vrOf(keyword), encoded] as const];
  });
}

function encodeValues(values: readonly string[], vr: string, charset: string): Uint8Array {
  if (vr === "US") return concat(values.map((value) => Uint8Array.of(Number(value) & 0xff, Number(value) >> 8)));
  const text = values.join("\\");
  const bytes = TEXT_VRS.has(vr) ? encodeText(text, charset) : ascii(text);
  return bytes.length % 2 === 0 ? bytes : concat([bytes, ascii(vr === "UI" ? "\0" : " ")]);
}

function charactersOf(attributes: Attributes): string {
  return KEYWORDS.flatMap((keyword) => {
    const value = attributes[keyword];
    if (value === undefined) return [];
    if (isSequence(keyword)) return (value as readonly Attributes[]).map(charactersOf);
    return TEXT_VRS.has(vrOf(keyword)) ? (value as readonly string[]) : [];
  }).join("");
}

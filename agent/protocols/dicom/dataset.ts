import {
  DEFLATED_EXPLICIT_LITTLE_ENDIAN,
  EXPLICIT_BIG_ENDIAN,
  GE_PRIVATE_IMPLICIT,
  IMPLICIT_LITTLE_ENDIAN,
  JPIP_REFERENCED_DEFLATE,
} from "./uids.ts";
import { hex, readUid } from "./bytes.ts";
import { UID_CHARS_MAX } from "./dimse.ts";

// Walks over the elements of a dataset while it is received (PS3.5 §7). The walk gives its identity, the offset of its
// pixels, and whether it is complete. Values are skipped. Nothing recurses: the depth of sequences is a number.

export interface Encoding {
  readonly explicitVr: boolean;
  readonly littleEndian: boolean;
}

const DEFLATED: readonly string[] = [DEFLATED_EXPLICIT_LITTLE_ENDIAN, JPIP_REFERENCED_DEFLATE];

/** Returns the encoding of a transfer syntax; null for a deflated one, which cannot be read while it is received. */
export function encodingOf(transferSyntax: string): Encoding | null {
  if (DEFLATED.includes(transferSyntax)) return null;
  return {
    // GE's private syntax differs from Implicit VR Little Endian in its pixels only.
    explicitVr: transferSyntax !== IMPLICIT_LITTLE_ENDIAN && transferSyntax !== GE_PRIVATE_IMPLICIT,
    littleEndian: transferSyntax !== EXPLICIT_BIG_ENDIAN,
  };
}

export interface DatasetSummary {
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly study: string;
  /** Bytes before the first element of the pixels; the full length without pixels. */
  readonly headerBytes: number;
  /** Reason why the dataset cannot be complete; null if it is, or if that is undecidable. */
  readonly problem: string | null;
  /** Offsets of VRs that the standard lacks and whose length was taken to have 16 bits. */
  readonly oddVrs: readonly number[];
}

/** Max depth, two per sequence of undefined length; deeper datasets are refused. Reports nest six or seven sequences. */
const DEPTH_MAX = 64;
/** Max bytes of a value that is kept: one more than a usable UID has, with its padding. */
const VALUE_BYTES_MAX = UID_CHARS_MAX + 2;
export const UNDEFINED_LENGTH = 0xffff_ffff;

const ITEM = 0xfffe_e000;
const ITEM_END = 0xfffe_e00d;
const SEQUENCE_END = 0xfffe_e0dd;
const SOP_CLASS = 0x0008_0016;
const SOP_INSTANCE = 0x0008_0018;
const STUDY = 0x0020_000d;
const PIXELS = 0x7fe0_0000;
/** VRs with a reserved half and a length of 32 bits (PS3.5 table 7.1-1); the others have 16 bits. */
export const LONG_VRS = new Set(["OB", "OD", "OF", "OL", "OV", "OW", "SQ", "SV", "UC", "UN", "UR", "UT", "UV"]);
const SHORT_VRS = new Set("AE AS AT CS DA DS DT FL FD IS LO LT PN SH SL SS ST TM UI UL US".split(" "));
/** A VR of a later edition of the standard: each will have a length of 32 bits (PS3.5 §6.2). */
const LATER_VR = /^[A-Z]{2}$/;
/** A VR that devices write where they know none: `??`, blanks, NUL. */
const DEVICE_VR = /^(?:[ -~]{2}|\0\0)$/;

type WalkerState =
  | { readonly at: "element" }
  /** Length of 32 bits after a long VR. */
  | { readonly at: "long-length"; readonly tag: number; readonly vr: string }
  | { readonly at: "value"; readonly tag: number; left: number }
  /** State after an unknown element: the rest is not checked. */
  | { readonly at: "lost" };

export class DatasetWalker {
  readonly #encoding: Encoding;
  #state: WalkerState = { at: "element" };
  readonly #header = new Uint8Array(8);
  readonly #headerView = new DataView(this.#header.buffer);
  #headerLength = 0;
  /** Even between elements; odd between items of a sequence or fragments of encapsulated pixels. */
  #depth = 0;
  /** Depth of an element UN of undefined length, a sequence in Implicit VR Little Endian (PS3.5 §6.2.2). */
  #implicitFrom = Number.POSITIVE_INFINITY;
  #deepest = 0;
  #offset = 0;
  #headerBytes: number | null = null;
  /** False after an unknown VR, the length of whose element is a guess. */
  #isCertain = true;
  readonly #oddVrs: number[] = [];
  readonly #found = new Map<number, number[]>();

  constructor(encoding: Encoding) {
    this.#encoding = encoding;
  }

  receive(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && this.#state.at !== "lost") {
      const state = this.#state;
      if (state.at === "value") {
        const taken = Math.min(state.left, bytes.length - at);
        this.#keep(state.tag, bytes, at, taken);
        at += taken;
        state.left -= taken;
        if (state.left === 0) this.#state = { at: "element" };
        continue;
      }
      const wanted = state.at === "element" ? 8 : 4;
      const taken = Math.min(wanted - this.#headerLength, bytes.length - at);
      for (let index = 0; index < taken; index++) this.#header[this.#headerLength++] = bytes[at + index]!;
      at += taken;
      if (this.#headerLength < wanted) break;
      this.#headerLength = 0;
      if (state.at === "element") this.#readElement(this.#offset + at - 8);
      else this.#beginValue(state.tag, state.vr, this.#uint32(0));
    }
    this.#offset += bytes.length;
  }

  end(): DatasetSummary {
    const text = (tag: number) => readUid(Uint8Array.from(this.#found.get(tag) ?? []));
    return {
      sopClass: text(SOP_CLASS),
      sopInstance: text(SOP_INSTANCE),
      study: text(STUDY),
      headerBytes: this.#headerBytes ?? this.#offset,
      problem: this.#problem(),
      oddVrs: this.#oddVrs,
    };
  }

  #problem(): string | null {
    const state = this.#state;
    if (this.#deepest > DEPTH_MAX) return `sequences nested deeper than ${DEPTH_MAX / 2} levels`;
    if (state.at === "lost" || !this.#isCertain) return null;
    if (state.at === "value") return `the dataset ends ${state.left} bytes before the end of ${tagText(state.tag)}`;
    if (state.at === "long-length" || (this.#headerLength > 0 && !this.#isPadding))
      return "the dataset ends within an element";
    return this.#depth > 0 ? "the dataset ends within a sequence" : null;
  }

  /** Devices pad a dataset to a length with zeros after its pixels. */
  get #isPadding(): boolean {
    return this.#headerBytes !== null && this.#header.subarray(0, this.#headerLength).every((byte) => byte === 0);
  }

  #readElement(offset: number): void {
    const tag = this.#uint16(0) * 0x1_0000 + this.#uint16(2);
    const isPixels = tag >= PIXELS && (this.#isCertain || tag >>> 16 === PIXELS >>> 16);
    if (this.#depth === 0 && isPixels) this.#headerBytes ??= offset;
    const betweenItems = this.#depth % 2 === 1;
    if (tag === ITEM && betweenItems) return this.#beginItem(this.#uint32(4));
    if (tag === SEQUENCE_END && betweenItems) return this.#leave();
    if (tag === ITEM_END && !betweenItems && this.#depth > 0) return this.#leave();
    if (betweenItems || tag >>> 16 === 0xfffe) return this.#lose();
    if (!this.#encoding.explicitVr || this.#depth >= this.#implicitFrom) {
      return this.#beginValue(tag, "", this.#uint32(4));
    }
    const vr = String.fromCharCode(this.#header[4]!, this.#header[5]!);
    if (LONG_VRS.has(vr)) this.#state = { at: "long-length", tag, vr };
    else if (SHORT_VRS.has(vr)) this.#beginValue(tag, vr, this.#uint16(6));
    else if (DEVICE_VR.test(vr)) this.#beginUnknown(tag, vr, offset + 4);
    else this.#lose();
  }

  #beginUnknown(tag: number, vr: string, offset: number): void {
    this.#isCertain = false;
    if (LATER_VR.test(vr) && this.#uint16(6) === 0) {
      this.#state = { at: "long-length", tag, vr };
    } else {
      this.#oddVrs.push(offset);
      this.#beginValue(tag, vr, this.#uint16(6));
    }
  }

  #beginValue(tag: number, vr: string, length: number): void {
    if (length !== UNDEFINED_LENGTH) {
      this.#state = length === 0 ? { at: "element" } : { at: "value", tag, left: length };
      return;
    }
    this.#enter();
    if (vr === "UN") this.#implicitFrom = Math.min(this.#implicitFrom, this.#depth);
  }

  #beginItem(length: number): void {
    if (length === UNDEFINED_LENGTH) this.#enter();
    else if (length > 0) this.#state = { at: "value", tag: ITEM, left: length };
  }

  #enter(): void {
    this.#depth += 1;
    this.#deepest = Math.max(this.#deepest, this.#depth);
    this.#state = this.#deepest > DEPTH_MAX ? { at: "lost" } : { at: "element" };
  }

  #leave(): void {
    if (this.#depth === this.#implicitFrom) this.#implicitFrom = Number.POSITIVE_INFINITY;
    this.#depth -= 1;
  }

  #lose(): void {
    this.#state = { at: "lost" };
  }

  #keep(tag: number, bytes: Uint8Array, at: number, length: number): void {
    if (this.#depth > 0 || (tag !== SOP_CLASS && tag !== SOP_INSTANCE && tag !== STUDY)) return;
    const value = this.#found.get(tag) ?? [];
    for (const byte of bytes.subarray(at, at + Math.min(length, VALUE_BYTES_MAX - value.length))) value.push(byte);
    this.#found.set(tag, value);
  }

  /** Byte order. Items and delimiters follow that of the dataset, except within UN. */
  get #littleEndian(): boolean {
    return this.#encoding.littleEndian || this.#depth >= this.#implicitFrom;
  }

  #uint16(at: number): number {
    return this.#headerView.getUint16(at, this.#littleEndian);
  }

  #uint32(at: number): number {
    return this.#headerView.getUint32(at, this.#littleEndian);
  }
}

function tagText(tag: number): string {
  return `(${hex(tag >>> 16, 4)},${hex(tag & 0xffff, 4)})`;
}

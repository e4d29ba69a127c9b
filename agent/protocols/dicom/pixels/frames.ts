import { concat } from "../../bytes.ts";
import { hex } from "../bytes.ts";
import { type Encoding, UNDEFINED_LENGTH } from "../dataset.ts";

// Finds and reads a single frame of a file. Other frames are not read, because a clip may have gigabytes.

/** Reads bytes of the file, fewer than `length` at its end. */
export type ReadAt = (offset: number, length: number) => Uint8Array;

export interface FrameLocation {
  /** Offset of the pixel element. */
  readonly offset: number;
  readonly encoding: Encoding;
  /** Frame number, from 1. */
  readonly number: number;
}

const PIXEL_DATA = 0x7fe0_0010;
const OFFSET_TABLES: readonly number[] = [0x7fe0_0001, 0x7fe0_0002];
const ITEM = 0xfffe_e000;
/** Max bytes of a frame, compressed or not; a larger one is not drawn. */
const FRAME_BYTES_MAX = 256 * 1024 * 1024;

/** Reads an uncompressed frame as little endian. @returns a string with the problem of an invalid one */
export function readNativeFrame(
  read: ReadAt,
  { offset, encoding, number }: FrameLocation,
  length: number,
): Uint8Array | string {
  const head = readHead(read, offset, encoding);
  if (typeof head === "string") return head;
  if (length > FRAME_BYTES_MAX) return `a frame of ${length} bytes, at most ${FRAME_BYTES_MAX}`;
  if (head.length < number * length)
    return `frame ${number} ends at byte ${number * length}, but the pixels have ${head.length} bytes`;
  const frame = read(head.valueOffset + (number - 1) * length, length);
  if (frame.length < length) return "the file ends within the frame";
  if (encoding.littleEndian || head.vr !== "OW") return frame;
  return frame.map((_, index) => frame[index ^ 1]!); // swaps the bytes of each 16-bit word
}

/** Joins the fragments of an encapsulated frame (PS3.5 §A.4). `begins` returns whether a fragment starts a frame. */
export function readEncapsulatedFrame(
  read: ReadAt,
  { offset, encoding, number }: FrameLocation,
  begins: (start: Uint8Array) => boolean,
): Uint8Array | string {
  const head = readHead(read, offset, encoding);
  if (typeof head === "string") return head;
  if (head.length !== UNDEFINED_LENGTH) return "expected encapsulated pixels, got native ones";
  const fragments: Uint8Array[] = [];
  let [frame, bytes] = [0, 0];
  // The first item is the offset table. Many devices leave it empty and some fill it wrongly, so the items are counted.
  for (let at = head.valueOffset, isTable = true; ; isTable = false) {
    const item = read(at, 8);
    if (item.length < 8) return "the file ends before its last frame";
    const { tag, length } = itemOf(item);
    if (tag !== ITEM) break;
    if (!isTable) {
      if (begins(read(at + 8, Math.min(2, length)))) frame += 1;
      if (frame > number) break;
      if (frame === number) {
        bytes += length;
        if (bytes > FRAME_BYTES_MAX) return `a frame of more than ${FRAME_BYTES_MAX} bytes`;
        const fragment = read(at + 8, length);
        if (fragment.length < length) return "the file ends within the frame";
        fragments.push(fragment);
      }
    }
    at += 8 + length;
  }
  return fragments.length === 0 ? `no frame ${number}: the file has ${frame} frames` : concat(fragments);
}

interface ElementHead {
  readonly vr: string;
  readonly length: number;
  readonly valueOffset: number;
}

function readHead(read: ReadAt, offset: number, { explicitVr, littleEndian }: Encoding): ElementHead | string {
  const bytes = read(offset, 12);
  if (bytes.length < 12) return "no pixels";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = view.getUint16(0, littleEndian) * 0x1_0000 + view.getUint16(2, littleEndian);
  // Offset tables of an encapsulated clip (PS3.3 §C.7.6.3.1.8) precede its pixels. Their VR is OV, so they need
  // Explicit VR.
  if (OFFSET_TABLES.includes(tag) && explicitVr) {
    return readHead(read, offset + 12 + view.getUint32(8, littleEndian), { explicitVr, littleEndian });
  }
  if (tag !== PIXEL_DATA) return `expected pixels, got (${hex(tag >>> 16, 4)},${hex(tag & 0xffff, 4)})`;
  const vr = explicitVr ? String.fromCharCode(bytes[4]!, bytes[5]!) : "OW";
  const length = view.getUint32(explicitVr ? 8 : 4, littleEndian);
  return { vr, length, valueOffset: offset + (explicitVr ? 12 : 8) };
}

function itemOf(bytes: Uint8Array): { tag: number; length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { tag: view.getUint16(0, true) * 0x1_0000 + view.getUint16(2, true), length: view.getUint32(4, true) };
}

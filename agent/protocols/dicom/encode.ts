import { concat } from "../bytes.ts";
import { ascii, evenText } from "./bytes.ts";
import { type Encoding, LONG_VRS, UNDEFINED_LENGTH } from "./dataset.ts";

// Encodes elements (PS3.5 §7), for File Meta Information and for the simulator.

/** Text, raw bytes, a number for a VR of 16 bits, or the items of a sequence. */
type ElementValue = string | number | Uint8Array | readonly Dataset[];
export type Element = readonly [tag: number, vr: string, value: ElementValue];
/** Elements in the order of their tags. */
export type Dataset = readonly Element[];

const EXPLICIT_LITTLE_ENDIAN: Encoding = { explicitVr: true, littleEndian: true };
const ITEM = 0xfffe_e000;
const ITEM_END = 0xfffe_e00d;
const SEQUENCE_END = 0xfffe_e0dd;

export function encodeDataset(dataset: Dataset, encoding: Encoding = EXPLICIT_LITTLE_ENDIAN): Uint8Array {
  return concat(dataset.map((element) => encodeElement(element, encoding)));
}

/** Encodes sequences in undefined length, as most devices do. */
function encodeElement([tag, vr, value]: Element, encoding: Encoding): Uint8Array {
  if (typeof value === "object" && !(value instanceof Uint8Array)) {
    return concat([
      encodeHead(tag, vr, UNDEFINED_LENGTH, encoding),
      ...value.flatMap((item) => [
        encodeHead(ITEM, "", UNDEFINED_LENGTH, encoding),
        encodeDataset(item, encoding),
        encodeHead(ITEM_END, "", 0, encoding),
      ]),
      encodeHead(SEQUENCE_END, "", 0, encoding),
    ]);
  }
  const bytes = encodeValue(vr, value, encoding);
  return concat([encodeHead(tag, vr, bytes.length, encoding), bytes]);
}

function encodeValue(vr: string, value: string | number | Uint8Array, { littleEndian }: Encoding): Uint8Array {
  if (value instanceof Uint8Array) return value.length % 2 === 0 ? value : concat([value, Uint8Array.of(0)]);
  if (typeof value === "string") return evenText(value, vr === "UI" ? "\0" : " ");
  const bytes = new Uint8Array(2);
  new DataView(bytes.buffer).setUint16(0, value, littleEndian);
  return bytes;
}

/** Encodes tag, VR and length. Items have the VR "". */
function encodeHead(tag: number, vr: string, length: number, { explicitVr, littleEndian }: Encoding): Uint8Array {
  const hasVr = explicitVr && vr !== "";
  const isLong = hasVr && LONG_VRS.has(vr);
  const head = new Uint8Array(isLong ? 12 : 8);
  const view = new DataView(head.buffer);
  view.setUint16(0, tag >>> 16, littleEndian);
  view.setUint16(2, tag & 0xffff, littleEndian);
  if (hasVr) head.set(ascii(vr), 4);
  if (hasVr && !isLong) view.setUint16(6, length, littleEndian);
  else view.setUint32(isLong ? 8 : 4, length, littleEndian);
  return head;
}

import { EXPLICIT_LITTLE_ENDIAN } from "../../protocols/dicom/uids.ts";
import fs from "node:fs";
import { inflateRawSync } from "node:zlib";
import { data, log } from "dcmjs";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { DatasetWalker, encodingOf } from "../../protocols/dicom/dataset.ts";
import type { Elements } from "../../protocols/dicom/reports/elements.ts";
import { encodeFileHead } from "../../protocols/dicom/part10.ts";
import { withTexts } from "./header-texts.ts";

// Parses the header of a file. It runs in the file process, with limits, because a hostile header may take very long.

export interface HeaderLocation {
  readonly file: string;
  /** Bytes of the file before the pixels. */
  readonly headerBytes: number;
  readonly transferSyntax: string;
}

/** Max bytes of a header. A usual one has some kilobytes, a long structured report some hundred. */
const HEADER_BYTES_MAX = 8 * 1024 * 1024;
/** Max bytes of an inflated dataset. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;

log.setLevel("silent");

/** Parses a header and passes it to `read`, with the reason if only a part is readable. @throws if nothing is readable */
export function parseHeader<Result>(
  { file, headerBytes, transferSyntax }: HeaderLocation,
  read: (elements: Elements, cutShort: string | null, utf8Under: string | null) => Result,
): Result {
  if (headerBytes > HEADER_BYTES_MAX) throw new Error(`a header of ${headerBytes} bytes, at most ${HEADER_BYTES_MAX}`);
  const bytes = withKnownVrs(inflated(readStart(file, headerBytes), transferSyntax), transferSyntax);
  const { elements, cutShort } = parsed(bytes);
  const texts = withTexts(bytes, transferSyntax, elements, (blanked) => elementsOf(blanked, true));
  return read(texts.elements, cutShort, texts.utf8Under);
}

/** After an unknown character set or an invalid value, the readable part is read. */
function parsed(bytes: Uint8Array): { readonly elements: Elements; readonly cutShort: string | null } {
  try {
    return { elements: elementsOf(bytes, false), cutShort: null };
  } catch (error) {
    return { elements: elementsOf(bytes, true), cutShort: errorMessage(error) };
  }
}

function elementsOf(bytes: Uint8Array, ignoreErrors: boolean): Elements {
  return data.DicomMessage.readFile(Uint8Array.from(bytes).buffer, { ignoreErrors }).dict;
}

function readStart(file: string, length: number): Uint8Array {
  const descriptor = fs.openSync(file, "r");
  try {
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, length, 0));
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Names LT in place of each VR that a device made up: the parser takes the length of an unknown VR to have 32 bits. */
function withKnownVrs(bytes: Uint8Array, transferSyntax: string): Uint8Array {
  const from = datasetStart(bytes);
  const walker = new DatasetWalker(encodingOf(transferSyntax) ?? encodingOf(EXPLICIT_LITTLE_ENDIAN)!);
  walker.receive(bytes.subarray(from));
  for (const offset of walker.end().oddVrs) bytes.set(LT, from + offset);
  return bytes;
}

const LT = [0x4c, 0x54];

/** Returns the offset of the dataset, after the File Meta Information. */
function datasetStart(bytes: Uint8Array): number {
  const PREAMBLE_BYTES = 132;
  const GROUP_LENGTH_BYTES = 12;
  const metaStart = PREAMBLE_BYTES + GROUP_LENGTH_BYTES;
  return metaStart + new DataView(bytes.buffer, bytes.byteOffset).getUint32(metaStart - 4, true);
}

/** Inflates a deflated dataset within a bound, because the parser has none. */
function inflated(bytes: Uint8Array, transferSyntax: string): Uint8Array {
  if (encodingOf(transferSyntax) !== null) return bytes;
  const dataset = inflateRawSync(bytes.subarray(datasetStart(bytes)), { maxOutputLength: INFLATED_BYTES_MAX });
  const meta = { sopClass: "1", sopInstance: "1", transferSyntax: EXPLICIT_LITTLE_ENDIAN, sourceAe: "" };
  return Buffer.concat([encodeFileHead(meta), dataset]);
}

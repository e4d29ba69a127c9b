import fs from "node:fs";
import { parentPort } from "node:worker_threads";
import { inflateRawSync } from "node:zlib";
import { data, log } from "dcmjs";
import { encodingOf } from "./dicom/dataset.ts";
import type { Elements } from "./dicom/elements.ts";
import { type Header, readHeader } from "./dicom/header.ts";
import { encodeFileHead } from "./dicom/part10.ts";

// The thread that parses headers: what a hostile one does to the parser, it does here. Who asks sets a time limit.

export interface HeaderRequest {
  readonly file: string;
  /** Bytes of the file before the pixels. */
  readonly headerBytes: number;
  readonly transferSyntax: string;
}

export type HeaderAnswer = { readonly header: Header; readonly cutShort: string | null } | { readonly problem: string };

/** A header is some kilobytes; a long structured report some hundred. */
const HEADER_BYTES_MAX = 8 * 1024 * 1024;
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;
const EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1";

log.setLevel("silent");

parentPort?.on("message", (request: HeaderRequest) => {
  let answer: HeaderAnswer;
  try {
    answer = parse(request);
  } catch (error) {
    answer = { problem: sentence(error) };
  }
  parentPort?.postMessage(answer);
});

function parse({ file, headerBytes, transferSyntax }: HeaderRequest): HeaderAnswer {
  if (headerBytes > HEADER_BYTES_MAX) return { problem: `${headerBytes} bytes, at most ${HEADER_BYTES_MAX}` };
  const bytes = withoutDeflate(readStart(file, headerBytes), transferSyntax);
  try {
    return { header: readHeader(elementsOf(bytes, false)), cutShort: null };
  } catch (error) {
    // An unknown charset or a wrong value: all that can be read in spite of it.
    return { header: readHeader(elementsOf(bytes, true)), cutShort: sentence(error) };
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

/** The parser would inflate a small file to any length. */
function withoutDeflate(bytes: Uint8Array, transferSyntax: string): Uint8Array {
  if (encodingOf(transferSyntax) !== null) return bytes;
  const PREAMBLE_BYTES = 132;
  const GROUP_LENGTH_BYTES = 12;
  const metaStart = PREAMBLE_BYTES + GROUP_LENGTH_BYTES;
  const metaLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(metaStart - 4, true);
  const dataset = inflateRawSync(bytes.subarray(metaStart + metaLength), { maxOutputLength: INFLATED_BYTES_MAX });
  const meta = { sopClass: "1", sopInstance: "1", transferSyntax: EXPLICIT_LITTLE_ENDIAN, sourceAe: "" };
  return Buffer.concat([encodeFileHead(meta), dataset]);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

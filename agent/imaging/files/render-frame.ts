import { EXPLICIT_BIG_ENDIAN, EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN } from "../../protocols/dicom/uids.ts";
import fs from "node:fs";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { encodingOf } from "../../protocols/dicom/dataset.ts";
import {
  readEncapsulatedFrame,
  type FrameLocation,
  readNativeFrame,
  type ReadAt,
} from "../../protocols/dicom/pixels/frames.ts";
import {
  drawFrame,
  frameLength,
  type Picture,
  type PixelFormat,
  readPixelFormat,
  shrink,
} from "../../protocols/dicom/pixels/pixels.ts";
import { decoderOf } from "./decode-frame.ts";
import { type HeaderLocation, parseHeader } from "./parse-header.ts";
import { encodePng } from "./png.ts";

// Draws a frame of a file. It runs in the file process, because the bytes are untrusted and some decoders are third-party.

export interface PreviewRequest extends HeaderLocation {
  /** Frame number, from 1. */
  readonly frame: number;
  /** Max pixels of a side; a larger picture is scaled down. */
  readonly sideMax: number;
}

export interface Preview {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

export type PreviewResult = Preview | { readonly problem: string };

/** Transfer syntaxes of uncompressed pixels. */
const NATIVE: readonly string[] = [IMPLICIT_LITTLE_ENDIAN, EXPLICIT_LITTLE_ENDIAN, EXPLICIT_BIG_ENDIAN];

export async function drawFile(request: PreviewRequest): Promise<PreviewResult> {
  try {
    return await draw(request);
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

async function draw({ frame: number, sideMax, ...place }: PreviewRequest): Promise<PreviewResult> {
  const encoding = encodingOf(place.transferSyntax);
  if (encoding === null) return { problem: "its dataset is deflated" };
  const format = parseHeader(place, readPixelFormat);
  if (typeof format === "string") return { problem: format };
  const descriptor = fs.openSync(place.file, "r");
  try {
    const at = { offset: place.headerBytes, encoding, number };
    const picture = await pictureOf(readerOf(descriptor), at, format, place.transferSyntax);
    if (typeof picture === "string") return { problem: picture };
    const small = shrink(picture, sideMax);
    return { png: encodePng(small), width: small.width, height: small.height, frames: format.frames };
  } finally {
    fs.closeSync(descriptor);
  }
}

function readerOf(descriptor: number): ReadAt {
  const { size } = fs.fstatSync(descriptor);
  return (offset, length) => {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
    return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, bytes.length, offset));
  };
}

async function pictureOf(
  read: ReadAt,
  place: FrameLocation,
  format: PixelFormat,
  transferSyntax: string,
): Promise<Picture | string> {
  if (NATIVE.includes(transferSyntax)) {
    const frame = readNativeFrame(read, place, frameLength(format));
    return typeof frame === "string" ? frame : drawFrame(frame, format);
  }
  const decoder = decoderOf(transferSyntax);
  if (decoder === undefined) return `its transfer syntax ${transferSyntax} is not drawn`;
  const frame = readEncapsulatedFrame(read, place, decoder.begins);
  if (typeof frame === "string") return frame;
  const decoded = await decoder.decode(frame, format);
  return typeof decoded === "string" ? decoded : drawFrame(decoded.bytes, decoded.format);
}

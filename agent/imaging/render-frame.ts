import {
  EXPLICIT_BIG_ENDIAN,
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  JPEG_BASELINE,
  RLE_LOSSLESS,
} from "../protocols/dicom/uids.ts";
import fs from "node:fs";
import { decode } from "jpeg-js";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { encodingOf } from "../protocols/dicom/dataset.ts";
import { readEncapsulatedFrame, type FrameLocation, readNativeFrame, type ReadAt } from "../protocols/dicom/frames.ts";
import {
  drawFrame,
  frameLength,
  type Picture,
  type PixelFormat,
  readPixelFormat,
  shrink,
} from "../protocols/dicom/pixels.ts";
import { decodeRle } from "../protocols/dicom/rle.ts";
import { type HeaderLocation, parseHeader } from "./parse-header.ts";
import { encodePng } from "./png.ts";

// Draws a frame of a file. It runs in a thread, because the bytes are untrusted and some decoders are third-party.

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
const JPEG_MEMORY_MB_MAX = 512;
const JPEG_MEGAPIXELS_MAX = 64;

export function drawFile(request: PreviewRequest): PreviewResult {
  try {
    return draw(request);
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

function draw({ frame: number, sideMax, ...place }: PreviewRequest): PreviewResult {
  const encoding = encodingOf(place.transferSyntax);
  if (encoding === null) return { problem: "its dataset is deflated" };
  const format = parseHeader(place, readPixelFormat);
  if (typeof format === "string") return { problem: format };
  const descriptor = fs.openSync(place.file, "r");
  try {
    const at = { offset: place.headerBytes, encoding, number };
    const picture = pictureOf(readerOf(descriptor), at, format, place.transferSyntax);
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

function pictureOf(read: ReadAt, place: FrameLocation, format: PixelFormat, transferSyntax: string): Picture | string {
  if (NATIVE.includes(transferSyntax)) {
    const frame = readNativeFrame(read, place, frameLength(format));
    return typeof frame === "string" ? frame : drawFrame(frame, format);
  }
  if (transferSyntax === RLE_LOSSLESS) {
    const frame = readEncapsulatedFrame(read, place, () => true); // one fragment per frame (PS3.5 §A.4.2)
    return typeof frame === "string" ? frame : fromRle(frame, format);
  }
  if (transferSyntax === JPEG_BASELINE) {
    const frame = readEncapsulatedFrame(read, place, beginsJpeg);
    return typeof frame === "string" ? frame : fromJpeg(frame, format);
  }
  return `its transfer syntax ${transferSyntax} is not drawn`;
}

/** Returns whether a fragment begins with SOI (FF D8), which compressed data cannot contain. */
function beginsJpeg(fragment: Uint8Array): boolean {
  return fragment[0] === 0xff && fragment[1] === 0xd8;
}

function fromRle(frame: Uint8Array, format: PixelFormat): Picture | string {
  const { rows, columns, bitsAllocated, photometric } = format;
  if (photometric === "YBR_FULL_422") return "RLE with subsampled colour is not drawn";
  const samples = photometric.startsWith("MONOCHROME") ? 1 : 3;
  const decoded = decodeRle(frame, rows * columns, samples, bitsAllocated / 8);
  return typeof decoded === "string" ? decoded : drawFrame(decoded, { ...format, planar: true });
}

function fromJpeg(frame: Uint8Array, format: PixelFormat): Picture | string {
  const { photometric } = format;
  const { width, height, data } = decode(frame, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    colorTransform: photometric !== "RGB",
    maxMemoryUsageInMB: JPEG_MEMORY_MB_MAX,
    maxResolutionInMP: JPEG_MEGAPIXELS_MAX,
  });
  if (format.columns !== width || format.rows !== height) {
    return `the JPEG has ${width} x ${height} pixels, its header has ${format.columns} x ${format.rows}`;
  }
  if (!photometric.startsWith("MONOCHROME")) return drawFrame(data, { ...format, photometric: "RGB", planar: false });
  const grey = data.filter((_, index) => index % 3 === 0); // the decoder gives three channels
  return drawFrame(grey, format);
}

import { decode as decodeJpeg } from "jpeg-js";
import {
  JPEG_2000,
  JPEG_2000_LOSSLESS,
  JPEG_BASELINE,
  JPEG_LOSSLESS,
  JPEG_LOSSLESS_FIRST_ORDER,
  JPEG_LS,
  JPEG_LS_LOSSLESS,
  RLE_LOSSLESS,
} from "../../protocols/dicom/uids.ts";
import { isGrey, type PixelFormat } from "../../protocols/dicom/pixels/pixels.ts";
import { type CodestreamSize, jpeg2000Size, jpegSize } from "../../protocols/dicom/pixels/codestream.ts";
import { decodeRle } from "../../protocols/dicom/pixels/rle.ts";

// Decodes one compressed frame. Most decoders are third-party, so this runs only in the file process.

/** Uncompressed little endian samples, and the format that they have now. */
export interface DecodedFrame {
  readonly bytes: Uint8Array;
  readonly format: PixelFormat;
}

interface Decoder {
  /** Whether a fragment starts a frame (PS3.5 §A.4). */
  readonly begins: (start: Uint8Array) => boolean;
  /** @returns a string with the problem of a faulty frame */
  readonly decode: (frame: Uint8Array, format: PixelFormat) => DecodedFrame | string | Promise<DecodedFrame | string>;
}

const JPEG_MEMORY_MB_MAX = 512;
const JPEG_MEGAPIXELS_MAX = 64;

/** All JPEG families start with a marker that their data cannot contain: SOI (FF D8), for JPEG 2000 SOC (FF 4F). */
const beginsJpeg = (start: Uint8Array) => start[0] === 0xff && start[1] === 0xd8;
const beginsJpeg2000 = (start: Uint8Array) => start[0] === 0xff && start[1] === 0x4f;

const decoders = new Map<string, Decoder>([
  [RLE_LOSSLESS, { begins: () => true, decode: fromRle }],
  [JPEG_BASELINE, { begins: beginsJpeg, decode: sized(jpegSize, fromJpeg) }],
  [JPEG_LOSSLESS, { begins: beginsJpeg, decode: sized(jpegSize, fromLosslessJpeg) }],
  [JPEG_LOSSLESS_FIRST_ORDER, { begins: beginsJpeg, decode: sized(jpegSize, fromLosslessJpeg) }],
  [JPEG_LS_LOSSLESS, { begins: beginsJpeg, decode: sized(jpegSize, fromJpegLs) }],
  [JPEG_LS, { begins: beginsJpeg, decode: sized(jpegSize, fromJpegLs) }],
  [JPEG_2000_LOSSLESS, { begins: beginsJpeg2000, decode: sized(jpeg2000Size, fromJpeg2000) }],
  [JPEG_2000, { begins: beginsJpeg2000, decode: sized(jpeg2000Size, fromJpeg2000) }],
]);

/** Checks the size that a codestream states before a decoder sees it: a few bytes may require gigabytes, which no limit stops. */
function sized(read: (frame: Uint8Array) => CodestreamSize | null, decode: Decoder["decode"]): Decoder["decode"] {
  return (frame, format) => {
    const size = read(frame);
    if (size === null) return "the compressed frame states no size";
    const problem = sizeProblem(size, format);
    if (problem !== null) return problem;
    const wanted = isGrey(format) ? 1 : 3;
    if (size.components !== wanted) return samplesProblem(size.components, wanted);
    return decode(frame, format);
  };
}

function samplesProblem(samples: number, wanted: number): string {
  return `the compressed frame has ${samples} samples per pixel, its header has ${wanted}`;
}

/** Returns the decoder of a transfer syntax; undefined if its frames are not drawn. */
export function decoderOf(transferSyntax: string): Decoder | undefined {
  return decoders.get(transferSyntax);
}

function fromRle(frame: Uint8Array, format: PixelFormat): DecodedFrame | string {
  const { rows, columns, bitsAllocated, photometric } = format;
  if (photometric === "YBR_FULL_422") return "RLE with subsampled colour is not drawn";
  const bytes = decodeRle(frame, rows * columns, isGrey(format) ? 1 : 3, bitsAllocated / 8);
  return typeof bytes === "string" ? bytes : { bytes, format: { ...format, planar: true } };
}

function fromJpeg(frame: Uint8Array, format: PixelFormat): DecodedFrame | string {
  const { width, height, data } = decodeJpeg(frame, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    colorTransform: format.photometric !== "RGB",
    maxMemoryUsageInMB: JPEG_MEMORY_MB_MAX,
    maxResolutionInMP: JPEG_MEGAPIXELS_MAX,
  });
  const problem = sizeProblem({ width, height }, format);
  if (problem !== null) return problem;
  // The decoder gives three channels.
  if (isGrey(format)) return { bytes: data.filter((_, index) => index % 3 === 0), format };
  return { bytes: data, format: { ...format, photometric: "RGB", planar: false } };
}

async function fromLosslessJpeg(frame: Uint8Array, format: PixelFormat): Promise<DecodedFrame | string> {
  const { Decoder: LosslessDecoder } = await import("jpeg-lossless-decoder-js");
  const decoder = new LosslessDecoder();
  const copy = Uint8Array.from(frame);
  const bytes = new Uint8Array(decoder.decompress(copy.buffer, 0, copy.length));
  const { xDim: width, yDim: height, numComp, numBytes } = decoder;
  return checked({ bytes, width, height, samples: numComp, bytesPerSample: numBytes }, { ...format, planar: false });
}

/** The codecs print what they find wrong. The caller reads it from the size of the frame. */
const SILENT = { print: () => undefined, printErr: () => undefined };

// A thread can load each codec only once.
const loadJpegLs = once(async () => (await import("@cornerstonejs/codec-charls/decodewasmjs")).default(SILENT));
const loadJpeg2000 = once(async () => (await import("@cornerstonejs/codec-openjpeg/decodewasmjs")).default(SILENT));

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => (loading ??= load());
}

async function fromJpegLs(frame: Uint8Array, format: PixelFormat): Promise<DecodedFrame | string> {
  const { JpegLSDecoder } = await loadJpegLs();
  return fromWasm(new JpegLSDecoder(), frame, { ...format, planar: false });
}

async function fromJpeg2000(frame: Uint8Array, format: PixelFormat): Promise<DecodedFrame | string> {
  const { J2KDecoder } = await loadJpeg2000();
  // The codec undoes the colour transform of JPEG 2000 (PS3.3 §C.7.6.3.1.2).
  const photometric = format.photometric.startsWith("YBR_") ? "RGB" : format.photometric;
  return fromWasm(new J2KDecoder(), frame, { ...format, photometric, planar: false });
}

const CODEC_FAILED = "its codec failed, perhaps for want of memory";

function fromWasm(decoder: WasmDecoder, frame: Uint8Array, format: PixelFormat): DecodedFrame | string {
  try {
    decoder.getEncodedBuffer(frame.length).set(frame);
    decoder.decode();
  } catch {
    return CODEC_FAILED; // its own words are for its makers
  }
  const { width, height, bitsPerSample, componentCount: samples } = decoder.getFrameInfo();
  if (width === 0) return CODEC_FAILED;
  const bytes = Uint8Array.from(decoder.getDecodedBuffer());
  return checked({ bytes, width, height, samples, bytesPerSample: bitsPerSample > 8 ? 2 : 1 }, format);
}

interface Samples {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly samples: number;
  readonly bytesPerSample: number;
}

/** Checks what a codec returned against the header, because the bytes are untrusted. */
function checked({ bytes, samples, bytesPerSample, ...size }: Samples, format: PixelFormat): DecodedFrame | string {
  const problem = sizeProblem(size, format);
  if (problem !== null) return problem;
  const wanted = isGrey(format) ? 1 : 3;
  if (samples !== wanted) return samplesProblem(samples, wanted);
  const length = size.width * size.height * samples;
  if (bytes.length !== length * bytesPerSample) return "the compressed frame is damaged";
  if (bytesPerSample * 8 === format.bitsAllocated) return { bytes, format };
  // A codec may store 8 bits of 16 allocated ones in a byte.
  if (bytesPerSample === 2) return "the compressed frame has 16 bits, its header has 8";
  const wide = new Uint8Array(length * 2);
  for (let index = 0; index < length; index++) wide[index * 2] = bytes[index]!;
  return { bytes: wide, format };
}

function sizeProblem(
  { width, height }: { width: number; height: number },
  { columns, rows }: PixelFormat,
): string | null {
  if (width === columns && height === rows) return null;
  return `the compressed frame has ${width} x ${height} pixels, its header has ${columns} x ${rows}`;
}

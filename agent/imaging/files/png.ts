import { crc32, deflateSync } from "node:zlib";
import { FRAME_CHUNK } from "../../../shared/api/agent/preview.ts";
import { concat } from "../../protocols/bytes.ts";
import type { Picture } from "../../protocols/dicom/pixels/pixels.ts";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const COLOUR_TYPES = { 1: 0, 3: 2 } as const;

/** Encodes a picture as PNG with 8 bits per channel (RFC 2083). */
export function encodePng({ width, height, channels, pixels }: Picture): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOUR_TYPES[channels]], 8);
  const rowBytes = width * channels;
  const rows = Buffer.alloc(height * (rowBytes + 1)); // each row starts with its filter type, 0
  for (let row = 0; row < height; row++) {
    rows.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  }
  return concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

/** Adds frames of a clip to a picture, before its end. */
export function withFrames(png: Uint8Array, frames: readonly Uint8Array[]): Uint8Array {
  const end = png.length - END_BYTES;
  const chunks = frames.map((frame) => chunk(FRAME_CHUNK, Buffer.from(frame)));
  return concat([png.subarray(0, end), ...chunks, png.subarray(end)]);
}

/** Bytes that a frame takes: the PNG, with the length, type and checksum of its chunk. */
export function frameBytes(frame: Uint8Array): number {
  return frame.length + 12;
}

const END_BYTES = 12;

function chunk(type: string, data: Buffer): Uint8Array {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(content));
  return concat([length, content, check]);
}

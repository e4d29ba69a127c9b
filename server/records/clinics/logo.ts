import { inflateSync } from "node:zlib";

// Checks the logo of a clinic before it is stored, so that no report fails because of it.

export const LOGO_BYTES_MAX = 300_000;
const SIDE_MAX = 2000;

/** @returns the picture as a data URL; null if it is not a complete PNG or JPEG within the bounds */
export function readLogo(bytes: Buffer): string | null {
  if (bytes.length > LOGO_BYTES_MAX) return null;
  const type = isPng(bytes) ? "png" : isJpeg(bytes) ? "jpeg" : null;
  return type === null ? null : `data:image/${type};base64,${bytes.toString("base64")}`;
}

function isAllowed(width: number, height: number): boolean {
  return [width, height].every((side) => side >= 1 && side <= SIDE_MAX);
}

/** Channels by colour type (W3C PNG §11.2.2). Interlaced pictures and 16 bits are refused, since few logos have them. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Reads the chunks to the end and decodes the pixels (W3C PNG §5). */
function isPng(bytes: Buffer): boolean {
  if (bytes.length < 33 || bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return false;
  const [width, height, depth] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes[24] ?? 0];
  const channels = CHANNELS[bytes[25] ?? -1];
  if (!isAllowed(width, height) || channels === undefined || depth > 8 || bytes[28] !== 0) return false;
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (name === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
    if (name === "IEND")
      return at === bytes.length && hasRows(data, { height, rowBytes: 1 + Math.ceil((width * channels * depth) / 8) });
  }
  return false;
}

/** Whether the pixels are complete rows, each after the number of a filter (W3C PNG §9.2). */
function hasRows(data: readonly Buffer[], { height, rowBytes }: { height: number; rowBytes: number }): boolean {
  try {
    const rows = inflateSync(Buffer.concat(data), { maxOutputLength: SIDE_MAX * (1 + SIDE_MAX * 4) });
    return rows.length === height * rowBytes && rows.every((byte, at) => at % rowBytes !== 0 || byte <= 4);
  } catch {
    return false;
  }
}

/** Reads the segments up to the scan (ITU T.81 B.1): a frame of an allowed size, and the end of the image. */
function isJpeg(bytes: Buffer): boolean {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8 || bytes.readUInt16BE(bytes.length - 2) !== 0xffd9)
    return false;
  let isFramed = false;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xffc0 || marker > 0xfffe) return false;
    if (marker === 0xffda) return isFramed;
    // Baseline, extended and progressive frames.
    if (marker >= 0xffc0 && marker <= 0xffc2)
      isFramed = isAllowed(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return false;
}

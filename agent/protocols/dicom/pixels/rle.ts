// RLE frames (PS3.5 annex G): one run-length encoded segment per byte of a pixel, the high bytes first.

const HEADER_BYTES = 64;
const SEGMENTS_MAX = 15;

/**
 * Decodes a frame to little endian planes, one per sample, of `pixels` pixels with `bytesEach` bytes.
 * @returns a string with the problem of an invalid frame
 */
export function decodeRle(bytes: Uint8Array, pixels: number, samples: number, bytesEach: number): Uint8Array | string {
  if (bytes.length < HEADER_BYTES) return `an RLE frame of ${bytes.length} bytes`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(0, true);
  if (count !== samples * bytesEach || count > SEGMENTS_MAX) {
    return `${count} RLE segments, expected ${samples * bytesEach}`;
  }
  const frame = new Uint8Array(pixels * count);
  for (let segment = 0; segment < count; segment++) {
    const from = view.getUint32(4 + segment * 4, true);
    const to = segment + 1 < count ? view.getUint32(8 + segment * 4, true) : bytes.length;
    const [sample, high] = [Math.floor(segment / bytesEach), segment % bytesEach];
    const first = sample * pixels * bytesEach + bytesEach - 1 - high;
    const written = unpack(bytes.subarray(from, to), frame, first, bytesEach, pixels);
    if (written < pixels) return `RLE segment ${segment + 1} has ${written} of ${pixels} pixels`;
  }
  return frame;
}

/** Writes at most `pixels` bytes, `step` apart. @returns the number of written bytes */
function unpack(packed: Uint8Array, frame: Uint8Array, first: number, step: number, pixels: number): number {
  let written = 0;
  for (let at = 0; at < packed.length && written < pixels; ) {
    const head = packed[at++]!;
    if (head === 128) continue; // no operation
    const isRun = head > 128;
    const length = isRun ? 257 - head : head + 1;
    const end = Math.min(written + length, pixels);
    const available = isRun ? (at < packed.length ? length : 0) : Math.min(length, packed.length - at);
    for (let index = 0; written < end && index < available; index++) {
      frame[first + step * written++] = packed[isRun ? at : at + index]!;
    }
    at += isRun ? 1 : length;
  }
  return written;
}

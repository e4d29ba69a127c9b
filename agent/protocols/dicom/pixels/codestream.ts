// The size that a compressed frame states, read before a decoder allocates memory for it.

/** The size in the header of a codestream. */
export interface CodestreamSize {
  readonly width: number;
  readonly height: number;
  readonly components: number;
}

const SOI = 0xd8;
const SOS = 0xda;
/** Frame headers of JPEG (ISO/IEC 10918-1 table B.1) without DHT, JPG and DAC, and that of JPEG-LS (ISO/IEC 14495-1 table C.1). */
const isFrameHeader = (marker: number) =>
  marker === 0xf7 || (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker));
/** Markers without a length: TEM, RST and SOI. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= SOI);

/** Reads the frame header of JPEG or JPEG-LS. @returns null if the first scan precedes it */
export function jpegSize(frame: Uint8Array): CodestreamSize | null {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  for (let at = 0; at + 4 <= frame.length; ) {
    if (frame[at] !== 0xff) return null;
    const marker = frame[at + 1]!;
    if (marker === 0xff || isAlone(marker)) {
      at += marker === 0xff ? 1 : 2; // FF fills
      continue;
    }
    if (marker === SOS) return null;
    if (isFrameHeader(marker)) {
      if (at + 10 > frame.length) return null;
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), components: frame[at + 9]! };
    }
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** Reads the SIZ marker of JPEG 2000 (ISO/IEC 15444-1 §A.5.1), which follows SOC. @returns null if it does not */
export function jpeg2000Size(frame: Uint8Array): CodestreamSize | null {
  if (frame.length < 42 || frame[2] !== 0xff || frame[3] !== 0x51) return null;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const [width, height] = [view.getUint32(8) - view.getUint32(16), view.getUint32(12) - view.getUint32(20)];
  return { width, height, components: view.getUint16(40) };
}

import { encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import { encodeFileHead } from "../../../agent/protocols/dicom/part10.ts";
import { CR_STORAGE } from "./dicom.ts";

// Small images that need much memory, though the size that each states is that of its header.

export const JPEG_2000 = "1.2.840.10008.1.2.4.90";
const PIXELS = Buffer.from("e07f10004f420000ffffffff", "hex");
const END = Buffer.from("feffdde000000000", "hex");

export const headOf = (transferSyntax: string) =>
  encodeFileHead({ sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax, sourceAe: "DX1" });

function item(length: number): Buffer {
  const bytes = Buffer.from("feff00e000000000", "hex");
  bytes.writeUInt32LE(length, 4);
  return bytes;
}

export interface HostileImage {
  /** The dataset. */
  readonly bytes: Buffer;
  /** Offset of its pixels. */
  readonly pixelsAt: number;
}

/** Builds a dataset of colour pixels with one compressed frame. */
function imageOf(side: number, parts: readonly Uint8Array[]): HostileImage {
  const frame = Buffer.concat(parts);
  const even = Buffer.concat([frame, Buffer.alloc(frame.length % 2)]);
  const start = encodeDataset([
    [0x0008_0016, "UI", CR_STORAGE],
    [0x0008_0018, "UI", "1.2.3.1"],
    [0x0008_0060, "CS", "CR"],
    [0x0020_000d, "UI", "1.2.3"],
    [0x0028_0002, "US", 3],
    [0x0028_0004, "CS", "RGB"],
    [0x0028_0010, "US", side],
    [0x0028_0011, "US", side],
    [0x0028_0100, "US", 8],
  ]);
  return { bytes: Buffer.concat([start, PIXELS, item(0), item(even.length), even, END]), pixelsAt: start.length };
}

/** A dataset of 64 million empty colour pixels in 110 bytes of JPEG 2000. Its codec would take 1.2 GB. */
export function emptyJpeg2000(): HostileImage {
  const SIDE = 8_000;
  const size = Buffer.alloc(51);
  size.write("ff4fff51002f0000", "hex");
  // Width, height, their offset, and the same of the only tile; then three components of 8 bits.
  for (const [index, value] of [SIDE, SIDE, 0, 0, SIDE, SIDE, 0, 0].entries()) size.writeUInt32BE(value, 8 + index * 4);
  size.write("0003070101070101070101", 40, "hex");
  const coding = Buffer.from("ff52000c00000001000504040001ff5c00134040484850484850484850484850484850", "hex");
  const packets = Buffer.alloc(18); // 3 components of 6 resolutions: nothing in each
  const tile = [Buffer.from("ff90000a0000000000000001ff93", "hex"), packets, Buffer.from("ffd9", "hex")];
  return imageOf(SIDE, [size, coding, ...tile]);
}

/** A dataset of 36 million colour pixels in half a megabyte of JPEG, two bits a block. Its decoder would take 1.8 GB. */
export function blankJpeg(): HostileImage {
  const SIDE = 6_000;
  const quantization = Buffer.alloc(64, 1);
  const frame = Buffer.from("ffc00011080000000003011100021100031100", "hex");
  frame.writeUInt16BE(SIDE, 5);
  frame.writeUInt16BE(SIDE, 7);
  const blocks = (SIDE / 8) ** 2 * 3;
  return imageOf(SIDE, [
    Buffer.from("ffd8ffdb004300", "hex"),
    quantization,
    frame,
    // One code of one bit each: no difference, end of block.
    Buffer.from(`ffc4001400${"01".padEnd(32, "0")}00ffc4001410${"01".padEnd(32, "0")}00`, "hex"),
    Buffer.from("ffda000c03010002000300003f00", "hex"),
    Buffer.alloc(Math.ceil(blocks / 4)),
    Buffer.from("ffd9", "hex"),
  ]);
}

import { PREVIEW_SIDE_MAX } from "../../../shared/api/agent/preview.ts";

// The header of a PNG (W3C PNG §5.2, §11.2.2). The picture itself is never decoded here.

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const HEADER = Buffer.from("0000000d49484452", "hex");
const END = Buffer.from("0000000049454e44ae426082", "hex");

const HEADER_END = 24;

/** Reads the size of a PNG. @returns the reason if the bytes are not a PNG of an allowed size */
export function readPngSize(bytes: Buffer): { width: number; height: number } | { problem: string } {
  if (bytes.length < HEADER_END) return { problem: "The body is not a PNG." };
  const isPng = bytes.subarray(0, 8).equals(SIGNATURE) && bytes.subarray(8, 16).equals(HEADER);
  if (!isPng || !bytes.subarray(-END.length).equals(END)) return { problem: "The body is not a PNG." };
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const isAllowed = [width, height].every((side) => side >= 1 && side <= PREVIEW_SIDE_MAX);
  if (isAllowed) return { width, height };
  return { problem: `The picture has ${width} x ${height} pixels, expected at most ${PREVIEW_SIDE_MAX} per side.` };
}

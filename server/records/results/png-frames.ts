import { CLIP_FRAMES_MAX, FRAME_CHUNK } from "../../../shared/api/agent/preview.ts";
import { readPngSize } from "./png-size.ts";

// The frames of a clip in the chunks of its picture. No pixel is decoded here.

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const CHUNK_BYTES = 12;

/** A picture without its frames, and the frames. */
export interface Clip {
  readonly still: Buffer;
  readonly frames: readonly Buffer[];
}

/** Splits a PNG. @returns the reason if its chunks are broken, or a frame is not a PNG of an allowed size */
export function splitPng(bytes: Buffer): Clip | { readonly problem: string } {
  const kept = [bytes.subarray(0, SIGNATURE_BYTES)];
  const frames: Buffer[] = [];
  for (let at = SIGNATURE_BYTES; at < bytes.length; ) {
    const end = at + CHUNK_BYTES <= bytes.length ? at + CHUNK_BYTES + bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY;
    if (end > bytes.length) return { problem: "The picture ends within a chunk." };
    if (bytes.toString("latin1", at + 4, at + 8) === FRAME_CHUNK) frames.push(bytes.subarray(at + 8, end - 4));
    else kept.push(bytes.subarray(at, end));
    at = end;
  }
  if (frames.length > CLIP_FRAMES_MAX)
    return { problem: `The clip has ${frames.length} frames, at most ${CLIP_FRAMES_MAX}.` };
  const fault = frames.map(readPngSize).find((size) => "problem" in size);
  return fault !== undefined && "problem" in fault ? fault : { still: Buffer.concat(kept), frames };
}

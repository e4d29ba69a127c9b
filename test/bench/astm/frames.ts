import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ENQ, EOT, ETX } from "../../../agent/protocols/bytes.ts";

const FRAME_OVERHEAD = 7;

/** Bytes that a stop-and-wait sender writes, one element per write. */
export interface Session {
  readonly establish: Uint8Array;
  /** Frames with number and checksum. */
  readonly frames: readonly Uint8Array[];
  readonly end: Uint8Array;
}

/** Builds a message of `count` frames of `bytes` each on the wire. Every frame is a record; the last is L. */
export function sessionOfFrames(count: number, bytes: number): Session {
  const records = Array.from({ length: count }, (_, index) => {
    if (index === 0) return "H|\\^&|||Bench^1|||||||P|1|20260101080000|";
    if (index === 1) return "P|1|5000|";
    if (index === 2) return "O|1|S1||^^^Panel||20260101080000|";
    if (index === count - 1) return "L|1|N|";
    return `R|${index - 2}|^^^T${index}|${index}.5|U/L|10 to 118|N||F|`;
  });
  const frames = records.map((record, index) => {
    const text = `${record.padEnd(bytes - FRAME_OVERHEAD - 1, "x")}\r`;
    return encodeFrame(index + 1, Buffer.from(text, "latin1"), ETX);
  });
  return { establish: Uint8Array.of(ENQ), frames, end: Uint8Array.of(EOT) };
}

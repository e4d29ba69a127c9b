import { CR, FS, VT } from "./bytes.ts";

/** Wraps a message in an MLLP frame: VT, the message, FS CR. */
export function encodeMllp(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 3);
  frame[0] = VT;
  frame.set(message, 1);
  frame[message.length + 1] = FS;
  frame[message.length + 2] = CR;
  return frame;
}

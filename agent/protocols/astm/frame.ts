import { CR, DIGIT_0, type ETB, type ETX, hexByte, LF, STX } from "../bytes.ts";

// Frames of LIS01-A2 and their checksum.

/** Encodes one frame (§6.3.1). `text`: Latin-1 or UTF-8 bytes. */
export function encodeFrame(number: number, text: Uint8Array, terminator: typeof ETX | typeof ETB): Uint8Array {
  const frame = new Uint8Array(text.length + 7);
  frame[0] = STX;
  frame[1] = DIGIT_0 + (number % 8);
  frame.set(text, 2);
  frame[text.length + 2] = terminator;
  // Sums from the frame number to ETX or ETB inclusive (§6.3.3).
  let sum = 0;
  for (let i = 1; i < text.length + 3; i++) sum += frame[i]!;
  const hex = hexByte(sum & 0xff);
  frame[text.length + 3] = hex.charCodeAt(0);
  frame[text.length + 4] = hex.charCodeAt(1);
  frame[text.length + 5] = CR;
  frame[text.length + 6] = LF;
  return frame;
}

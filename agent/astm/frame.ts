// What goes over an LIS01-A2 line: control characters, and frames with their checksum.

export const STX = 0x02;
export const ETX = 0x03;
export const EOT = 0x04;
export const ENQ = 0x05;
export const ACK = 0x06;
export const LF = 0x0a;
export const CR = 0x0d;
export const NAK = 0x15;
export const ETB = 0x17;

export const DIGIT_0 = 0x30;

/** One frame as it goes on the wire (§6.3.1); `text` as Latin-1 or UTF-8 bytes. */
export function encodeFrame(number: number, text: Uint8Array, terminator: typeof ETX | typeof ETB): Uint8Array {
  const frame = new Uint8Array(text.length + 7);
  frame[0] = STX;
  frame[1] = DIGIT_0 + (number % 8);
  frame.set(text, 2);
  frame[text.length + 2] = terminator;
  // From the frame number to ETX or ETB, both included (§6.3.3).
  let sum = 0;
  for (let i = 1; i < text.length + 3; i++) sum += frame[i]!;
  const hex = hexByte(sum & 0xff);
  frame[text.length + 3] = hex.charCodeAt(0);
  frame[text.length + 4] = hex.charCodeAt(1);
  frame[text.length + 5] = CR;
  frame[text.length + 6] = LF;
  return frame;
}

export function hexByte(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

/** NaN for what is no hex digit. Lower case is taken too, though the standard prints A-F. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = upper(byte);
  return letter >= 0x41 && letter <= 0x46 ? letter - 55 : Number.NaN;
}

export function upper(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 32 : byte;
}

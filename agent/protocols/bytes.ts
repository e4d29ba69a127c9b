// Control characters, and byte helpers that several protocols share.

export const NUL = 0x00;
export const SOH = 0x01;
export const STX = 0x02;
export const ETX = 0x03;
export const EOT = 0x04;
export const ENQ = 0x05;
export const ACK = 0x06;
export const TAB = 0x09;
export const LF = 0x0a;
export const VT = 0x0b;
export const CR = 0x0d;
export const XON = 0x11;
export const XOFF = 0x13;
export const NAK = 0x15;
export const ETB = 0x17;
/** End-of-file character; some devices end their text with it in place of ETX. */
export const SUB = 0x1a;
export const FS = 0x1c;

export const DIGIT_0 = 0x30;

export function hexByte(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

/** Accepts lower case too, though the standard prints A-F. @returns NaN for an invalid hex digit */
export function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - DIGIT_0;
  const letter = upper(byte);
  return letter >= 0x41 && letter <= 0x46 ? letter - 55 : Number.NaN;
}

export function upper(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 32 : byte;
}

export function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_0 + 9;
}

export function isAlphanumeric(byte: number): boolean {
  return isDigit(byte) || (upper(byte) >= 0x41 && upper(byte) <= 0x5a);
}

/** Compares two byte arrays by content. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Returns the CRC-16 of Modbus: initial FFFF, reflected polynomial A001. */
export function crc16Of(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}

export function xorOf(bytes: Uint8Array): number {
  return bytes.reduce((xor, byte) => xor ^ byte, 0);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Grows a buffer to at least `length` bytes, at least doubling it. @returns the same buffer when it is large enough */
export function withCapacity(buffer: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= buffer.length) return buffer;
  const larger = new Uint8Array(Math.max(length, buffer.length * 2));
  larger.set(buffer);
  return larger;
}

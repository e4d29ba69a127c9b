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

import { PROTOCOLS } from "./protocol-marks.ts";

// Suggests the protocol of bytes that were only listened to. The agent never switches a profile by itself. Nothing is sent,
// because a device that reads ACK takes its result as stored.

export interface SerialLine {
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: "none" | "even" | "odd";
  readonly stopBits: 1 | 2;
}

/** Bytes as they were received under these settings; null: over TCP. */
export interface SniffedBytes {
  readonly line: SerialLine | null;
  readonly bytes: Uint8Array;
}

export interface Suggestion {
  /** Under which the bytes make sense; the baud rate is the one they were received with. */
  readonly line: SerialLine | null;
  readonly protocol: string;
  /** Profiles of that protocol. */
  readonly profiles: readonly string[];
  /** 0 to 100. */
  readonly score: number;
  readonly reasons: readonly string[];
}

/** Serial settings worth listening with, the commonest first. How many stop bits come cannot be heard. */
export const SERIAL_LINES: readonly SerialLine[] = [9600, 19_200, 38_400, 115_200, 4800, 2400, 1200].flatMap(
  (baudRate) => [
    { baudRate, dataBits: 8, parity: "none", stopBits: 1 } as const,
    { baudRate, dataBits: 7, parity: "none", stopBits: 1 } as const,
    { baudRate, dataBits: 7, parity: "even", stopBits: 2 } as const,
    { baudRate, dataBits: 7, parity: "odd", stopBits: 1 } as const,
  ],
);

/** Reached only with structure in which a fault would have shown: listening may end. */
export const SURE = 90;

/** Every suggestion that the samples give, the best first. */
export function suggest(samples: readonly SniffedBytes[]): Suggestion[] {
  const suggestions = samples.flatMap(({ line, bytes }) =>
    readings(line, bytes).flatMap((reading) => recognise(reading.bytes, reading.line, reading.note)),
  );
  return suggestions.toSorted((one, other) => other.score - one.score);
}

export function lineText({ baudRate, dataBits, parity, stopBits }: SerialLine): string {
  return `${baudRate} ${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`;
}

interface ReadingOfBytes {
  readonly line: SerialLine | null;
  readonly bytes: Uint8Array;
  readonly note: string | null;
}

/** Fewer bytes have an even number of ones by chance. */
const PARITY_BYTES_MIN = 16;

/** The bytes as received; where their eighth bits are all a parity, also the seven bits that the device meant. */
function readings(line: SerialLine | null, bytes: Uint8Array): ReadingOfBytes[] {
  const asReceived = { line, bytes, note: null };
  const parity =
    line?.dataBits === 8 && bytes.length >= PARITY_BYTES_MIN && bytes.some((byte) => byte > 0x7f)
      ? parityOf(bytes)
      : null;
  if (line === null || parity === null) return [asReceived];
  const note = `the eighth bits are ${parity} parity (stop bits cannot be heard: 1 or 2)`;
  return [asReceived, { line: { ...line, dataBits: 7, parity }, bytes: bytes.map((byte) => byte & 0x7f), note }];
}

function parityOf(bytes: Uint8Array): "even" | "odd" | null {
  const odd = bytes.reduce((count, byte) => count + (onesIn(byte) % 2), 0);
  return odd === 0 ? "even" : odd === bytes.length ? "odd" : null;
}

function onesIn(byte: number): number {
  let ones = 0;
  for (let rest = byte; rest > 0; rest >>= 1) ones += rest & 1;
  return ones;
}

function recognise(bytes: Uint8Array, line: SerialLine | null, note: string | null): Suggestion[] {
  const text = String.fromCharCode(...bytes.subarray(0, BYTES_MAX));
  const strange = strangeShare(text);
  const penalty = Math.round(strange * 60);
  return PROTOCOLS.flatMap((protocol) => protocol(text)).map(({ protocol, profiles, score, reason }) => ({
    line,
    protocol,
    profiles,
    score: Math.max(0, score - penalty),
    reasons: [
      reason,
      ...(strange > 0 ? [`${Math.ceil(strange * 100)} % of the bytes are no characters`] : []),
      ...(note === null ? [] : [note]),
    ],
  }));
}

/** More than this of a sample says nothing new. */
const BYTES_MAX = 64 * 1024;

/** NUL, DEL and controls that none of the protocols has, as parity faults and a wrong baud rate make them. */
function strangeShare(text: string): number {
  const usual = "\x02\x03\x04\x05\x06\t\n\v\r\x15\x17\x1a\x1c\x1e\x1f";
  let strange = 0;
  for (const char of text)
    if ((char < " " && !usual.includes(char)) || (char >= "\x7f" && char <= "\x9f")) strange += 1;
  return text === "" ? 0 : strange / text.length;
}

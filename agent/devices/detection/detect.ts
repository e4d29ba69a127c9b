import { PROTOCOL_MARKS } from "./protocol-marks.ts";

// Suggests the protocol of an unknown device from its bytes. The agent never switches a profile by itself. It sends nothing,
// because a device that receives ACK treats its result as stored.

export interface SerialLine {
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: "none" | "even" | "odd";
  readonly stopBits: 1 | 2;
}

/** Bytes received with these serial settings. `line`: null over TCP. */
export interface SniffedBytes {
  readonly line: SerialLine | null;
  readonly bytes: Uint8Array;
}

export interface Suggestion {
  /** Serial settings that fit the bytes, with the baud rate of the capture; null over TCP. */
  readonly line: SerialLine | null;
  readonly protocol: string;
  /** Profiles of that protocol. */
  readonly profiles: readonly string[];
  /** 0 to 100. */
  readonly score: number;
  readonly reasons: readonly string[];
}

/** Serial settings to listen with, the most common first. A receiver cannot detect the number of stop bits. */
export const SERIAL_LINES: readonly SerialLine[] = [9600, 19_200, 38_400, 115_200, 4800, 2400, 1200].flatMap(
  (baudRate) => [
    { baudRate, dataBits: 8, parity: "none", stopBits: 1 } as const,
    { baudRate, dataBits: 7, parity: "none", stopBits: 1 } as const,
    { baudRate, dataBits: 7, parity: "even", stopBits: 2 } as const,
    { baudRate, dataBits: 7, parity: "odd", stopBits: 1 } as const,
  ],
);

/** Min score of proof, such as right checksums. Listening may end. */
export const SURE = 90;

/** Returns all suggestions for the samples, the best first. */
export function suggest(samples: readonly SniffedBytes[]): Suggestion[] {
  const suggestions = samples.flatMap(({ line, bytes }) =>
    decodings(line, bytes).flatMap((decoded) => recognize(decoded)),
  );
  return suggestions.toSorted((one, other) => other.score - one.score);
}

export function lineText({ baudRate, dataBits, parity, stopBits }: SerialLine): string {
  return `${baudRate} ${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`;
}

interface DecodedSample {
  readonly line: SerialLine | null;
  readonly bytes: Uint8Array;
  readonly note: string | null;
}

/** Min bytes to detect parity; fewer bytes have equal parity by chance. */
const PARITY_BYTES_MIN = 16;

/** Returns the bytes as received. If all eighth bits are a parity, also returns the seven data bits of each byte. */
function decodings(line: SerialLine | null, bytes: Uint8Array): DecodedSample[] {
  const asReceived = { line, bytes, note: null };
  const parity =
    line?.dataBits === 8 && bytes.length >= PARITY_BYTES_MIN && bytes.some((byte) => byte > 0x7f)
      ? parityOf(bytes)
      : null;
  if (line === null || parity === null) return [asReceived];
  const note = `the eighth bits are ${parity} parity (stop bits cannot be detected: 1 or 2)`;
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

function recognize({ line, bytes, note }: DecodedSample): Suggestion[] {
  const text = String.fromCharCode(...bytes.subarray(0, BYTES_MAX));
  const invalid = invalidShare(text);
  const penalty = Math.round(invalid * 60);
  return PROTOCOL_MARKS.flatMap((protocol) => protocol(text)).map(({ isBinary, score, reason, ...match }) => ({
    ...match,
    line,
    score: isBinary ? score : Math.max(0, score - penalty),
    reasons: [
      reason,
      ...(invalid > 0 && !isBinary ? [`${Math.ceil(invalid * 100)} % of the bytes are invalid characters`] : []),
      ...(note === null ? [] : [note]),
    ],
  }));
}

/** Max bytes of a sample that are searched. */
const BYTES_MAX = 64 * 1024;

/** Returns the share of bytes that no protocol uses: NUL, DEL and other controls, as after parity faults. */
function invalidShare(text: string): number {
  const usual = "\x02\x03\x04\x05\x06\t\n\v\r\x15\x17\x1a\x1c\x1e\x1f";
  let invalid = 0;
  for (const char of text)
    if ((char < " " && !usual.includes(char)) || (char >= "\x7f" && char <= "\x9f")) invalid += 1;
  return text === "" ? 0 : invalid / text.length;
}

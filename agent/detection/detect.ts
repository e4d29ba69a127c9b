import { profiles as known } from "../devices/index.ts";

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

interface Finding {
  readonly protocol: string;
  readonly profiles: readonly string[];
  readonly score: number;
  readonly reason: string;
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

/** Each protocol's own marks. What may be damaged or cut scores less than what proves itself. */
const PROTOCOLS: readonly ((text: string) => Finding[])[] = [
  lis01,
  enquiry,
  bc2800,
  rawRecords,
  oneWayText,
  hl7,
  poct1,
];

function lis01(text: string): Finding[] {
  const frames = text
    .split("\x02")
    .slice(1)
    .flatMap((piece) => {
      const end = Math.max(piece.indexOf("\x03"), piece.indexOf("\x17"));
      return end > 0 && /^[0-7]/.test(piece)
        ? [{ body: piece.slice(0, end + 1), sum: piece.slice(end + 1, end + 3) }]
        : [];
    })
    .filter(({ sum }) => /^[\dA-F]{2}$/i.test(sum));
  if (frames.length === 0) return [];
  const right = frames.filter(({ body, sum }) => Number.parseInt(sum, 16) === sumOf(body));
  const score = right.length === 0 ? 30 : 60 + Math.round((35 * right.length) / frames.length);
  const sender = /H[^A-Za-z\d]\S{3}[^\r]{0,80}/.exec(text)?.[0] ?? "";
  const profiles = [
    ...(/ABAXIS, INC\.\^VetScan VS2/.test(sender) ? ["abaxis-vetscan-vs2"] : []),
    ...(/\|Skyla\b/i.test(sender) ? ["skyla"] : []),
    "generic-astm",
  ];
  return [
    {
      protocol: "LIS01-A2 frames",
      profiles,
      score,
      reason: `${right.length} of ${frames.length} frames have the right checksum`,
    },
  ];
}

function sumOf(body: string): number {
  let sum = 0;
  for (let index = 0; index < body.length; index++) sum += body.charCodeAt(index);
  return sum & 0xff;
}

/** A device that waits for our ACK says nothing but ENQ. */
function enquiry(text: string): Finding[] {
  const enquiries = text.split("\x05").length - 1;
  if (enquiries === 0 || text.replaceAll("\x05", "").replaceAll("\x04", "") !== "") return [];
  return [
    {
      protocol: "a device that waits for ACK",
      profiles: ["generic-astm", "mindray-bc2800vet"],
      score: enquiries > 1 ? 60 : 40,
      reason: `ENQ, ${enquiries} times, and nothing else: it is not answered here`,
    },
  ];
}

function bc2800(text: string): Finding[] {
  const [, digits = ""] = /[ABC]([\d*]{60,})/.exec(text) ?? [];
  if (digits === "") return [];
  const whole = digits.length + 1 === 2453 || digits.length + 1 === 2456;
  const profile = text.includes("\x05") ? "mindray-bc2800vet" : "mindray-bc2800vet-one-way";
  const reason = `a body of ${digits.length + 1} digits${whole ? "" : ", not 2453 or 2456"}`;
  return [{ protocol: "BC-2800Vet", profiles: [profile], score: whole ? 95 : 50, reason }];
}

function rawRecords(text: string): Finding[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/^[0-7](?=[A-Z]\W)/, ""));
  const header = lines.findIndex((line) => /^H[^A-Za-z\d\s]{3}/.test(line));
  if (header < 0) return [];
  const ended = lines.slice(header).some((line) => /^L\W\d/.test(line));
  const records = lines.slice(header).filter((line) => /^[HPORCMLQS]\W/.test(line)).length;
  return [
    {
      protocol: "LIS02 records without frames",
      profiles: ["generic-astm-raw"],
      score: ended ? 85 : 55,
      reason: `${records} lines are records, ${ended ? "from H to L" : "no L record came"}`,
    },
  ];
}

function oneWayText(text: string): Finding[] {
  const [, first = ""] = text.split("\x02");
  const [body = "", ...rest] = first.split("\x03");
  if (body === "") return [];
  const end = rest.length > 0 ? "between STX and ETX" : "after STX, no ETX came";
  const off = rest.length > 0 ? 0 : 30;
  const lines = body.split("\n").filter((line) => line !== "");
  if (/^\d\d\/\d\d\/\d\d +\d\d:\d\d/.test(body)) {
    const right = lines.filter((line) => line.length === 20).length;
    const score = right === lines.length ? 95 : 65;
    const reason = `${right} of ${lines.length} lines have 20 characters, ${end}`;
    return [{ protocol: "SPOTCHEM lines", profiles: ["arkray-spotchem-ez"], score: score - off, reason }];
  }
  if (/^R,[^,]*,\d\d-\d\d-\d{4},\d\d:\d\d,/.test(body)) {
    return [
      {
        protocol: "DRI-CHEM columns",
        profiles: ["fuji-dri-chem-nx"],
        score: 90 - off,
        reason: `R, mode, date and time ${end}`,
      },
    ];
  }
  return [];
}

function hl7(text: string): Finding[] {
  const [, separator = "", header = ""] = /\vMSH([^A-Za-z\d\s])([^\r\n]*)/.exec(text) ?? [];
  if (separator === "") return [];
  const [, application = "", facility = ""] = header.split(separator);
  const ofSender = known.filter(
    (profile) => profile.protocol === "hl7" && profile.sender?.test(`${application}|${facility}`) === true,
  );
  const ended = text.includes("\x1c");
  return [
    {
      protocol: "HL7 over MLLP",
      profiles: [...ofSender.map(({ id }) => id), "generic-hl7"],
      score: ended ? 95 : 70,
      reason: `VT, MSH${ended ? " and FS" : ", no FS came"}`,
    },
  ];
}

/** A POCT1-A device speaks first. */
function poct1(text: string): Finding[] {
  if (!/<HEL\.R01[\s>]/.test(text)) return [];
  const ended = text.includes("</HEL.R01>");
  return [
    {
      protocol: "POCT1-A",
      profiles: ["generic-poct1a"],
      score: ended ? 95 : 70,
      reason: `HEL.R01, ${ended ? "whole" : "its end did not come"}`,
    },
  ];
}

import { CR } from "../bytes.ts";
import { type AstmRecord, parseRecords } from "./records.ts";

// Resends of a message that was cut short (LIS02-A2 §4.2). A device sends either the complete message, or the records from
// the first unacknowledged one, with the P and O of that record repeated before it.

/**
 * Returns whether a later message contains all of a cut one. Headers differ (they hold the time of sending). The last
 * record of the cut message may be a part.
 */
export function contains(message: Uint8Array, incomplete: Uint8Array): boolean {
  const cut = incomplete.indexOf(CR);
  if (cut < 0) return true; // The header itself is cut.
  const whole = message.subarray(message.indexOf(CR) + 1);
  return incomplete.subarray(cut + 1).every((byte, index) => byte === whole[index]);
}

/**
 * Joins a cut message and its rest, with repeated parents once. Returns null unless the later message surely is the
 * rest. It is if its first records repeat the last P (and O) of the cut message and name a patient or sample. The next
 * record must be the cut one, or have the next number.
 */
export function joinRest(incomplete: Uint8Array, message: Uint8Array): Uint8Array | null {
  const earlier = lines(incomplete);
  const later = lines(message);
  if (earlier === null || later === null) return null;
  const whole = earlier.filter(({ ended }) => ended);
  const [header, ...held] = whole;
  const [, ...sent] = later;
  if (header === undefined) return null;
  const parents: RecordLine[] = [];
  for (const line of sent) {
    const parent = held.findLast(({ type }) => type === line.type);
    if (!PARENTS.includes(line.type) || parent === undefined || parent.text !== line.text) break;
    parents.push(line);
  }
  if (!parents.some(({ record }) => namesSomething(record))) return null;
  const rest = sent.slice(parents.length);
  // The device may resend records whose ACK it missed.
  const repeated = overlap(held, rest);
  const next = rest[repeated];
  if (next === undefined) return null;
  const part = earlier.find(({ ended }) => !ended);
  const follows = part === undefined ? repeated > 0 || isNext(held, next) : next.text.startsWith(part.text);
  if (!follows) return null;
  const joined = [...whole, ...rest.slice(repeated)].map(({ text }) => `${text}\r`).join("");
  return Uint8Array.from(joined, (char) => char.charCodeAt(0));
}

interface RecordLine {
  /** One character per byte. */
  readonly text: string;
  readonly record: AstmRecord;
  readonly type: string;
  /** The CR was received; otherwise the record is cut. */
  readonly ended: boolean;
}

const PARENTS = ["P", "O"];

function lines(message: Uint8Array): RecordLine[] | null {
  const parsed = parseRecords(message);
  if ("problem" in parsed) return null;
  const texts = Array.from(message, (byte) => String.fromCharCode(byte))
    .join("")
    .split(/\r\n?/)
    .filter((text) => text !== "");
  const ended = message.at(-1) === CR;
  return parsed.records.map((record, index) => ({
    text: texts[index] ?? "",
    record,
    type: record.type,
    ended: ended || index < parsed.records.length - 1,
  }));
}

/**
 * Returns whether the record has an identifier or name (P-3 to P-6, O-3, O-4). Without one, records of two patients
 * look alike.
 */
function namesSomething(record: AstmRecord): boolean {
  const numbers = record.type === "P" ? [3, 4, 5, 6] : [3, 4];
  return numbers.some((number) => /[\p{L}\p{N}]/u.test(record.raw(number)));
}

/** Returns how many records at the end of `held` are repeated at the start of `rest`. */
function overlap(held: readonly RecordLine[], rest: readonly RecordLine[]): number {
  for (let count = Math.min(held.length, rest.length); count > 0; count--) {
    const end = held.slice(-count);
    if (end.every(({ text }, index) => text === rest[index]?.text)) return count;
  }
  return 0;
}

const LEVELS = ["P", "O", "R"];

/**
 * Returns whether the record has the next number (field 2). Numbers count within the parent: 1 2 3, then from 1 again
 * (§5.6.7).
 */
function isNext(held: readonly RecordLine[], next: RecordLine): boolean {
  const level = LEVELS.indexOf(next.type);
  const parentAt = held.findLastIndex(({ type }) => LEVELS.includes(type) && LEVELS.indexOf(type) < level);
  const before = held.slice(parentAt + 1).findLast(({ type }) => type === next.type);
  return level >= 0 && Number(next.record.field(2)) === Number(before?.record.field(2) ?? 0) + 1;
}

import { CR } from "../bytes.ts";
import { type AstmRecord, parseRecords } from "./records.ts";

// What becomes of a message that was cut short when the device sends again (LIS02-A2 §4.2): either all of it, or only from
// the first record on that it does not take for stored, with that record's P and O repeated before it.

/**
 * Whether a message that was cut short is wholly contained in a later one. Headers differ (they carry the time of
 * sending); the last record of the cut one may be a part.
 */
export function contains(message: Uint8Array, incomplete: Uint8Array): boolean {
  const cut = incomplete.indexOf(CR);
  if (cut < 0) return true; // not even its header came whole
  const whole = message.subarray(message.indexOf(CR) + 1);
  return incomplete.subarray(cut + 1).every((byte, index) => byte === whole[index]);
}

/**
 * The message that a cut one and the rest of it make together, its repeated parents once; null where the later one is not
 * surely the rest. It is where its first records repeat the P (and O) under which the cut one ended, these name an animal or a
 * sample, and the next record is the one that was cut, or has the next number.
 */
export function resume(incomplete: Uint8Array, message: Uint8Array): Uint8Array | null {
  const earlier = lines(incomplete);
  const later = lines(message);
  if (earlier === null || later === null) return null;
  const whole = earlier.filter(({ ended }) => ended);
  const [header, ...held] = whole;
  const [, ...sent] = later;
  if (header === undefined) return null;
  const parents: Line[] = [];
  for (const line of sent) {
    const parent = held.findLast(({ type }) => type === line.type);
    if (!PARENTS.includes(line.type) || parent === undefined || parent.text !== line.text) break;
    parents.push(line);
  }
  if (!parents.some(({ record }) => namesSomething(record))) return null;
  const rest = sent.slice(parents.length);
  // What the device was not sure of it may have sent once more.
  const repeated = overlap(held, rest);
  const next = rest[repeated];
  if (next === undefined) return null;
  const part = earlier.find(({ ended }) => !ended);
  const follows = part === undefined ? repeated > 0 || isNext(held, next) : next.text.startsWith(part.text);
  if (!follows) return null;
  const joined = [...whole, ...rest.slice(repeated)].map(({ text }) => `${text}\r`).join("");
  return Uint8Array.from(joined, (char) => char.charCodeAt(0));
}

interface Line {
  /** One character a byte. */
  readonly text: string;
  readonly record: AstmRecord;
  readonly type: string;
  /** Its CR came; else it is the part that was cut. */
  readonly ended: boolean;
}

const PARENTS = ["P", "O"];

function lines(message: Uint8Array): Line[] | null {
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

/** A practice's, laboratory's or other number or name (P-3 to P-6), a specimen's (O-3, O-4): without one, records of two animals look alike. */
function namesSomething(record: AstmRecord): boolean {
  const numbers = record.type === "P" ? [3, 4, 5, 6] : [3, 4];
  return numbers.some((number) => /[\p{L}\p{N}]/u.test(record.raw(number)));
}

/** How many records at the end of what is held come again at the beginning of the rest. */
function overlap(held: readonly Line[], rest: readonly Line[]): number {
  for (let count = Math.min(held.length, rest.length); count > 0; count--) {
    const end = held.slice(-count);
    if (end.every(({ text }, index) => text === rest[index]?.text)) return count;
  }
  return 0;
}

const LEVELS = ["P", "O", "R"];

/** Numbers (field 2) count within the parent: 1 2 3, and again from 1 under the next one (§5.6.7). */
function isNext(held: readonly Line[], next: Line): boolean {
  const level = LEVELS.indexOf(next.type);
  const parentAt = held.findLastIndex(({ type }) => LEVELS.includes(type) && LEVELS.indexOf(type) < level);
  const before = held.slice(parentAt + 1).findLast(({ type }) => type === next.type);
  return level >= 0 && Number(next.record.field(2)) === Number(before?.record.field(2) ?? 0) + 1;
}

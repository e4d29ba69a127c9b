import { ulid } from "ulid";
import { textForm } from "../schema/text-form.ts";

// Fingerprints: `<prefix>_<ULID>`.

const kinds = [
  ...([
    "patient",
    "customer",
    "clinic",
    "user",
    "soap",
    "cds",
    "calevt",
    "invitem",
    "agent",
    "batch",
    "order",
    "control",
    "devevt",
  ] as const),
] as const;

/** The kind of record that an fp names, which is its prefix. */
export type FpKind = (typeof kinds)[number];

/**
 * A pattern for a ULID. The first character is at most 7: 26 base32 characters carry 130 bits, a ULID has 128. The ulid
 * package lets `8ZZZ...` pass.
 */
export const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/** A JSON Schema pattern for an fp of that kind. */
export function fpPattern(kind: FpKind): string {
  return textForm(`^${kind}_${ULID}$`, fpForm(kind));
}

/** Returns the form of an fp of that kind in words, for an error message. */
export function fpForm(kind: FpKind): string {
  return `${kind}_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive`;
}

const patterns = new Map<FpKind, RegExp>();

/** Whether the text is a well-formed fp of that kind. */
export function isFp(kind: FpKind, text: string): boolean {
  let pattern = patterns.get(kind);
  if (pattern === undefined) {
    pattern = new RegExp(fpPattern(kind));
    patterns.set(kind, pattern);
  }
  return pattern.test(text);
}

const anyFp = new RegExp(`^(?:${kinds.join("|")})_${ULID}$`);

/** Whether the text is a well-formed fp of any kind. */
export function isAnyFp(text: string): boolean {
  return anyFp.test(text);
}

const random = new Uint8Array(4096);
let randomUsed = random.length;

// Random bytes are fetched in blocks, since a system call for each number would dominate the cost of a ULID.
function randomFraction(): number {
  if (randomUsed === random.length) {
    crypto.getRandomValues(random);
    randomUsed = 0;
  }
  return (random[randomUsed++] ?? 0) / 256;
}

const BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const FIRST = BASE32.charCodeAt(0);
const LAST = BASE32.charCodeAt(31);

// The characters of the last ULID as bytes. A string built from parts of another one is joined again at each use.
const characters = Buffer.alloc(26);
let lastMs = 0;

/** Returns a new ULID, greater than all earlier ones of this process, even if the clock was set back. */
export function newUlid(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    characters.write(ulid(now, randomFraction), "latin1");
  } else {
    // A successor within the same millisecond needs no random number.
    increment(characters);
  }
  return characters.toString("latin1");
}

function increment(number: Buffer): void {
  for (let index = number.length - 1; index >= 0; index -= 1) {
    const character = number[index] ?? FIRST;
    if (character !== LAST) {
      number[index] = BASE32.charCodeAt(BASE32.indexOf(String.fromCharCode(character)) + 1);
      return;
    }
    number[index] = FIRST;
  }
}

export function newFp(kind: FpKind): string {
  return `${kind}_${newUlid()}`;
}

import { randomInt } from "node:crypto";

// The accession number of an ordered sample, scanned from its label or typed at an analyzer. The result repeats it, so it
// fits the shortest field (8 characters), differs from patient identifiers and detects typing errors.

/** 23 characters that do not look alike. The check character needs a prime number of them. */
const CHARS = "34679ACDEFHJKMNPQRTVWXY";
const RANDOM_CHARS = 6;

/** The first letter, and its share of the check sum. An agent and a server never issue the same accession. */
const ISSUERS = { agent: { letter: "V", share: 0 }, server: { letter: "T", share: 1 } } as const;

type AccessionIssuer = keyof typeof ISSUERS;

/**
 * Returns the issuer's letter, six random characters and a check character. One wrong character, or two that are swapped, never make
 * another valid accession. A counter would restart after the loss of the data, while old labels are in use.
 */
export function newAccession(issuer: AccessionIssuer): string {
  return withCheck(
    issuer,
    Array.from({ length: RANDOM_CHARS }, () => randomInt(CHARS.length)),
  );
}

/** Whether the text has the form of an accession of the issuer, in either case. */
export function isAccession(issuer: AccessionIssuer, text: string): boolean {
  const upper = text.trim().toUpperCase();
  const numbers = Array.from(upper.slice(1, 1 + RANDOM_CHARS), (character) => CHARS.indexOf(character));
  return numbers.length === RANDOM_CHARS && !numbers.includes(-1) && withCheck(issuer, numbers) === upper;
}

function withCheck(issuer: AccessionIssuer, numbers: readonly number[]): string {
  const { letter, share } = ISSUERS[issuer];
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), share);
  return `${letter}${[...numbers, sum % CHARS.length].map((number) => CHARS[number]).join("")}`;
}

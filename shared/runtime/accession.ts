import { randomInt } from "node:crypto";

// The accession number of an ordered sample, scanned from its label or typed at an analyzer. The result repeats it, so it
// fits the shortest field (8 characters), differs from patient identifiers and detects typing errors.

/** 23 characters that do not look alike. The check character needs a prime number of them. */
const CHARS = "34679ACDEFHJKMNPQRTVWXY";
const RANDOM_CHARS = 6;

/** The first letter, and its share of the check sum. An agent and a server never issue the same accession. */
const ISSUERS = { agent: { letter: "V", share: 0 }, server: { letter: "T", share: 1 } } as const;

/**
 * Returns the issuer's letter, six random characters and a check character. One wrong character, or two that are swapped, never make
 * another valid accession. A counter would restart after the loss of the data, while old labels are in use.
 */
export function newAccession(issuer: keyof typeof ISSUERS): string {
  const { letter, share } = ISSUERS[issuer];
  const numbers = Array.from({ length: RANDOM_CHARS }, () => randomInt(CHARS.length));
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), share);
  return `${letter}${[...numbers, sum % CHARS.length].map((number) => CHARS[number]).join("")}`;
}

import { randomInt } from "node:crypto";

// The number of an ordered sample, read off its label or typed at an analyzer. It is to be found again in the result, so
// it must fit the shortest field (8 characters), be no patient's number, and survive a slip of the finger.

/** No two of these look alike, and 23 of them are a prime number, without which the check character would miss some slips. */
const LETTERS = "34679ACDEFHJKMNPQRTVWXY";
const RANDOM_LETTERS = 6;

/**
 * `V`, six random letters and a check character. One wrong letter or two that changed places never make another accession
 * of ours. Random, because a counter would begin anew with a lost data folder while the old labels are still about.
 */
export function newAccession(): string {
  const numbers = Array.from({ length: RANDOM_LETTERS }, () => randomInt(LETTERS.length));
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), 0);
  return `V${[...numbers, sum % LETTERS.length].map((number) => LETTERS[number]).join("")}`;
}

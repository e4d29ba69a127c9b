import { randomInt } from "node:crypto";

/** Letters and digits that do not look alike. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/** Makes a random text that a person types, in groups of four: `7KQM-X2HD-9FVT`. A character has 4.9 bits. */
export function randomText(chars: number): string {
  let letters = "";
  for (let count = 0; count < chars; count += 1) letters += LETTERS.charAt(randomInt(LETTERS.length));
  return letters.replaceAll(/(.{4})(?=.)/g, "$1-");
}

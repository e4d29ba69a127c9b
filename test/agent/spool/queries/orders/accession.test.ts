import { expect, test } from "vitest";
import { newAccession } from "../../../../../agent/spool/queries/orders/accession.ts";

const CHARS = "34679ACDEFHJKMNPQRTVWXY";

/** @returns true if newAccession() can return the text */
function isPossible(text: string): boolean {
  const numbers = Array.from(text.slice(1, 7), (char) => CHARS.indexOf(char));
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), 0);
  return text[0] === "V" && text.length === 8 && !numbers.includes(-1) && text[7] === CHARS[sum % 23];
}

test("an accession has 8 distinct-looking capitals and digits and starts with a letter", () => {
  for (let n = 0; n < 1_000; n++) {
    const accession = newAccession();
    expect(accession).toMatch(/^V[34679ACDEFHJKMNPQRTVWXY]{7}$/);
    expect(isPossible(accession)).toBe(true);
  }
});

test("one wrong character, or two swapped ones, never make another accession", () => {
  for (let n = 0; n < 50; n++) {
    const accession = newAccession();
    for (let place = 1; place < 8; place++) {
      for (const char of CHARS) {
        const wrong = accession.slice(0, place) + char + accession.slice(place + 1);
        expect(isPossible(wrong)).toBe(wrong === accession);
      }
      for (let other = 1; other < place; other++) {
        const chars = Array.from(accession);
        [chars[place], chars[other]] = [chars[other]!, chars[place]!];
        expect(isPossible(chars.join(""))).toBe(chars.join("") === accession);
      }
    }
  }
});

import { expect, test } from "vitest";
import { newAccession } from "../../../../../agent/spool/queries/orders/accession.ts";

const LETTERS = "34679ACDEFHJKMNPQRTVWXY";

/** @returns true if newAccession() can return the text */
function isPossible(text: string): boolean {
  const numbers = Array.from(text.slice(1, 7), (letter) => LETTERS.indexOf(letter));
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), 0);
  return text[0] === "V" && text.length === 8 && !numbers.includes(-1) && text[7] === LETTERS[sum % 23];
}

test("an accession has 8 distinct-looking capitals and digits and begins with a letter", () => {
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
      for (const letter of LETTERS) {
        const wrong = accession.slice(0, place) + letter + accession.slice(place + 1);
        expect(isPossible(wrong)).toBe(wrong === accession);
      }
      for (let other = 1; other < place; other++) {
        const letters = Array.from(accession);
        [letters[place], letters[other]] = [letters[other]!, letters[place]!];
        expect(isPossible(letters.join(""))).toBe(letters.join("") === accession);
      }
    }
  }
});

import { describe, expect, test } from "vitest";
import { isAccession, newAccession } from "../../../shared/runtime/accession.ts";

const CHARS = "34679ACDEFHJKMNPQRTVWXY";

/** @returns true if newAccession() can return the text, for either issuer */
function isPossible(text: string): boolean {
  const share = { V: 0, T: 1 }[text[0] ?? ""];
  const numbers = Array.from(text.slice(1, 7), (char) => CHARS.indexOf(char));
  const sum = numbers.reduce((total, number, index) => total + number * (index + 2), share ?? 0);
  return share !== undefined && text.length === 8 && !numbers.includes(-1) && text[7] === CHARS[sum % 23];
}

describe.each([
  ["an agent", "agent", "V"],
  ["a server", "server", "T"],
] as const)("an accession of %s", (_name, issuer, letter) => {
  test("has 8 distinct-looking capitals and digits and starts with the issuer's letter", () => {
    for (let n = 0; n < 1_000; n++) {
      const accession = newAccession(issuer);
      expect(accession).toMatch(new RegExp(`^${letter}[${CHARS}]{7}$`));
      expect(isPossible(accession)).toBe(true);
      expect([isAccession(issuer, ` ${accession.toLowerCase()}`), isAccession(issuer, `${accession}4`)]).toEqual([
        true,
        false,
      ]);
      expect(isAccession(issuer === "agent" ? "server" : "agent", accession)).toBe(false);
    }
  });

  test("becomes no other accession by one wrong character or two swapped ones", () => {
    for (let n = 0; n < 50; n++) {
      const accession = newAccession(issuer);
      expect(isPossible((letter === "V" ? "T" : "V") + accession.slice(1))).toBe(false);
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
});

import { expect, test } from "vitest";
import { advice, nearestWord } from "../../../agent/runtime/did-you-mean.ts";

const profiles = ["abaxis-vetscan-vs2", "generic-astm", "generic-hl7", "mindray-bc", "mindray-bs"];

test.each([
  ["a single typing error", "generic-hl8", "generic-hl7"],
  ["another case", "GENERIC-ASTM", "generic-astm"],
  ["a unique prefix of a word", "abaxis", "abaxis-vetscan-vs2"],
  ["an edit distance of a third of the length", "generik-asdn", "generic-astm"],
  ["the first of several equally near words", "mindray-bx", "mindray-bc"],
])("%s suggests the word", (_, word, nearest) => {
  expect(nearestWord(word, profiles)).toBe(nearest);
});

test("two edits of a short word suggest the word", () => {
  expect(nearestWord("WCB", ["GLU", "WBC"])).toBe("WBC");
});

test.each([
  ["a prefix of several words that is far from each", "mind"],
  ["a word that is too far from all", "idexx-catalyst"],
])("%s suggests nothing", (_, word) => {
  expect(nearestWord(word, profiles)).toBeNull();
});

test("no known words suggest nothing", () => {
  expect(nearestWord("generic-hl7", [])).toBeNull();
});

test("advice names the nearest word, else the expected ones, or an example of a long list", () => {
  expect([advice("generic-hl8", profiles), advice("idexx", ["a", "b"]), advice("?", Array(21).fill("WORD"))]).toEqual([
    "did you mean generic-hl7?",
    "expected one of a, b",
    "expected one such as ALT, CREA or WBC",
  ]);
});

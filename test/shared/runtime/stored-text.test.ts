import { expect, test } from "vitest";
import { textProblems } from "../../../shared/schema/problems.ts";
import { storedText, wellFormed } from "../../../shared/runtime/stored-text.ts";

const HALF = "\u{D83D}";

test.each([
  ["Pamuk 🐈", "Pamuk 🐈"],
  [`Pamuk ${HALF}`, "Pamuk \u{FFFD}"],
  ["\u{DC08}x", "\u{FFFD}x"],
  ["\u{DC08}\u{D83D}", "\u{FFFD}\u{FFFD}"],
  ["a\0b", "a\u{FFFD}b"],
])("a column holds %j as %j", (text, stored) => {
  expect(storedText(text)).toBe(stored);
  expect(textProblems({ name: text })).toHaveLength(text === stored ? 0 : 1);
});

test("a JSON value is corrected at every depth, names included, and keeps NUL", () => {
  const value = { [`a${HALF}`]: [{ b: `${HALF}c`, d: "e\0", n: null, i: 1 }, true] };
  expect(wellFormed(value)).toEqual({ "a\u{FFFD}": [{ b: "\u{FFFD}c", d: "e\0", n: null, i: 1 }, true] });
});

test("each faulty text is named with its place", () => {
  expect(textProblems({ ids: ["1", HALF], hint: { name: "\0" } })).toEqual([
    String.raw`ids/1 is "\ud83d", expected text without half of a surrogate pair`,
    String.raw`hint/name is "\u0000", expected text without NUL`,
  ]);
  expect(textProblems({ name: "\0", [HALF]: "" }, { asJson: true })).toEqual([
    String.raw`a name is "\ud83d", expected text without half of a surrogate pair`,
  ]);
});

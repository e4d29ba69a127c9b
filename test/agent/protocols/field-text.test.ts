import { expect, test } from "vitest";
import { filled, given, sent } from "../../../agent/protocols/field-text.ts";

test.each([
  ["4711", "4711"],
  ["^ ~ ", ""],
  ['""', ""],
  ["^^ö", "^^ö"],
])("the field %j is sent as %j", (raw, expected) => {
  expect(sent({ raw: () => raw }, 3)).toBe(expected);
});

test("a missing record has no fields", () => {
  expect(sent(null, 3)).toBe("");
});

test("a given text is trimmed, and the standard's null is empty", () => {
  expect([" a ", ' "" ', '"a"'].map(given)).toEqual(["a", "", '"a"']);
});

test("filled components are joined, and empty repetitions left out", () => {
  expect(filled([["a", " ", "b"], ['""'], ["c"]], "^")).toEqual(["a^b", "c"]);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { printable, printableJson, printableLines } from "../../../shared/runtime/printable.ts";

const ESC = "\u001b";

test("control characters and marks of direction become escapes, and letters stay", () => {
  expect(printable(`Pamuk ${ESC}[2J\r\nKarabaş\u009b31m \u202eevil\u2028\u061c ışık 犬 \t`)).toBe(
    "Pamuk \\u001b[2J\\u000d\\u000aKarabaş\\u009b31m \\u202eevil\\u2028\\u061c ışık 犬 \\u0009",
  );
});

test("line feeds of a text stay, and other control characters become escapes", () => {
  expect(printableLines(`one\n${ESC}[31mtwo`)).toBe("one\n\\u001b[31mtwo");
});

test("printed JSON has the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
      const printed = printableJson({ value, text });
      expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      expect(printed.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    }),
  );
});

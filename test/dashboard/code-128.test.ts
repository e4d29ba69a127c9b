import * as fc from "fast-check";
import { expect, test } from "vitest";
import { code128 } from "../../server/web/ui/picture/code-128.ts";

/** Printed by another encoder (bwip-js 4.11.4), in code set B. */
const OF_OTHERS: readonly [string, string][] = [
  ["T3A67AC9", "2112142133112211321113232231123121311113231313213211221222132331112"],
  ["aZ ~!0", "2112141211243123112122221311412221221231222313112331112"],
];

test.each(OF_OTHERS)("the bars of %s are those of another encoder", (text, widths) => {
  expect(code128(text).join("")).toBe(widths);
});

const printable = fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) });

test("each text has 11 modules for a character, start and check, and 13 for the stop; a different text has different bars", () => {
  fc.assert(
    fc.property(printable, printable, (one, other) => {
      const bars = code128(one);
      expect(bars.reduce((sum, width) => sum + width, 0)).toBe(11 * (one.length + 2) + 13);
      expect(bars.every((width) => width >= 1 && width <= 4)).toBe(true);
      expect(bars.join("") === code128(other).join("")).toBe(one === other);
    }),
  );
});

test("a character that a scanner could not send is refused", () => {
  for (const text of ["é", "a\nb", "\u007f"]) expect(() => code128(text)).toThrow("expected printable ASCII");
});

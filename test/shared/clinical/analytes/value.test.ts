import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ReadValue, readRange, readValue } from "../../../../shared/clinical/analytes/value.ts";

const astm = { decimalComma: true };
const poct1 = { decimalComma: false };

function number(value: number, text: string, comparator: "<" | "<=" | ">" | ">=" | null = null): ReadValue {
  return { is: "number", value, comparator, text };
}

test.each([
  ["3@", 3, "@"],
  ["3.1 *", 3.1, "*"],
  ["?7.412", 7.412, "?"],
  ["**7,4", 7.4, "**"],
  ["<0.2*", 0.2, "*"],
])("%s is the number %d with the marks %s", (text, value, marks) => {
  expect(readValue(text, astm)).toMatchObject({ is: "number", value, marks, text });
});

test.each([
  ["95", 95],
  ["  5.5", 5.5],
  ["-5.2", -5.2],
  ["\u22125.2", -5.2],
  ["+5.2", 5.2],
  ["7,41", 7.41],
  ["0,170", 0.17],
  ["1,025", 1.025],
  [".5", 0.5],
  ["5.000000", 5],
  ["1.2E3", 1200],
  ["1,2e-1", 0.12],
  ["0", 0],
])("%s is the number %d", (text, value) => {
  expect(readValue(text, astm)).toEqual(number(value, text.trim()));
});

test.each([
  [">8", ">", 8],
  ["<=0.5", "<=", 0.5],
  ["≥ 12,5", ">=", 12.5],
  ["< 0.83", "<", 0.83],
] as const)("%s keeps its comparator %s with the bound", (text, comparator, value) => {
  expect(readValue(text, astm)).toEqual(number(value, text, comparator));
});

test.each([
  ["Positive", "Positive"],
  [" NOT DETECTED ", "NOT DETECTED"],
  ["NON DÉTECTÉ^", "NON DÉTECTÉ"],
  ["Yellow", "Yellow"],
  ["100-150 K/uL (Mildly decreased)", "100-150 K/uL (Mildly decreased)"],
  ["1:128", "1:128"],
  ["CBC+DIFF", "CBC+DIFF"],
  ["^0^NQ", "^0^NQ"],
  ["1^2", "1^2"],
  ["5-10", "5-10"],
  ["1/400", "1/400"],
  ["(+)", "(+)"],
  ["( - )", "( - )"],
  ["+/++", "+/++"],
  ["23c", "23c"],
  ["5.", "5."],
  ["5 .5", "5 .5"],
  ["1 234", "1 234"],
  ["1.2.3", "1.2.3"],
  ["--5", "--5"],
  ["<<5", "<<5"],
  ["0x10", "0x10"],
  ["1_000", "1_000"],
  ["1e400", "1e400"],
  ["1,234e2", "1,234e2"],
  ["٣", "٣"],
  ["5+", "5+"],
  ["9".repeat(13), "9".repeat(13)],
  ["1".repeat(65), "1".repeat(65)],
  ["3x10", "3x10"],
])("%j is a value in words", (text, words) => {
  expect(readValue(text, astm)).toEqual({ is: "word", text: words });
});

test.each([
  "",
  "   ",
  "~~~",
  "HEM",
  "LIP",
  "ICT",
  "NA",
  "----",
  "-",
  "***.**",
  "**.*",
  ".***",
  "****",
  "***",
  "+++++",
  ".....",
  "?",
  "<",
  "NaN",
  "Infinity",
  "-Infinity",
  "No Result",
  "INVALID",
  "Error 5",
  `A${"9".repeat(200)}`,
])("%j is not a value and never 0", (text) => {
  expect(readValue(text, astm)).toEqual({ is: "none", reason: expect.stringMatching(/./) });
});

test.each(["1,234.5", "1.234,5", "1,234,567", "12,345", "234,000"])(
  "%s may hold a thousands separator and is not a number",
  (text) => {
    expect(readValue(text, astm)).toEqual({ is: "word", text });
  },
);

test("a number without a decimal comma has no comma", () => {
  expect(readValue("7,41", poct1).is).toBe("word");
  expect(readValue("1,234", poct1).is).toBe("word");
  expect(readValue("1.2E3", poct1)).toEqual(number(1200, "1.2E3"));
});

test("23c needs the suffix that the profile declares", () => {
  expect(readValue("23c", { ...astm, suffix: "c" })).toEqual(number(23, "23c"));
  expect(readValue("<23c*", { ...astm, suffix: "c" })).toEqual({ ...number(23, "<23c*", "<"), marks: "*" });
  expect(readValue("23d", { ...astm, suffix: "c" }).is).toBe("word");
});

test("the reason quotes the text", () => {
  expect(readValue(" HEM ", astm)).toEqual({ is: "none", reason: '"HEM" is not a number' });
  expect(readValue(" ", astm)).toEqual({ is: "none", reason: "no value" });
});

test.each([
  ["NEG", 0],
  ["neg^", 0],
  ["negative", 0],
  ["Norm", 0],
  ["normal", 0],
  ["trace", 0.5],
  ["+-", 0.5],
  ["±", 0.5],
  ["1+", 1],
  ["+1", 1],
  ["+", 1],
  ["++", 2],
  ["2+", 2],
  ["3+*", 3],
  ["++++", 4],
  ["+4", 4],
])("%s is the rank %d", (text, rank) => {
  expect(readValue(text, astm)).toEqual({ is: "ordinal", rank, text });
});

test("any text is read without an exception, and every number is finite", () => {
  const alphabet = fc.constantFrom(..."0123456789.,+-<>=*@^eE ~HN".split(""));
  const text = fc.oneof(fc.string(), fc.string({ unit: alphabet, maxLength: 12 }));
  fc.assert(
    fc.property(text, fc.boolean(), (written, decimalComma) => {
      const read = readValue(written, { decimalComma });
      const { low, high } = readRange(written) ?? { low: null, high: null };
      const figures = [read.is === "number" ? read.value : 0, low ?? 0, high ?? 0];
      expect(figures.every(Number.isFinite) && (low ?? -Infinity) < (high ?? Infinity)).toBe(true);
    }),
  );
});

test("a number in JavaScript's notation is read with either decimal sign", () => {
  fc.assert(
    fc.property(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: 0, max: 2 }), (whole, decimals) => {
      const text = (whole / 10 ** decimals).toFixed(decimals);
      const value = Number(text);
      const expected = expect.objectContaining({ is: "number", value });
      expect(readValue(text, poct1)).toEqual(expected);
      expect(readValue(text.replace(".", ","), astm)).toEqual(expected);
    }),
  );
});

test.each([
  ["20 to 100", 20, 100, "20-100"],
  ["0.3 TO 2.1", 0.3, 2.1, "0.3-2.1"],
  ["2.3-4.0", 2.3, 4, "2.3-4.0"],
  ["-5.2-3.8", -5.2, 3.8, "-5.2-3.8"],
  ["-5.2 - -3.8", -5.2, -3.8, "-5.2--3.8"],
  ["[10.00;200.00]", 10, 200, "10.00-200.00"],
  ["[ -1.5 ; 2 ]", -1.5, 2, "-1.5-2"],
  ["10.0 - 15.0^REFERENCE_RANGE", 10, 15, "10.0-15.0"],
  ["4.00 – 10.00", 4, 10, "4.00-10.00"],
  ["4.00—10.00", 4, 10, "4.00-10.00"],
  ["3,0-9,0", 3, 9, "3.0-9.0"],
  ["4.0^10.0", 4, 10, "4.0-10.0"],
  ["<10", null, 10, "<10"],
  ["<= 0.50", null, 0.5, "<0.50"],
  [">5.0", 5, null, ">5.0"],
  ["[;200.00]", null, 200, "<200.00"],
  ["[7.35;]", 7.35, null, ">7.35"],
  ["4.1~6.9", 4.1, 6.9, "4.1-6.9"],
  ["-5.2 ~ 3.8", -5.2, 3.8, "-5.2-3.8"],
  ["0～5", 0, 5, "0-5"],
  ["(3.5-5.5)", 3.5, 5.5, "3.5-5.5"],
  ["[ 3.5 - 5.5 ]", 3.5, 5.5, "3.5-5.5"],
  ["117...460", 117, 460, "117-460"],
  ["1.5 .. 4", 1.5, 4, "1.5-4"],
])("the range %s is read", (text, low, high, printed) => {
  expect(readRange(text)).toEqual({ low, high, text: printed });
});

test.each([
  "",
  " ",
  "-",
  "--",
  "-5",
  "5-",
  "negative",
  "see report",
  "N/A",
  "10-5",
  "0-0",
  "1-2-3",
  "1~2~3",
  "4.0-10.0~3.0-9.0",
  "~5",
  "1,234-5,678",
  "[;]",
  "[1;2",
  "^0^NQ",
  "General",
  "<",
  "4.0-10.0\\3.0-9.0",
  "1".repeat(65),
])("%j is not a range", (text) => {
  expect(readRange(text)).toBeNull();
});

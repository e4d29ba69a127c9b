import { expect, test } from "vitest";
import { csvLine } from "../../server/dashboard/csv.ts";

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\u{ff1d}1"])("the text %j gets an apostrophe in front", (text) => {
  expect(csvLine([text])).toBe(`'${text}\r\n`);
});

test("text with a leading carriage return gets an apostrophe and quotes", () => {
  expect(csvLine(["\r=1"])).toBe(`"'\r=1"\r\n`);
});

test("a negative number stays a number, an absent cell is empty, and separators are quoted", () => {
  expect(csvLine([-2.5, null, "a,b", 'a"b', "Karabaş"])).toBe('-2.5,,"a,b","a""b",Karabaş\r\n');
});

test("text that a spreadsheet of another language splits begins no formula in its second cell", () => {
  expect(csvLine(["x;=HYPERLINK(1)", "a\t +1", "1;2"])).toBe("x;'=HYPERLINK(1),a\t '+1,1;2\r\n");
});

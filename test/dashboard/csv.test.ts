import { expect, test } from "vitest";
import { csvLine } from "../../server/dashboard/csv.ts";

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\u{ff1d}1"])("the text %j gets an apostrophe in front", (text) => {
  expect(csvLine([text])).toBe(`'${text}\r\n`);
});

test("control characters and marks of direction become escapes, so that a row is one line", () => {
  expect(csvLine(["\r=1", "\t=1", "a\r\nb,c", "\u001b[2J\u009b31m", "\u202ecod", "x\ty"])).toBe(
    '\\u000d=1,\\u0009=1,"a\\u000d\\u000ab,c",\\u001b[2J\\u009b31m,\\u202ecod,x\\u0009y\r\n',
  );
});

test("a negative number stays a number, an absent cell is empty, and separators are quoted", () => {
  expect(csvLine([-2.5, null, "a,b", 'a"b', "Karabaş"])).toBe('-2.5,,"a,b","a""b",Karabaş\r\n');
});

test("text that a spreadsheet of another language splits starts no formula in its second cell", () => {
  expect(csvLine(["x;=HYPERLINK(1)", "a; +1", "1;2"])).toBe("x;'=HYPERLINK(1),a; '+1,1;2\r\n");
  expect(csvLine(["fp", ";=1+1", ' ;"=1+1'])).toBe('fp,;\'=1+1," ;""\'=1+1"\r\n');
});

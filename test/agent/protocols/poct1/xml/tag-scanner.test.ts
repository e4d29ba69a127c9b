import { expect, test } from "vitest";
import { TagScanner } from "../../../../../agent/protocols/poct1/xml/tag-scanner.ts";

/** Reads bytes up to the end of a document. @returns how many; null while the document continues */
function endOf(text: string): number | null {
  const scanner = new TagScanner();
  for (const byte of Buffer.from(text, "latin1")) {
    scanner.read(byte);
    if (scanner.isEnded) return scanner.size;
  }
  return null;
}

test.each([
  "<A/>",
  "<A></A>",
  "<A><A></A></A>",
  "<A V='>'/>",
  '<A V="</A>"></A>',
  "<?xml version='1.0'?><A/>",
  "<?x ?><A/>",
  "<!--</A>--><A><!-- > -- </A> --></A>",
  "<!DOCTYPE A [<!ENTITY b '>'>]><A/>",
  "<A><![CDATA[</A>]]]></A>",
])("the document %s ends with its root", (document) => {
  expect(endOf(`${document}<B>`)).toBe(document.length);
  expect(endOf(document.slice(0, -1))).toBe(null);
});

test("the dashes and question mark that start markup do not end it", () => {
  expect(endOf("<A><!--></A>")).toBe(null);
  expect(endOf("<?><A/>")).toBe(null);
});

test("skipped bytes count, and the last two of them may end markup", () => {
  const scanner = new TagScanner();
  for (const byte of Buffer.from("<A><!--x")) scanner.read(byte);
  const chunk = Buffer.from("yz--");
  scanner.skip(chunk, 0, chunk.length);
  for (const byte of Buffer.from("></A>")) scanner.read(byte);
  expect([scanner.isEnded, scanner.size]).toEqual([true, "<A><!--xyz--></A>".length]);
});

test("depth counts open elements, and a reset starts the next document", () => {
  const scanner = new TagScanner();
  for (const byte of Buffer.from("<A><B><C/>")) scanner.read(byte);
  expect([scanner.depth, scanner.hasRoot, scanner.isOutside]).toEqual([2, true, false]);
  scanner.reset();
  expect([scanner.depth, scanner.hasRoot, scanner.isOutside, scanner.size]).toEqual([0, false, true, 0]);
});

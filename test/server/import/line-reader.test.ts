import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLines } from "../../../server/import/line-reader.ts";
import { temporaryFolder } from "../harness.ts";

async function readText(text: string) {
  const path = join(temporaryFolder(), "lines");
  writeFileSync(path, text);
  const read: [number: number, text: string | null, bytesRead: number][] = [];
  for await (const { number, bytes, bytesRead } of readLines(path)) {
    read.push([number, bytes && bytes.toString(), bytesRead]);
  }
  return read;
}

test("blank lines are skipped and counted; the last line needs no line end", async () => {
  expect(await readText("a\r\n \t\r\n\nç\nlast")).toEqual([
    [1, "a\r", 3],
    [4, "ç", 11],
    [5, "last", 15],
  ]);
  expect(await readText("")).toEqual([]);
});

test("a line over 5 MiB has no bytes, and the next line is read", async () => {
  const MIB = 1024 * 1024;
  const read = await readText(`${"x".repeat(5 * MIB)}\n${"y".repeat(5 * MIB + 1)}\nz`);
  expect(read.map(([number, text]) => [number, text && text.length])).toEqual([
    [1, 5 * MIB],
    [2, null],
    [3, 1],
  ]);
});

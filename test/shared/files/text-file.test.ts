import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../../agent/config/load.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";

const folder = mkdtempSync(join(tmpdir(), "vetwire-text-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(...bytes: (Buffer | number[])[]): string {
  const file = join(folder, "file.txt");
  writeFileSync(file, Buffer.concat(bytes.map((part) => Buffer.from(part))));
  return file;
}

const text = 'name: "Karabaş"\n';
const utf16 = Buffer.from(text, "utf16le");

test.each([
  ["UTF-8", [Buffer.from(text)]],
  ["UTF-8 with a byte order mark", [[0xef, 0xbb, 0xbf], Buffer.from(text)]],
  ["UTF-16, as PowerShell writes it", [[0xff, 0xfe], utf16]],
  ["UTF-16 in the other order", [[0xfe, 0xff], Buffer.from(utf16).swap16()]],
  ["UTF-16 without a mark", [utf16]],
  ["UTF-16 in the other order without a mark", [Buffer.from(utf16).swap16()]],
])("a file in %s is read without its mark", (_, bytes) => {
  expect(readTextFile(written(...bytes), { strict: true })).toBe(text);
});

test("a file of a Windows code page is refused in words if every character counts", () => {
  const file = written(Buffer.from("Karaba"), [0xfe]);
  expect(() => readTextFile(file, { strict: true })).toThrow(`${file} is not UTF-8: save it as UTF-8`);
  expect(readTextFile(file)).toBe("Karaba\ufffd");
});

test("a configuration in UTF-16 has the problems of its text alone", () => {
  const eight = loadConfig(written(Buffer.from("data: ./data\nserver: 5\n")));
  expect(loadConfig(written(Buffer.from("\ufeffdata: ./data\nserver: 5\n", "utf16le")))).toEqual(eight);
  expect("problems" in eight ? eight.problems.map(({ line }) => line) : []).toContain(2);
});

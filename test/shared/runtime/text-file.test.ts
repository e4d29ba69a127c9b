import fs from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../../agent/config/load.ts";
import { readTextFile } from "../../../shared/runtime/text-file.ts";
import { temporaryFolder } from "../../support/processes.ts";

const folder = temporaryFolder();
afterAll(() => fs.rmSync(folder, { recursive: true }));

function written(bytes: Uint8Array): string {
  const file = path.join(folder, "text");
  fs.writeFileSync(file, bytes);
  return file;
}

const text = "server: { url: http://şeker }\r\n";

test.each([
  ["UTF-8", Buffer.from(text)],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`)],
  ["UTF-16 of PowerShell and Notepad", Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16 with the high byte first", Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
])("a file in %s is read as its text", (_, bytes) => {
  expect(readTextFile(written(bytes))).toBe(text);
});

test("a configuration in UTF-16 has the problems of its text alone", () => {
  const sixteen = Buffer.from("\ufeffdata: ./data\nserver: 5\n", "utf16le");
  const eight = loadConfig(written(Buffer.from("data: ./data\nserver: 5\n")));
  expect(loadConfig(written(sixteen))).toEqual(eight);
  expect("problems" in eight ? eight.problems.map(({ line }) => line) : []).toContain(2);
});

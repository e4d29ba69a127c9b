import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readSecret } from "../../../../agent/config/values/secret-file.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

const key = "sk_live_not-a-real-key";

function reading(bytes: Buffer): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "agent.key");
  fs.writeFileSync(file, bytes);
  return readSecret(file);
}

test.each([
  ["UTF-8", Buffer.from(`${key}\n`)],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${key}\r\n`)],
  ["UTF-16, as Windows PowerShell writes it", Buffer.from(`\ufeff${key}\r\n`, "utf16le")],
  ["UTF-16 with the high byte first", Buffer.from(`\ufeff${key}\r\n`, "utf16le").swap16()],
  ["Windows lines with spaces around the key", Buffer.from(`  ${key} \r\n\r\n`)],
])("a key is read from a file in %s", (_, bytes) => {
  expect(reading(bytes)).toBe(key);
});

test.each([
  ["a typographic quote", `sk_live_\u2019`, "its character 9 is U+2019, expected one line of printable ASCII"],
  ["a second line", `${key}\n${key}`, "its character 23 is U+000A, expected one line of printable ASCII"],
  [
    "a character beyond the first plane",
    "\u{1f511}",
    "its character 1 is U+1F511, expected one line of printable ASCII",
  ],
])("a key with %s is refused with its position", (_, text, reason) => {
  expect(() => reading(Buffer.from(text))).toThrow(new Error(reason));
});

test("a key in UTF-16 without a byte order mark is refused", () => {
  expect(() => reading(Buffer.from(key, "utf16le"))).toThrow("its character 2 is U+0000");
});

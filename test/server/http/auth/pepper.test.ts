import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPepper } from "../../../../server/http/auth/pepper.ts";
import { temporaryFolder } from "../../harness.ts";

test("the pepper is created once, readable by its owner only", () => {
  const folder = temporaryFolder();
  const pepper = loadPepper(folder, false);
  expect(pepper.length).toBe(32);
  expect(loadPepper(folder, true)).toEqual(pepper);
  expect(statSync(join(folder, "pepper")).mode & 0o777).toBe(0o600);
});

test("a missing pepper with existing keys is an error, and so is a truncated one", () => {
  const folder = temporaryFolder();
  loadPepper(folder, false);
  writeFileSync(join(folder, "pepper"), "short");
  expect(() => loadPepper(folder, false)).toThrow("has 5 bytes, expected 32");
  rmSync(join(folder, "pepper"));
  expect(() => loadPepper(folder, true)).toThrow("is missing, and the keys of this database were made with it");
});

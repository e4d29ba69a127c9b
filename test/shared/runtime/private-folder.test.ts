import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makePrivateFile, makePrivateFolder } from "../../../shared/runtime/private-folder.ts";
import { temporaryFolder } from "../../support/processes.ts";

// power-cut.test.ts covers whole programs, if strace is installed.

let root: string;
let synced: string[];

beforeEach(() => {
  root = temporaryFolder();
  synced = [];
  const opened = new Map<number, string>();
  const { openSync, fsyncSync } = fs;
  vi.spyOn(fs, "openSync").mockImplementation((...args) => {
    const handle = openSync(...args);
    opened.set(handle, path.relative(root, String(args[0])) || ".");
    return handle;
  });
  vi.spyOn(fs, "fsyncSync").mockImplementation((handle) => {
    synced.push(opened.get(handle)!);
    fsyncSync(handle);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(root, { recursive: true });
});

test.skipIf(process.platform === "win32")("the parent of each new folder is synced, and no other folder", () => {
  fs.mkdirSync(path.join(root, "a"));
  makePrivateFolder(path.join(root, "a/b/c"));
  expect(synced).toEqual(["a/b", "a"]);
  makePrivateFolder(path.join(root, "a/b/c"));
  expect(synced).toEqual(["a/b", "a"]);
});

test.skipIf(process.platform === "win32")("the folder of a new file is synced", () => {
  makePrivateFile(path.join(root, "file"));
  makePrivateFile(path.join(root, "file"));
  expect(synced).toEqual(["."]);
});

test("a file system that cannot sync folders causes no error", () => {
  vi.spyOn(fs, "fsyncSync").mockImplementation(() => {
    throw Object.assign(new Error("EINVAL: invalid argument, fsync"), { code: "EINVAL" });
  });
  makePrivateFolder(path.join(root, "a"));
  expect(fs.existsSync(path.join(root, "a"))).toBe(true);
});

test.skipIf(process.platform === "win32")("a failed sync of a folder is an error", () => {
  vi.spyOn(fs, "fsyncSync").mockImplementation(() => {
    throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" });
  });
  expect(() => makePrivateFolder(path.join(root, "a"))).toThrow("EIO");
});

test("Windows names a new folder by a path of another form, and its parents are left alone", () => {
  vi.spyOn(process, "platform", "get").mockReturnValue("win32");
  const { mkdirSync } = fs;
  vi.spyOn(fs, "mkdirSync").mockImplementationOnce((...args) => `\\\\?\\${mkdirSync(...args)!}`);
  makePrivateFolder(path.join(root, "a/b"));
  expect([fs.existsSync(path.join(root, "a/b")), synced]).toEqual([true, []]);
});

import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makePrivateFile, makePrivateFolder } from "../../../shared/files/private-folder.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// power-cut.test.ts covers complete programs, if strace is installed.

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

/** The synced folders, without those above. */
function inRoot(): string[] {
  return synced.filter((folder) => !folder.startsWith(".."));
}

afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(root, { recursive: true });
});

test.skipIf(process.platform === "win32")("the parents of a folder are synced, whoever made it", () => {
  fs.mkdirSync(path.join(root, "a"));
  makePrivateFolder(path.join(root, "a/b/c"));
  expect(inRoot()).toEqual(["a/b", "a", "."]);
  makePrivateFolder(path.join(root, "a/b/c"));
  expect(inRoot()).toEqual(["a/b", "a", ".", "a/b", "a", "."]);
});

test.skipIf(process.platform === "win32")("the parents of a folder that another user owns are left alone", () => {
  const { accessSync } = fs;
  vi.spyOn(fs, "accessSync").mockImplementation((file, mode) => {
    if (file === root) throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    accessSync(file, mode);
  });
  makePrivateFolder(path.join(root, "a/b"));
  expect(synced).toEqual(["a"]);
});

test.skipIf(process.platform === "win32")("the folder of a private file is synced, whoever made the file", () => {
  makePrivateFile(path.join(root, "file"));
  makePrivateFile(path.join(root, "file"));
  expect(synced).toEqual([".", "."]);
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

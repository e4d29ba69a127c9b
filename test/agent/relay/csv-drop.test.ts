import fs from "node:fs";
import fsPromises from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { CsvDrop } from "../../../agent/relay/csv-drop.ts";
import { canMount, mountDisk, unmountDisk } from "../../support/machine/small-disk.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;
let drop: CsvDrop;

beforeEach(() => {
  folder = temporaryFolder();
  drop = new CsvDrop(folder);
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
});

const bytes = Buffer.from("\ufeffstudy,value\r\n");
const written = (text: string) => ({ outcome: "acknowledged", code: "FILE.WRITTEN", text });

test("a file gets its name with all its bytes, and a second attempt finds it", async () => {
  fs.writeFileSync(path.join(folder, "a.csv.part"), "rest of a killed attempt");
  expect(await drop.carry(bytes, "a.csv")).toEqual(written("a.csv"));
  expect(await drop.carry(bytes, "a.csv")).toEqual(written("a.csv"));
  expect(fs.readdirSync(folder)).toEqual(["a.csv"]);
  expect(fs.readFileSync(path.join(folder, "a.csv"))).toEqual(bytes);
});

test("a file of that name with other content stays, and the new one gets a number", async () => {
  fs.writeFileSync(path.join(folder, "a.csv"), "another");
  expect(await drop.carry(bytes, "a.csv")).toEqual(written("a-2.csv"));
  expect(await drop.carry(bytes, "a.csv")).toEqual(written("a-2.csv"));
  expect(fs.readFileSync(path.join(folder, "a.csv"), "utf8")).toBe("another");
});

test("a link in the place of the unfinished file is not followed", async () => {
  const outside = path.join(temporaryFolder(), "outside");
  fs.writeFileSync(outside, "untouched");
  fs.symlinkSync(outside, path.join(folder, "a.csv.part"));
  expect(await drop.carry(bytes, "a.csv")).toEqual(written("a.csv"));
  expect(fs.readFileSync(outside, "utf8")).toBe("untouched");
});

test("a missing folder fails the delivery with its reason, and leaves nothing", async () => {
  expect(await new CsvDrop(path.join(folder, "gone")).carry(bytes, "a.csv")).toMatchObject({
    ...{ outcome: "failed", code: "FILE.NO_FOLDER", text: "ENOENT" },
  });
});

test("the name of a file is synced, and a share that does not answer meanwhile holds up no device", async () => {
  const opened = vi.spyOn(fsPromises, "open");
  const waitedFor = vi.spyOn(fs, "fsyncSync");
  onTestFinished(() => void vi.restoreAllMocks());
  await drop.carry(bytes, "a.csv");
  expect(opened.mock.calls.filter(([name]) => name === folder)).toHaveLength(1);
  expect(waitedFor).not.toHaveBeenCalled();
});

test.skipIf(!canMount())("a full disk fails the delivery with its reason, and leaves no part", async () => {
  mountDisk(folder, 1);
  try {
    const large = Buffer.alloc(2_000_000, "x");
    expect(await drop.carry(large, "a.csv")).toMatchObject({ outcome: "failed", code: "FILE.DISK_FULL" });
    expect(fs.readdirSync(folder)).toEqual([]);
  } finally {
    unmountDisk(folder);
  }
});

test.each([
  null,
  "",
  "../a.csv",
  "a/b.csv",
  "a\\b.csv",
  ".csv",
  ".a.csv",
  "a.csv\0",
  "a.exe",
  `${"a".repeat(200)}.csv`,
])("the name %j is refused", async (name) => {
  expect(await drop.carry(bytes, name)).toMatchObject({ outcome: "refused", code: "FILE.NAME" });
  expect(fs.readdirSync(folder)).toEqual([]);
});

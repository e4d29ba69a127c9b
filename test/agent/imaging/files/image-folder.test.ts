import fs from "node:fs";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import {
  imageFile,
  imageFolder,
  isPartial,
  partFile,
  recoverImageFolder,
  REMOVED_SUFFIX,
} from "../../../../agent/imaging/files/image-folder.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: a folder as a crash leaves it, and a spool that knows one of its instances.

const used = useSpool();

beforeEach(() => fs.rmSync(imageFolder(used.folder), { recursive: true, force: true }));

const names = () => fs.readdirSync(imageFolder(used.folder)).toSorted();

async function addInstance(message: string): Promise<void> {
  await used.spool.call("addInstance", {
    message,
    device: "xray",
    receivedAt: 1,
    quietMs: 1,
    head: new Uint8Array(0),
    study: "1.2.3",
    sopClass: "1.2",
    sopInstance: "1.2.3.1",
    transferSyntax: "1.2.840.10008.1.2.1",
    callingAe: "DX1",
    sha256: "00",
    fileBytes: 1,
    headerBytes: 1,
  });
}

test("a restart renames a partial file with a row and removes one without", async () => {
  await recoverImageFolder(used.folder, used.spool);
  await addInstance("M1");
  fs.writeFileSync(partFile(used.folder, "M1"), "with a row");
  fs.writeFileSync(partFile(used.folder, "M2"), "without a row");
  expect(isPartial(used.folder, "M1")).toBe(true);
  await recoverImageFolder(used.folder, used.spool);
  expect(names()).toEqual(["M1.dcm"]);
  expect(fs.readFileSync(imageFile(used.folder, "M1"), "utf8")).toBe("with a row");
  expect(isPartial(used.folder, "M1")).toBe(false);
});

test("a restart removes files whose deletion was interrupted", async () => {
  await recoverImageFolder(used.folder, used.spool);
  fs.writeFileSync(imageFile(used.folder, "M1") + REMOVED_SUFFIX, "");
  await recoverImageFolder(used.folder, used.spool);
  expect(names()).toEqual([]);
});

test.skipIf(process.platform === "win32")("the image folder is created and accessible to its owner only", async () => {
  const data = temporaryFolder();
  await recoverImageFolder(data, used.spool);
  const { mode } = fs.statSync(path.join(data, "images"));
  expect(mode & 0o777).toBe(0o700);
  fs.rmSync(data, { recursive: true });
});

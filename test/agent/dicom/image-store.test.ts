import fs from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { Headers } from "../../../agent/headers.ts";
import { imageFolder, ImageStore } from "../../../agent/image-store.ts";
import { CR_STORAGE, EXPLICIT } from "../../support/dicom.ts";
import { useSpool } from "../../support/spool.ts";

const MEGABYTE = 1024 * 1024;
const used = useSpool();

test("a long instance goes to the disk while it comes, a few megabytes at a time", async () => {
  const store = await ImageStore.open(used.folder, used.spool, new Headers());
  onTestFinished(() => store.close());
  const handle = await fs.promises.open(imageFolder(used.folder), "r");
  const flushed = vi.spyOn(Object.getPrototypeOf(handle) as fs.promises.FileHandle, "datasync");
  await handle.close();
  onTestFinished(() => flushed.mockRestore());

  const instance = { messageId: 1, sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax: EXPLICIT };
  const file = store.begin("xray", 1, { ...instance, callingAe: "DX1" });
  const flushes = () => flushed.mock.calls.length;
  for (let megabytes = 1; megabytes <= 20; megabytes++) {
    file.write(new Uint8Array(MEGABYTE));
    await vi.waitFor(() => expect(file.waitingBytes).toBe(0), { interval: 1, timeout: 30_000 });
    expect(megabytes - flushes() * 4).toBeLessThan(4);
  }
  expect(flushes()).toBe(5);
  await file.discard();
  expect(fs.readdirSync(imageFolder(used.folder))).toEqual([]);
});

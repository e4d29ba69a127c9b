import fs from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { Headers } from "../../../agent/headers.ts";
import { imageFolder, ImageStore, tidyImages } from "../../../agent/image-store.ts";
import { CR_STORAGE, EXPLICIT } from "../../support/dicom.ts";
import { useSpool } from "../../support/spool.ts";

const MEGABYTE = 1024 * 1024;
const used = useSpool();

test("a long instance goes to the disk while it comes, a few megabytes at a time, and waits for a disk that is slower", async () => {
  await tidyImages(used.folder, used.spool);
  const store = new ImageStore(used.folder, used.spool, new Headers());
  onTestFinished(() => store.close());
  let written = () => undefined as void;
  const flushed = vi.spyOn(fs, "fdatasync").mockImplementation((_file, done) => (written = () => done(null)));
  onTestFinished(() => flushed.mockRestore());

  const instance = { messageId: 1, sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax: EXPLICIT };
  const file = store.begin("xray", 1, { ...instance, callingAe: "DX1" });
  let caughtUp = 0;
  file.onSynced = () => (caughtUp += 1);
  const receive = (megabytes: number) => {
    for (let megabyte = 0; megabyte < megabytes; megabyte++) file.write(new Uint8Array(MEGABYTE));
    return [flushed.mock.calls.length, file.isBehind];
  };
  expect(receive(3)).toEqual([0, false]);
  expect(receive(1)).toEqual([1, false]);
  expect(receive(3)).toEqual([1, false]);
  expect(receive(1)).toEqual([1, true]);
  written();
  await vi.waitFor(() => expect(caughtUp).toBe(1));
  expect(receive(0)).toEqual([2, false]);
  written();
  await vi.waitFor(() => expect(caughtUp).toBe(2));
  expect(receive(3)).toEqual([2, false]);
  expect(receive(1)).toEqual([3, false]);
  written();
  await file.discard();
  expect(fs.readdirSync(imageFolder(used.folder))).toEqual([]);
});

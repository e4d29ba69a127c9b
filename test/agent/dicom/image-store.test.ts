import fs from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { STATUS } from "../../../agent/dicom/dimse.ts";
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

test("the row follows the bytes and the name, each on the disk, and the file's own name follows the row", async () => {
  await tidyImages(used.folder, used.spool);
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const [fsync, rename, openSync] = [fs.fsync, fs.renameSync, fs.openSync];
  let folder = -1;
  const spies = [
    vi.spyOn(fs, "openSync").mockImplementation((file, ...others) => {
      const handle = openSync(file, ...others);
      if (file === imageFolder(used.folder)) folder = handle;
      return handle;
    }),
    vi.spyOn(fs, "fsync").mockImplementation((handle, told) =>
      fsync(handle, (error) => {
        setTimeout(() => {
          done.push(handle === folder ? "name synced" : "bytes synced late");
          told(error);
        }, 50);
      }),
    ),
    vi.spyOn(fs, "fsyncSync").mockImplementation(note("bytes synced")),
    vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
      done.push("renamed");
      rename(from, to);
    }),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const added = used.spool.call.bind(used.spool) as (...asked: unknown[]) => Promise<string>;
  const spool = {
    call(...asked: unknown[]) {
      done.push("row");
      return added(...asked).finally(note("row is there"));
    },
  } as Pick<typeof used.spool, "call">;
  const store = new ImageStore(used.folder, spool, new Headers());
  onTestFinished(() => store.close());
  const file = store.begin("xray", 1, {
    ...{ messageId: 1, sopClass: CR_STORAGE, sopInstance: "1.2.3.2", transferSyntax: EXPLICIT, callingAe: "DX1" },
  });
  file.write(new Uint8Array(1_000));
  expect(await file.keep({ study: "1.2.3", headerBytes: 10 })).toEqual({ status: STATUS.success, comment: null });
  expect(done).toEqual(["bytes synced", "name synced", "row", "row is there", "renamed"]);
});

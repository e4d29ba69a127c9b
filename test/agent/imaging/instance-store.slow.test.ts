import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { imageFile, imageFolder, isWhole, recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { removeOld } from "../../../agent/imaging/retention.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { CR_STORAGE, EXPLICIT } from "../../support/protocols/dicom.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { useSpool } from "../../support/spool.ts";
import { patiently } from "../../support/runner/patience.ts";

const MEGABYTE = 1024 * 1024;
const used = useSpool();

test("a long instance is synced in parts while it is received, and lags on a slow disk", async () => {
  await recoverImageFolder(used.folder, used.spool);
  const store = new ImageStore(used.folder, used.spool, new HeaderReader());
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
  await expect.poll(() => caughtUp).toBe(1);
  expect(receive(0)).toEqual([2, false]);
  written();
  await expect.poll(() => caughtUp).toBe(2);
  expect(receive(3)).toEqual([2, false]);
  expect(receive(1)).toEqual([3, false]);
  written();
  await file.discard();
  expect(fs.readdirSync(imageFolder(used.folder))).toEqual([]);
});

test("the row is added after bytes and name are synced, and the rename follows the row", async () => {
  await recoverImageFolder(used.folder, used.spool);
  const done: string[] = [];
  const note = (step: string) => () => void done.push(step);
  const [fsync, rename, openSync] = [fs.fsync, fs.renameSync, fs.openSync];
  let folder = -1;
  const spies = [
    vi.spyOn(fs, "openSync").mockImplementation((file, ...others) => {
      const handle = openSync(file, ...others);
      if (file === imageFolder(used.folder)) folder = handle;
      return handle;
    }),
    vi.spyOn(fs, "fsync").mockImplementation((handle, callback) =>
      fsync(handle, (error) => {
        setTimeout(() => {
          done.push(handle === folder ? "name synced" : "bytes synced late");
          callback(error);
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
  const added = used.spool.call.bind(used.spool) as (...args: unknown[]) => Promise<string>;
  const spool = {
    call(...args: unknown[]) {
      done.push("row");
      return added(...args).finally(note("row committed"));
    },
  } as Pick<typeof used.spool, "call">;
  const store = new ImageStore(used.folder, spool, new HeaderReader());
  onTestFinished(() => store.close());
  const file = store.begin("xray", 1, {
    messageId: 1,
    sopClass: CR_STORAGE,
    sopInstance: "1.2.3.2",
    transferSyntax: EXPLICIT,
    callingAe: "DX1",
  });
  file.write(new Uint8Array(1_000));
  expect(await file.store({ study: "1.2.3", headerBytes: 10 })).toEqual({ status: STATUS.success, comment: null });
  expect(done).toEqual(["bytes synced", "name synced", "row", "row committed", "renamed"]);
});

describe("an instance that another AE title repeats", () => {
  const DATASET = Uint8Array.from({ length: 10_000 }, (_, at) => at % 251);

  /** Stores the instance from that AE title. @returns the status */
  async function keep(callingAe: string, folder = used.folder, spool: Pick<Spool, "call"> = used.spool) {
    const store = new ImageStore(folder, spool, new HeaderReader());
    const instance = { messageId: 1, sopClass: CR_STORAGE, sopInstance: "1.2.3.7", transferSyntax: EXPLICIT };
    const file = store.begin("xray", 1, { ...instance, callingAe });
    file.write(DATASET);
    const { status } = await file.store({ study: "1.2.3", headerBytes: 10 });
    store.close();
    return status;
  }

  /** Stores the instance once. @returns its file and its bytes */
  async function first(): Promise<{ file: string; bytes: Buffer }> {
    await recoverImageFolder(used.folder, used.spool);
    expect(await keep("DX1")).toBe(STATUS.success);
    const [{ message } = { message: "" }] = await used.spool.call("instanceFiles", "1.2.3.7");
    const file = imageFile(used.folder, message);
    return { file, bytes: fs.readFileSync(file) };
  }

  test("a repeated instance keeps its first file", async () => {
    const { file, bytes } = await first();
    const { ino } = fs.statSync(file);
    expect(await keep("ULTRASOUND-ROOM2")).toBe(STATUS.success);
    expect(fs.readdirSync(imageFolder(used.folder))).toContain(path.basename(file));
    expect(fs.readFileSync(file)).toEqual(bytes);
    expect(fs.statSync(file).ino).toBe(ino);
    expect(fs.readdirSync(imageFolder(used.folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test.each<[string, (file: string, bytes: Buffer) => void]>([
    ["missing", (file) => fs.unlinkSync(file)],
    ["cut short", (file, bytes) => fs.writeFileSync(file, bytes.subarray(0, -1))],
    ["too long", (file) => fs.appendFileSync(file, "x")],
    ["empty", (file) => fs.writeFileSync(file, "")],
    ["damaged in its dataset", (file, bytes) => fs.writeFileSync(file, Buffer.from(bytes).fill(0, bytes.length - 2))],
    ["damaged in its head", (file, bytes) => fs.writeFileSync(file, Buffer.from(bytes).fill(7, 150, 160))],
  ])("a repeated instance restores its first file if that is %s", async (_, damage) => {
    const { file, bytes } = await first();
    damage(file, bytes);
    expect(await keep("ULTRASOUND-ROOM2")).toBe(STATUS.success);
    expect(fs.readFileSync(file)).toEqual(bytes);
    expect(fs.readdirSync(imageFolder(used.folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a repeated instance is refused and leaves no file while the disk is full", async () => {
    const { file, bytes } = await first();
    fs.unlinkSync(file);
    const rename = vi.spyOn(fs, "renameSync").mockImplementationOnce(() => {
      throw Object.assign(new Error("no room"), { code: "ENOSPC" });
    });
    onTestFinished(() => rename.mockRestore());
    expect(await keep("ULTRASOUND-ROOM2")).toBe(STATUS.outOfResources);
    expect(fs.readdirSync(imageFolder(used.folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
    expect(await keep("ULTRASOUND-ROOM2")).toBe(STATUS.success);
    expect(fs.readFileSync(file)).toEqual(bytes);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["a repeated instance", () => keep("ULTRASOUND-ROOM2")],
    ["the next start", () => recoverImageFolder(used.folder, used.spool)],
  ])("%s names the file of an instance whose rename a full disk refused", async (_, again) => {
    await recoverImageFolder(used.folder, used.spool);
    const rename = vi.spyOn(fs, "renameSync").mockImplementationOnce(() => {
      throw Object.assign(new Error("no room"), { code: "ENOSPC" });
    });
    onTestFinished(() => rename.mockRestore());
    expect(await keep("ULTRASOUND")).toBe(STATUS.outOfResources);
    const [{ message } = { message: "" }] = await used.spool.call("instanceFiles", "1.2.3.7");
    const names = () => fs.readdirSync(imageFolder(used.folder)).filter((name) => name.startsWith(message));
    expect(names()).toEqual([`${message}.part`]);
    await again();
    expect(names()).toEqual([`${message}.dcm`]);
  });

  test("a repeated instance is stored although retention removes its first file meanwhile", async () => {
    const { file, bytes } = await first();
    const spool = {
      async call(name: string, ...args: unknown[]) {
        if (name === "noteStoredAgain") await removeAll();
        return (used.spool.call.bind(used.spool) as (...own: unknown[]) => Promise<unknown>)(name, ...args);
      },
    } as Pick<Spool, "call">;
    expect(await keep("ULTRASOUND-ROOM2", used.folder, spool)).toBe(STATUS.success);
    expect(fs.readFileSync(file)).toEqual(bytes);
    expect(await used.spool.call("instanceFiles", "1.2.3.7")).toHaveLength(1);
  });

  test.each<[string, (file: string) => Promise<void>]>([
    ["whole", () => Promise.resolve()],
    ["removed by retention", removeAll],
    ["damaged", (file) => fs.promises.writeFile(file, "damaged")],
  ])(
    "a repeat of an instance whose first file is %s leaves no wrong file after a kill",
    { timeout: patiently(120_000) },
    async (state, change) => {
      const { file, bytes } = await first();
      await change(file);
      const copies: string[] = [];
      onTestFinished(() => {
        for (const copy of copies) fs.rmSync(copy, { recursive: true });
      });
      const spool = {
        async call(...args: unknown[]) {
          copies.push(copyOf(used.folder));
          const result = await (used.spool.call.bind(used.spool) as (...own: unknown[]) => Promise<unknown>)(...args);
          copies.push(copyOf(used.folder));
          return result;
        },
      } as Pick<Spool, "call">;
      expect(await keep("ULTRASOUND-ROOM2", used.folder, spool)).toBe(STATUS.success);
      expect(copies).toHaveLength(4);
      for (const [step, copy] of copies.entries()) {
        const restarted = await Spool.open(copy);
        try {
          await recoverImageFolder(copy, restarted);
          await removeOld(copy, restarted, { keepMs: null, bytesMax: null }, null);
          const held = await restarted.call("instanceFiles", "1.2.3.7");
          const wrong: string[] = [];
          for (const instance of held) if (!(await isWhole(copy, instance))) wrong.push(instance.message);
          const isRestored = state !== "damaged" || step >= 2;
          expect({ step, wrong }).toEqual({ step, wrong: isRestored ? [] : held.map(({ message }) => message) });
          const listed = held.map(({ message }) => `${message}.dcm`);
          expect(fs.readdirSync(imageFolder(copy)).filter((name) => name === path.basename(file))).toEqual(listed);
          expect(await keep("DX3", copy, restarted)).toBe(STATUS.success);
          expect(fs.readFileSync(imageFile(copy, path.basename(file, ".dcm")))).toEqual(bytes);
        } finally {
          await restarted.close();
        }
      }
    },
  );

  async function removeAll(): Promise<void> {
    const kept = await used.spool.call("retentionCandidates", { storedAt: -1, message: "" }, Date.now() + 1, 10);
    expect(await used.spool.call("removeInstances", kept, Date.now())).toHaveLength(1);
    await removeOld(used.folder, used.spool, { keepMs: null, bytesMax: null }, null);
  }

  /** Copies the spool and the images as a kill at this moment leaves them. */
  function copyOf(folder: string): string {
    const copy = temporaryFolder();
    for (const name of ["spool.db", "spool.db-wal", "images"]) {
      fs.cpSync(path.join(folder, name), path.join(copy, name), { recursive: true });
    }
    return copy;
  }
});

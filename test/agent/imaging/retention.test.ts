import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, test } from "vitest";
import type { ImageLimits } from "../../../agent/config/values/image-limits.ts";
import { imageFile, imageFolder, recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { countImages, listImages } from "../../../agent/imaging/catalogue.ts";
import { removeOld } from "../../../agent/imaging/retention.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { CR_STORAGE, dataset, EXPLICIT } from "../../support/protocols/dicom.ts";
import { useSpool } from "../../support/spool.ts";

// Method: instances are stored in a real spool and folder. Their rows are then changed as the other stages do.

const used = useSpool();
const DAY_MS = 24 * 60 * 60_000;
const limits = { keepMs: null, bytesMax: null };
let store: ImageStore;

beforeEach(async () => {
  const headers = new HeaderReader();
  await recoverImageFolder(used.folder, used.spool);
  store = new ImageStore(used.folder, used.spool, headers);
  for (const name of fs.readdirSync(imageFolder(used.folder))) fs.unlinkSync(path.join(imageFolder(used.folder), name));
  await used.spool.call("setDestinations", []);
  return async () => {
    store.close();
    headers.close();
  };
});

function write(sql: string, ...values: readonly unknown[]): void {
  const db = new Database(path.join(used.folder, "spool.db"));
  db.prepare(sql).run(...values);
  db.close();
}

/** Stores the n-th instance from a device. @returns the status */
async function keep(number: number, callingAe = "DX1"): Promise<number> {
  const sopInstance = `1.2.3.${number}`;
  const incoming = { messageId: 1, sopClass: CR_STORAGE, sopInstance, transferSyntax: EXPLICIT, callingAe };
  const file = store.begin("xray", 1, incoming);
  file.write(contentOf(number));
  const { status } = await file.store({ study: `1.2.4.${number}`, headerBytes: 10 });
  return status;
}

const contentOf = (number: number) => dataset(`1.2.3.${number}`, [[0x7fe0_0010, "OW", new Uint8Array(1_000)]]);

/** Stores the n-th instance with an age in days and a filed study. @returns its message */
async function filed(number: number, days: number): Promise<string> {
  expect(await keep(number)).toBe(STATUS.success);
  const message = messageOf(number);
  write("UPDATE instance SET stored_at = ? WHERE message = ?", Date.now() - days * DAY_MS, message);
  write("UPDATE message SET state = 'filed' WHERE id = ?", message);
  write("DELETE FROM pending_image_study WHERE study_uid = ?", `1.2.4.${number}`);
  return message;
}

async function forwarded(number: number, days: number): Promise<string> {
  const message = await filed(number, days);
  await used.spool.call("settleForward", "pacs", message, "sent", null, 1);
  return message;
}

const listed = () => readSpool(used.folder, (db) => listImages(db, null));
const messageOf = (number: number) => listed().find((image) => image.sop_instance_uid === `1.2.3.${number}`)!.id;
const inFolder = () => fs.readdirSync(imageFolder(used.folder)).toSorted();
const remove = (own: Partial<ImageLimits>, agreed: number | null = Date.now()) =>
  removeOld(used.folder, used.spool, { ...limits, ...own }, agreed);

/** Returns the numbers of the kept instances, after a check of the list against the folder. */
function kept(): string[] {
  const rows = listed().filter(({ removed_at }) => removed_at === null);
  expect(inFolder()).toEqual(rows.map(({ id }) => `${id}.dcm`).toSorted());
  return rows.map(({ sop_instance_uid }) => sop_instance_uid.slice("1.2.3.".length));
}

describe("by age", () => {
  test("an old filed image is removed and stays listed", async () => {
    const old = await filed(1, 31);
    await filed(2, 29);
    const size = fs.statSync(imageFile(used.folder, old)).size;
    expect(await remove({ keepMs: 30 * DAY_MS })).toEqual({ count: 1, bytes: size, isEnough: true });
    expect(kept()).toEqual(["2"]);
    expect(listed()[0]).toMatchObject({ id: old, state: "filed", removed_at: expect.stringMatching(/^2\d{3}-/) });
    expect(readSpool(used.folder, countImages)).toEqual({ kept: 1, bytes: size, removed: 1, forwards: [] });
    expect(await remove({ keepMs: 30 * DAY_MS })).toEqual({ count: 0, bytes: 0, isEnough: true });
  });

  test("no image is too old while no server confirms this machine's clock", async () => {
    await filed(1, 3 * 365);
    expect(await remove({ keepMs: 30 * DAY_MS }, null)).toMatchObject({ count: 0 });
    expect(await remove({ keepMs: 30 * DAY_MS }, Date.now() - 4 * 365 * DAY_MS)).toMatchObject({ count: 0 });
    expect(kept()).toEqual(["1"]);
    expect(await remove({ keepMs: 30 * DAY_MS })).toMatchObject({ count: 1 });
  });

  test.each<[string, (message: string) => void | Promise<void>]>([
    ["an archive waits for it", (message) => used.spool.call("queueForwards", message)],
    [
      "its study waits for the server",
      (message) => write("UPDATE message SET state = 'pending' WHERE id = ?", message),
    ],
    [
      "its study is not assessed",
      () => write("INSERT INTO pending_image_study (study_uid, due_at, quiet_ms) VALUES ('1.2.4.1', 9e12, 0)"),
    ],
    ["its study is unmatched", (message) => write("UPDATE message SET state = 'unmatched' WHERE id = ?", message)],
    ["it is quarantined", (message) => write("UPDATE message SET state = 'quarantined' WHERE id = ?", message)],
    ["storage commitment promised it", () => used.spool.call("markCommitted", ["1.2.3.1"])],
    [
      "one of two archives refused it and it is unmatched",
      async (message) => {
        await used.spool.call("setDestinations", ["pacs", "cloud"]);
        await used.spool.call("queueForwards", message);
        await used.spool.call("settleForward", "pacs", message, "sent", null, 1);
        await used.spool.call("settleForward", "cloud", message, "refused", "no", 1);
        write("UPDATE message SET state = 'unmatched' WHERE id = ?", message);
      },
    ],
  ])("an image stays while %s", async (_, make) => {
    await used.spool.call("setDestinations", ["pacs"]);
    await make(await forgetForwards(await filed(1, 400)));
    expect(await remove({ keepMs: DAY_MS, bytesMax: 1 })).toEqual({ count: 0, bytes: 0, isEnough: false });
    expect(kept()).toEqual(["1"]);
  });

  /** Deletes the forwards, as of an image from before there were destinations. */
  async function forgetForwards(message: string): Promise<string> {
    write("DELETE FROM forward");
    return message;
  }

  test.each(["unmatched", "quarantined"])(
    "an image that every archive has is removed although it is %s",
    async (state) => {
      await used.spool.call("setDestinations", ["pacs"]);
      const message = await forwarded(1, 400);
      await used.spool.call("markCommitted", ["1.2.3.1"]);
      write("UPDATE message SET state = ? WHERE id = ?", state, message);
      expect((await remove({ keepMs: DAY_MS })).count).toBe(1);
      expect(kept()).toEqual([]);
    },
  );

  test("an image that waits for a removed destination is removed", async () => {
    await used.spool.call("setDestinations", ["pacs"]);
    await filed(1, 400);
    await used.spool.call("setDestinations", []);
    expect((await remove({ keepMs: DAY_MS })).count).toBe(1);
  });

  test("removal continues past a page of images that stay", async () => {
    for (let number = 1; number <= 120; number++) await filed(number, 500 - number);
    write(
      "UPDATE message SET state = 'unmatched' WHERE id IN (SELECT message FROM instance ORDER BY stored_at LIMIT 110)",
    );
    expect((await remove({ keepMs: DAY_MS })).count).toBe(10);
    expect(kept()).toEqual(Array.from({ length: 110 }, (_, nth) => String(nth + 1)));
  });
});

describe("by size", () => {
  test("archived images are removed first, the oldest first, until the size fits", async () => {
    await used.spool.call("setDestinations", ["pacs"]);
    const size = fs.statSync(imageFile(used.folder, await forwarded(1, 2))).size;
    await forwarded(2, 3);
    await used.spool.call("setDestinations", ["pacs", "cloud"]);
    await forwarded(3, 9); // not yet sent to cloud
    await used.spool.call("setDestinations", ["pacs"]);
    await used.spool.call("settleForward", "pacs", await filed(4, 8), "refused", "no", 1);

    expect(await remove({ bytesMax: 4 * size })).toEqual({ count: 0, bytes: 0, isEnough: true });
    await used.spool.call("setDestinations", ["pacs", "cloud"]);
    await remove({ bytesMax: 3 * size });
    expect(kept()).toEqual(["1", "3", "4"]);
    await remove({ bytesMax: 1.5 * size });
    expect(kept()).toEqual(["3"]);
    expect(await remove({ bytesMax: 1 })).toEqual({ count: 0, bytes: 0, isEnough: false });
  });

  test("an image of the last hour stays", async () => {
    await filed(1, 0);
    expect(await remove({ bytesMax: 1 })).toEqual({ count: 0, bytes: 0, isEnough: false });
    expect(kept()).toEqual(["1"]);
  });
});

describe("a removed image", () => {
  test("a removed image returns under its id when it is sent again, and counts as new", async () => {
    const message = await filed(1, 400);
    await remove({ keepMs: DAY_MS });
    expect(kept()).toEqual([]);
    expect(await keep(1)).toBe(STATUS.success);
    expect(kept()).toEqual(["1"]);
    expect(listed().map(({ id, state }) => [id, state])).toEqual([[message, "filed"]]);
    expect(fs.readFileSync(imageFile(used.folder, message)).subarray(-1_000)).toEqual(Buffer.alloc(1_000));
    await remove({ keepMs: DAY_MS, bytesMax: 1 });
    expect(kept()).toEqual(["1"]);
  });

  test("a removed image returns with the head of its row when another AE title sends it", async () => {
    const message = await filed(1, 400);
    const first = fs.readFileSync(imageFile(used.folder, message));
    await remove({ keepMs: DAY_MS });
    expect(await keep(1, "ULTRASOUND-ROOM2")).toBe(STATUS.success);
    expect(kept()).toEqual(["1"]);
    expect(fs.readFileSync(imageFile(used.folder, message))).toEqual(first);
    expect(listed().map(({ id, bytes, calling_ae }) => [id, bytes, calling_ae])).toEqual([
      [message, first.length, "DX1"],
    ]);
  });

  test("a removed image is not in a storage commitment", async () => {
    await filed(1, 400);
    expect(await used.spool.call("instanceFiles", "1.2.3.1")).toHaveLength(1);
    await remove({ keepMs: DAY_MS });
    expect(await used.spool.call("instanceFiles", "1.2.3.1")).toEqual([]);
  });

  test("a removed image is not forwarded again", async () => {
    await used.spool.call("setDestinations", ["pacs"]);
    for (const number of [1, 2]) {
      await used.spool.call("settleForward", "pacs", await filed(number, 400 * (2 - number)), "refused", "no", 1);
    }
    await remove({ keepMs: DAY_MS });
    expect(await used.spool.call("retryForwards", "pacs", null)).toBe(1);
    expect((await used.spool.call("queuedForwards", "pacs", 10)).map(({ sopInstance }) => sopInstance)).toEqual([
      "1.2.3.2",
    ]);
  });

  test("an image that is sent again during its removal is kept", async () => {
    for (let number = 1; number <= 40; number++) {
      await filed(number, 400);
      const removing = remove({ keepMs: DAY_MS });
      for (let turns = 0; turns < number % 8; turns++) await new Promise((resolve) => setImmediate(resolve));
      expect(await keep(number)).toBe(STATUS.success);
      await removing;
      expect(kept()).toContain(String(number));
    }
  });

  test("a file whose removal a crash interrupted is removed at the next run", async () => {
    const message = await filed(1, 400);
    write("UPDATE instance SET removed_at = 1 WHERE message = ?", message);
    expect(inFolder()).toEqual([`${message}.dcm`]);
    await remove({});
    expect(inFolder()).toEqual([]);
    fs.writeFileSync(path.join(imageFolder(used.folder), `${message}.dcm.gone`), "");
    await recoverImageFolder(used.folder, used.spool);
    expect(inFolder()).toEqual([]);
  });
});

test("an instance is refused before any write if too little space is free", async () => {
  const headers = new HeaderReader();
  const full = new ImageStore(used.folder, used.spool, headers, Number.MAX_SAFE_INTEGER);
  const incoming = { messageId: 1, sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax: EXPLICIT };
  const file = full.begin("xray", 1, { ...incoming, callingAe: "DX1" });
  const names: string[] = [];
  const watcher = fs.watch(imageFolder(used.folder), (_, name) => names.push(name ?? ""));
  for (let piece = 0; piece < 20; piece++) {
    file.write(new Uint8Array(100_000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await file.store({ study: "1.2", headerBytes: 10 })).toEqual({
    status: STATUS.outOfResources,
    comment: expect.stringMatching(/^cannot be stored: \d+ MB free, at least \d+$/),
  });
  expect(file.isBehind).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 50));
  watcher.close();
  expect([names, inFolder()]).toEqual([[], []]);
  full.close();
  headers.close();
});

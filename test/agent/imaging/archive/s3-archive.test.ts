import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Destination } from "../../../../agent/config/values/destination.ts";
import { ForwardQueue } from "../../../../agent/imaging/archive/forwarding.ts";
import { HeaderReader } from "../../../../agent/imaging/files/header-reader.ts";
import { imageFile, recoverImageFolder } from "../../../../agent/imaging/files/image-folder.ts";
import { ImageStore } from "../../../../agent/imaging/instance-store.ts";
import { STATUS } from "../../../../agent/protocols/dicom/dimse.ts";
import { bucketOf } from "../../../support/peers/bucket.ts";
import { CR_STORAGE, dataset, EXPLICIT } from "../../../support/protocols/dicom.ts";
import { until } from "../../../support/machine/processes.ts";
import { S3Server } from "../../../support/peers/s3-server.ts";
import { useSpool } from "../../../support/spool.ts";
import { TestClock } from "../../../support/protocols/wire.ts";

// Method: an instance of a device is in a real spool and folder, and the queue sends it to a store over real sockets.

const used = useSpool();
let server: S3Server;
let target: Destination & { way: "s3" };
let images: ImageStore;
let clock: TestClock;
let events: string[];
let forward: ForwardQueue;

beforeEach(async () => {
  server = new S3Server();
  target = bucketOf(await server.start(), used.folder);
  const headers = new HeaderReader();
  await recoverImageFolder(used.folder, used.spool);
  images = new ImageStore(used.folder, used.spool, headers);
  await used.spool.call("setDestinations", ["vault"]);
  clock = new TestClock();
  events = [];
  return async () => {
    images.close();
    headers.close();
    await server.stop();
  };
});

afterEach(() => forward.stop());

/** Stores an instance from a device. @returns its message */
async function receive(pixels = 1000): Promise<string> {
  const uid = `1.2.3.${pixels}`;
  const incoming = { messageId: 1, sopClass: CR_STORAGE, sopInstance: uid, transferSyntax: EXPLICIT, callingAe: "DX1" };
  const file = images.begin("xray", 1, incoming);
  file.write(dataset(uid, [[0x7fe0_0010, "OW", randomBytes(pixels)]]));
  expect((await file.store({ study: "1.2.4", headerBytes: 10 })).status).toBe(STATUS.success);
  const [queued] = await used.spool.call("queuedForwards", "vault", 1);
  return queued!.message;
}

function send(): void {
  const handlers = {
    sent: () => events.push("sent"),
    refused: (_: string, reason: string) => events.push(`refused: ${reason}`),
    failed: (kind: string, reason: string) => events.push(`failed, ${kind}: ${reason}`),
    recovered: () => events.push("recovered"),
  };
  forward = new ForwardQueue(used.folder, used.spool, target, handlers, { setTimer: clock.setTimer, random: () => 1 });
  forward.wake();
}

async function counts(): Promise<string[]> {
  const rows = await used.spool.call("countForwards");
  return rows.map(({ state, count }) => `${state} ${count}`);
}

test("an image is stored as its file, under its id and hash", async () => {
  const message = await receive();
  const bytes = fs.readFileSync(imageFile(used.folder, message));
  send();
  await until("it is sent", async () => (await counts())[0] === "sent 1");
  const key = `${message}/${createHash("sha256").update(bytes).digest("hex")}.dcm`;
  expect([...server.objects.keys()]).toEqual([key]);
  expect(server.objects.get(key)?.bytes.equals(bytes)).toBe(true);
});

test("an image whose bytes the store changed stays queued and is stored by the next attempt", async () => {
  await receive();
  server.fault = ({ operation, nth }) => (operation === "PutObject" && nth === 1 ? { do: "flip" } : null);
  send();
  await until("it fails", () => events.length > 0);
  expect(events[0]).toMatch(/^failed, transient: read back: expected SHA-256/);
  expect(await counts()).toEqual(["queued 1"]);
  clock.advance(1_000);
  await until("it is sent", async () => (await counts())[0] === "sent 1");
  expect(events.slice(1)).toEqual(["sent", "recovered"]);
});

test("a refused key is tried again after a minute", async () => {
  await receive();
  fs.writeFileSync(target.secretFile, "wrong\n");
  send();
  await until("it fails", () => events.length > 0);
  expect(events[0]).toMatch(/^failed, unauthorized: the store responded with 403 SignatureDoesNotMatch/);
  expect(clock.pending).toEqual([60_000]);
});

test("a busy store gets the next request at its time", async () => {
  await receive();
  server.fault = () => ({ do: "refuse", status: 503, code: "SlowDown", headers: { "retry-after": "7" } });
  send();
  await until("it fails", () => events.length > 0);
  expect(clock.pending).toEqual([7_000]);
});

test("a missing secret refuses no image", async () => {
  await receive();
  fs.rmSync(target.secretFile);
  send();
  await until("it fails", () => events.length > 0);
  expect(events[0]).toMatch(/^failed, transient: ENOENT/);
  expect(await counts()).toEqual(["queued 1"]);
});

test("a damaged file is refused and never becomes the copy", async () => {
  const message = await receive();
  const file = imageFile(used.folder, message);
  const bytes = fs.readFileSync(file);
  bytes[bytes.length - 1]! ^= 1;
  fs.writeFileSync(file, bytes);
  send();
  await until("it is refused", async () => (await counts())[0] === "refused 1");
  expect(events).toEqual(["refused: the file is missing, or differs from its hash"]);
  expect(server.calls).toEqual([]);
});

test("a stop interrupts an upload without a failure", async () => {
  await receive();
  server.fault = ({ operation }) => (operation === "PutObject" ? { do: "stall" } : null);
  send();
  await until("it is being sent", () => server.log.includes("PutObject"));
  await forward.stop();
  expect(events).toEqual([]);
  expect(await counts()).toEqual(["queued 1"]);
});

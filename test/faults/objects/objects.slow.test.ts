import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ForwardQueue } from "../../../agent/imaging/forwarding.ts";
import { HeaderReader } from "../../../agent/imaging/header-reader.ts";
import { imageFile, recoverImageFolder } from "../../../agent/imaging/image-folder.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { removeOld } from "../../../agent/imaging/retention.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { ObjectError } from "../../../shared/objects/object-error.ts";
import { PART_BYTES } from "../../../shared/objects/object-store.ts";
import { exchange, PATIENCE } from "../../../shared/objects/signed-request.ts";
import { bucketOf } from "../../support/bucket.ts";
import { type Dice, diceOf, pick } from "../../support/dice.ts";
import { CR_STORAGE, dataset, EXPLICIT, Peer, storeRequest } from "../../support/dicom.ts";
import { AGENT, freePort, type Running, start, temporaryFolder, until } from "../../support/processes.ts";
import { S3_KEY, type S3Fault, type S3Operation, S3Server } from "../../support/s3-server.ts";
import { soakCount } from "../../support/soak.ts";
import { useSpool } from "../../support/spool.ts";
import { TestClock } from "../../support/wire.ts";

// Goal: no image is lost to a bad store. Method: a store over real sockets fails at random, while retention removes whatever it
// may; then an agent process is killed within each request of an upload in parts.

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const IMAGES = soakCount(120);
const DAY_MS = 24 * 60 * 60_000;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const FAULTS: readonly S3Fault[] = [
  { do: "refuse", status: 500, code: "InternalError" },
  { do: "refuse", status: 503, code: "SlowDown" },
  { do: "refuse", status: 403, code: "RequestTimeTooSkewed" },
  { do: "refuse", status: 404, code: "NoSuchUpload" },
  { do: "refuse", status: 307, code: "TemporaryRedirect", headers: { location: "http://127.0.0.1:1/" } },
  { do: "error-body", code: "InternalError" },
  { do: "truncate" },
  { do: "flip" },
  { do: "flip" },
  { do: "forget" },
  { do: "cut" },
];

describe("a store with faults", () => {
  const used = useSpool();
  let server: S3Server;
  let port: number;
  let images: ImageStore;
  /** The hash of each image by its message. */
  let hashes: Map<string, string>;

  beforeEach(async () => {
    server = new S3Server();
    port = await server.start();
    const headers = new HeaderReader();
    await recoverImageFolder(used.folder, used.spool);
    images = new ImageStore(used.folder, used.spool, headers);
    await used.spool.call("setDestinations", ["vault"]);
    hashes = new Map();
    return async () => {
      images.close();
      await headers.close();
      await server.stop();
    };
  });

  /** Stores images that are old enough to be removed. Two of them go in parts. */
  async function receive(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      const uid = `1.2.3.${number}`;
      const ids = { sopClass: CR_STORAGE, sopInstance: uid, transferSyntax: EXPLICIT };
      const file = images.begin("xray", 1, { messageId: 1, callingAe: "DX1", ...ids });
      const pixels = randomBytes(number <= 2 ? PART_BYTES + 1000 : 2000);
      file.write(dataset(uid, [[0x7fe0_0010, "OW", pixels]]));
      expect((await file.store({ study: `1.2.4.${number}`, headerBytes: 10 })).status).toBe(STATUS.success);
    }
    const db = new Database(path.join(used.folder, "spool.db"));
    db.prepare("UPDATE instance SET stored_at = ?").run(Date.now() - 2 * DAY_MS);
    db.prepare("UPDATE message SET state = 'filed'").run();
    db.prepare("DELETE FROM pending_image_study").run();
    db.close();
    for (const { message } of await used.spool.call("queuedForwards", "vault", count)) {
      hashes.set(message, sha256(fs.readFileSync(imageFile(used.folder, message))));
    }
    expect(hashes.size).toBe(count);
  }

  /** Removes what retention may remove. @returns the images of which neither this machine nor the store has the bytes */
  async function lost(): Promise<string[]> {
    await removeOld(used.folder, used.spool, { keepMs: DAY_MS, bytesMax: null }, Date.now());
    return [...hashes].flatMap(([message, hash]) => {
      if (fs.existsSync(imageFile(used.folder, message))) return [];
      const object = server.objects.get(`${message}/${hash}.dcm`);
      return object !== undefined && sha256(object.bytes) === hash ? [] : [message];
    });
  }

  const queued = async () => (await used.spool.call("queuedForwards", "vault", IMAGES)).length;

  /** Half of the calls have a fault. */
  function faultsOf(dice: Dice): void {
    server.fault = () => (dice(2) === 0 ? pick(dice, FAULTS) : null);
  }

  test(`no file is removed before its copy was read back, and every image arrives (SEED=${SEED})`, {
    timeout: 600_000,
  }, async () => {
    await receive(IMAGES);
    faultsOf(diceOf(SEED));
    const clock = new TestClock();
    const faults: string[] = [];
    const handlers = {
      sent: () => undefined,
      refused: (_: string, reason: string) => faults.push(`refused: ${reason}`),
      failed: () => undefined,
      recovered: () => undefined,
    };
    const timing = { setTimer: clock.setTimer, random: () => 1 };
    const forward = new ForwardQueue(used.folder, used.spool, bucketOf(port, used.folder), handlers, timing);
    forward.wake();
    await until(
      "all images are sent",
      async () => {
        faults.push(...(await lost()));
        clock.advance(5 * 60_000);
        return (await queued()) === 0;
      },
      500_000,
    );
    await forward.stop();
    faults.push(...(await lost()));
    expect(faults).toEqual([]);
    expect(Array.from(hashes.keys()).filter((message) => fs.existsSync(imageFile(used.folder, message)))).toEqual([]);
    expect(server.calls.length).toBeGreaterThan(4 * IMAGES);
  });

  test("an agent that trusts status 200 loses images", { timeout: 600_000 }, async () => {
    await receive(IMAGES);
    server.fault = ({ nth }) => (nth % 2 === 0 ? { do: "flip" } : null);
    const target = bucketOf(port, used.folder);
    while ((await queued()) > 0) {
      for (const { message } of await used.spool.call("queuedForwards", "vault", IMAGES)) {
        const key = `${message}/${hashes.get(message)}.dcm`;
        const body = fs.readFileSync(imageFile(used.folder, message));
        try {
          await exchange(target, S3_KEY.secret, { method: "PUT", key, body }, PATIENCE, async () => undefined);
          await used.spool.call("settleForward", "vault", message, "sent", null, Date.now());
        } catch (error) {
          if (!(error instanceof ObjectError)) throw error;
        }
      }
    }
    expect(await lost()).toHaveLength(Math.floor(IMAGES / 2));
  });
});

describe("an agent process that is killed while it sends an image in parts", () => {
  let folder: string;
  let server: S3Server;
  let agent: Running | null = null;
  let devicePort: number;

  beforeAll(async () => {
    folder = temporaryFolder();
    server = new S3Server();
    const port = await server.start();
    devicePort = await freePort();
    const { way: _, id, ca: _ca, encryption: _encryption, prefix: _prefix, ...s3 } = bucketOf(port, folder);
    fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
    const config = {
      server: { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" },
      data: "data",
      timeZone: "UTC",
      devices: [{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${devicePort}` } }],
      destinations: [{ id, s3 }],
    };
    fs.writeFileSync(path.join(folder, "agent.yaml"), JSON.stringify(config));
  });

  afterAll(async () => {
    await agent?.end("SIGKILL");
    await server.stop();
    fs.rmSync(folder, { recursive: true });
  });

  async function startAgent(): Promise<Running> {
    const running = start(AGENT, ["run", "--config", path.join(folder, "agent.yaml")]);
    await until("the agent runs", () => running.output().includes("the agent is running"));
    return running;
  }

  const PARTS = 3;
  const MOMENTS: readonly (readonly [S3Operation, number])[] = [
    ["UploadPart", 2],
    ["GetObject", 0],
    ["HeadObject", 0],
    ["ListMultipartUploads", 0],
    ["CreateMultipartUpload", 0],
    ["UploadPart", 1],
    ["UploadPart", PARTS],
    ["CompleteMultipartUpload", 0],
  ];
  const rounds = Array.from(
    { length: soakCount(20) },
    (_, round) => [round + 1, ...MOMENTS[round % MOMENTS.length]!] as const,
  );

  test.each(rounds)(
    "kill %i, within %s %i: the next start sends what is missing",
    { timeout: 120_000 },
    async (round, operation, part) => {
      server.calls.length = 0;
      agent ??= await startAgent();
      // The store does the work and stays silent, so the agent does not know how far it came.
      server.fault = (call) =>
        call.operation === operation && call.part === part && call.nth >= part ? { do: "stall" } : null;
      const peer = await Peer.associate(devicePort);
      const uid = `1.2.3.${round}`;
      peer.send(
        storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", randomBytes((PARTS - 1) * PART_BYTES + 1000)]])),
      );
      expect(await peer.status()).toBe(STATUS.success);
      peer.end();
      const reached = () => server.calls.some((call) => call.operation === operation && call.part === part);
      await until(`${operation} ${part}`, reached);
      await agent.end("SIGKILL");
      expect(agent.output()).not.toContain(S3_KEY.secret);
      server.fault = () => null;
      const before = server.log.filter((line) => line.startsWith("UploadPart")).length;

      agent = await startAgent();
      const data = path.join(folder, "data");
      const states = () =>
        readSpool(data, (db) => db.prepare("SELECT message, state FROM forward").all()) as {
          message: string;
          state: string;
        }[];
      await until("the image is sent", () => states().filter(({ state }) => state === "sent").length === round);
      const objects = [...server.objects];
      expect(objects).toHaveLength(round);
      for (const { message } of states()) {
        const bytes = fs.readFileSync(imageFile(data, message));
        expect(server.objects.get(`${message}/${sha256(bytes)}.dcm`)?.bytes.equals(bytes)).toBe(true);
      }
      // The store has each part that was begun, so no part is sent twice.
      expect(server.log.filter((line) => line.startsWith("UploadPart"))).toHaveLength(Math.max(PARTS, before));
    },
  );
});

import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Destination } from "../../../../agent/config/values/destination.ts";
import { ForwardQueue } from "../../../../agent/imaging/archive/forwarding.ts";
import { imageFile } from "../../../../agent/imaging/files/image-folder.ts";
import { generateInstance } from "../../../../agent/tools/simulator/generated-study.ts";
import { dcmtk, run } from "../../../support/protocols/dcmtk.ts";
import { useDicomServer } from "../../../support/protocols/dicom-server.ts";
import { generatedFile } from "../../../support/runner/generated-file.ts";
import { freePort, temporaryFolder, until } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";
import { TestClock } from "../../../support/protocols/wire.ts";

// Method: DCMTK's storescu sends to a real device. Its images are forwarded to DCMTK's storescp with faults, or to a scripted
// HTTP server. The test sets the clock of the retries.

const used = useSpool();
const served = useDicomServer(used);
let folder: string;
let port: number;
let clock: TestClock;
let events: string[];
const peers: ChildProcess[] = [];
const forwards: ForwardQueue[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  port = await freePort();
  clock = new TestClock();
  events = [];
});

afterEach(async () => {
  await Promise.all(forwards.splice(0).map((forward) => forward.stop()));
  for (const peer of peers.splice(0)) peer.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true });
});

/** Starts storescp on `port`; its files are in `folder`. */
async function startPeer(...options: readonly string[]): Promise<ChildProcess> {
  const peer = spawn("storescp", ["-v", "-od", folder, ...options, String(port)], {
    env: { ...process.env, TCP_NODELAY: "1" },
    stdio: "ignore",
  });
  peers.push(peer);
  await until("storescp listens", async () => {
    const { ok, output } = await run("echoscu", "-to", "1", "127.0.0.1", String(port));
    return ok || output.includes("Rejected");
  });
  return peer;
}

function forwardTo(destination: Destination): ForwardQueue {
  const handlers = {
    sent: () => events.push("sent"),
    refused: (_: string, reason: string) => events.push(`refused: ${reason}`),
    failed: (kind: string, reason: string) => events.push(`failed, ${kind}: ${reason}`),
    recovered: () => events.push("recovered"),
  };
  const forward = new ForwardQueue(used.folder, used.spool, destination, handlers, {
    setTimer: clock.setTimer,
    random: () => 1,
  });
  forwards.push(forward);
  return forward;
}

const pacs = (): Destination => ({
  id: "pacs",
  way: "store",
  address: { host: "127.0.0.1", port },
  aeTitle: "PACS",
  callingAeTitle: "VETWIRE",
});

const STUDY = { patient: { id: "1", name: "X^Rex", species: "dog" }, uid: "2.25.4711", at: "20260504090000" };

/** Returns the datasets that receive() sends, in the form of received(). */
function generated(count: number): string[] {
  return Array.from({ length: count }, (_, nth) =>
    Buffer.from(generateInstance("cr", STUDY, nth + 1).dataset).toString("base64"),
  );
}

/** Sends generated images to the device, which queues them for the destinations. */
async function receive(count: number, destinations: readonly string[] = ["pacs"], ...options: readonly string[]) {
  await used.spool.call("setDestinations", destinations);
  const files = Array.from({ length: count }, (_, nth) => {
    const file = path.join(folder, `out-${nth}.dcm`);
    fs.writeFileSync(file, generatedFile(generateInstance("cr", STUDY, nth + 1)));
    return file;
  });
  const { ok, output } = await run(
    "storescu",
    ...options,
    "-aec",
    "VETWIRE",
    "127.0.0.1",
    String(served.port),
    ...files,
  );
  expect(ok ? "" : output).toBe("");
  for (const file of files) fs.unlinkSync(file);
}

async function counts(): Promise<string[]> {
  const rows = await used.spool.call("countForwards");
  return rows.map(({ destination, state, count }) => `${destination} ${state} ${count}`);
}

/** Reads the dataset of a file, after its File Meta Information. */
function datasetOf(file: string): Buffer {
  const bytes = fs.readFileSync(file);
  return bytes.subarray(144 + bytes.readUInt32LE(140));
}

function received(): string[] {
  return fs.readdirSync(folder).map((name) => datasetOf(path.join(folder, name)).toString("base64"));
}

async function held(): Promise<string[]> {
  const stored = await used.spool.call("instancesOf", "2.25.4711");
  return stored.map(({ message }) => datasetOf(imageFile(used.folder, message)).toString("base64"));
}

describe.skipIf(!dcmtk)("forwarding to storescp", () => {
  test("every image arrives byte-identical, on one association", async () => {
    await receive(12);
    await startPeer("+B", "+xa");
    const forward = forwardTo(pacs());
    forward.wake();
    await until("all are sent", async () => (await counts())[0] === "pacs sent 12");
    expect(received().toSorted()).toEqual((await held()).toSorted());
    expect(events).toEqual(Array.from({ length: 12 }, () => "sent"));
    await receive(12); // a repeat of the same bytes queues nothing
    expect(await counts()).toEqual(["pacs sent 12"]);
  });

  test("an image within whose sending the agent ended twice goes last, an hour later, and is not refused", async () => {
    await receive(3);
    const [first] = await used.spool.call("queuedForwards", "pacs", 1);
    for (let ends = 0; ends < 2; ends++) await used.spool.call("beginTry", "forward", `pacs ${first?.message}`, 2);
    await startPeer("+B", "+xa");
    forwardTo(pacs()).wake();
    await until("the others are sent", async () => (await counts()).includes("pacs sent 2"));
    expect(await counts()).toEqual(["pacs queued 1", "pacs sent 2"]);
    expect(events.toSorted()).toEqual([
      "failed, transient: the agent ended each time it worked on this, so it was set aside",
      "sent",
      "sent",
    ]);
    clock.advance(60 * 60_000);
    await until("it is sent", async () => (await counts())[0] === "pacs sent 3");
  });

  test("an image that a second AE title repeats is forwarded unchanged", async () => {
    await receive(2, ["pacs"], "-aet", "DX1");
    await receive(2, ["pacs"], "-aet", "ULTRASOUND-ROOM2");
    await startPeer("+B", "+xa");
    forwardTo(pacs()).wake();
    await until("both are sent", async () => (await counts())[0] === "pacs sent 2");
    expect(received().toSorted()).toEqual(generated(2).toSorted());
  });

  test("an unreachable destination is retried and delays no other", async () => {
    await receive(3, ["pacs", "other"]);
    forwardTo(pacs()).wake();
    await until("the first try fails", () => events.length > 0);
    expect(events).toEqual([
      expect.stringMatching(/^failed, transient: 127.0.0.1:\d+: nothing listens there \(ECONNREFUSED\)/),
    ]);
    const away = clock.pending;
    expect(away).toEqual([1_000]);

    await startPeer("+xa");
    forwardTo({ ...pacs(), id: "other" }).wake();
    await until("the other one has them", async () => (await counts()).includes("other sent 3"));
    expect(await counts()).toEqual(["other sent 3", "pacs queued 3"]);
    clock.advance(1_000);
    await until("both have them", async () => (await counts()).includes("pacs sent 3"));
    expect(events).toContain("recovered");
  });

  test("an unsupported transfer syntax is reported, and the other images are sent", async () => {
    await receive(1);
    await receive(2, ["pacs"], "-xi");
    await startPeer("+xi"); // Implicit VR only
    forwardTo(pacs()).wake();
    await until("nothing waits", async () => !(await counts()).some((count) => count.includes(" queued ")));
    expect(events.filter((line) => line.startsWith("refused"))).toEqual([
      "refused: the peer does not accept 1.2.840.10008.5.1.4.1.1.1 with transfer syntax 1.2.840.10008.1.2.1",
    ]);
    expect(await counts()).toEqual(["pacs refused 1", "pacs sent 2"]);
  });

  test("a partial image is sent once it is stored", async () => {
    await receive(2);
    await startPeer("+xa");
    const [first] = await used.spool.call("instancesOf", "2.25.4711");
    const file = imageFile(used.folder, first!.message);
    const part = file.replace(/dcm$/, "part");
    fs.renameSync(file, part);
    const forward = forwardTo(pacs());
    forward.wake();
    await until("the other one is sent", () => events.length > 0);
    expect(events).toEqual(["sent"]);
    expect(await counts()).toEqual(["pacs queued 1", "pacs sent 1"]);
    fs.renameSync(part, file);
    forward.wake();
    await until("both are sent", async () => (await counts())[0] === "pacs sent 2");
  });

  test("a peer that rejects the agent is retried after a longer delay", async () => {
    await receive(1);
    await startPeer("--refuse");
    forwardTo(pacs()).wake();
    await until("it is refused", () => events.length > 0);
    expect(events).toEqual(["failed, unauthorized: rejected (result 1, source 1, reason 1)"]);
    expect(clock.pending).toEqual([60_000]);
    expect(await counts()).toEqual(["pacs queued 1"]);
  });

  test.each(["--abort-during", "--abort-after"])(
    "an image of a broken association (%s) is sent again",
    async (fault) => {
      await receive(2);
      const breaking = await startPeer("+xa", fault);
      forwardTo(pacs()).wake();
      await until("it breaks off", () => events.length > 0);
      expect(events[0]).toMatch(/^failed, uncertain: the peer aborted/);
      expect(await counts()).toEqual(["pacs queued 2"]);
      breaking.kill("SIGKILL");
      await until("it is gone", () => breaking.exitCode !== null || breaking.signalCode !== null);
      for (const name of fs.readdirSync(folder)) fs.unlinkSync(path.join(folder, name));
      await startPeer("+xa", "+B");
      clock.advance(60_000);
      await until("all are sent", async () => (await counts())[0] === "pacs sent 2");
      expect(received().toSorted()).toEqual((await held()).toSorted());
    },
  );
});

/** Store Instances Response Modules (PS3.18 §10.5.3.2). 0xC000: the server cannot understand the image. */
const named = (uid: string) => ({ "00081155": { vr: "UI", Value: [uid] } });
const failedAs = (uid: string) =>
  JSON.stringify({ "00081198": { vr: "SQ", Value: [{ ...named(uid), "00081197": { vr: "US", Value: [0xc000] } }] } });
const storedAs = (uid: string) => JSON.stringify({ "00081199": { vr: "SQ", Value: [named(uid)] } });

async function storedInstance(): Promise<string> {
  const [{ sopInstance } = { sopInstance: "" }] = await used.spool.call("instancesOf", "2.25.4711");
  return sopInstance;
}

describe.skipIf(!dcmtk)("forwarding to a STOW-RS server", () => {
  let scripted: { status: number; body?: string; headers?: Record<string, string> };
  let requests: { url: string; headers: http.IncomingHttpHeaders; body: Buffer }[];
  let server: http.Server;

  beforeEach(async () => {
    scripted = { status: 200, body: "{}" };
    requests = [];
    server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        requests.push({ url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(scripted.status, scripted.headers).end(scripted.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return () => new Promise<void>((resolve) => server.close(() => resolve()));
  });

  const cloud = (): Destination => {
    const authorizationFile = path.join(used.folder, "pacs.auth");
    fs.writeFileSync(authorizationFile, "Bearer secret\n");
    return { id: "pacs", way: "stow", url: `http://127.0.0.1:${port}/dicom-web/`, authorizationFile };
  };

  test("the file is sent unchanged in one part", async () => {
    await receive(1);
    forwardTo(cloud()).wake();
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
    const [{ url, headers, body }] = requests as [(typeof requests)[0]];
    expect(url).toBe("/dicom-web/studies");
    const [, boundary = ""] = /boundary=(\S+)$/.exec(headers["content-type"] ?? "") ?? [];
    expect(headers).toMatchObject({
      "content-type": `multipart/related; type="application/dicom"; boundary=${boundary}`,
      "content-length": String(body.length),
      authorization: "Bearer secret",
    });
    const message = (await used.spool.call("instancesOf", "2.25.4711"))[0]?.message ?? "";
    const part = Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: application/dicom; transfer-syntax=1.2.840.10008.1.2.1\r\n\r\n`),
      fs.readFileSync(imageFile(used.folder, message)),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    expect(body.equals(part)).toBe(true);
  });

  test("an image that a second AE title repeats is sent with its first head", async () => {
    await receive(1, ["pacs"], "-aet", "DX1");
    const [message = ""] = (await used.spool.call("instancesOf", "2.25.4711")).map((stored) => stored.message);
    const first = fs.readFileSync(imageFile(used.folder, message));
    await receive(1, ["pacs"], "-aet", "ULTRASOUND-ROOM2");
    forwardTo(cloud()).wake();
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
    expect(requests[0]?.body.includes(first)).toBe(true);
  });

  test.each([
    [
      { status: 503, headers: { "retry-after": "7" } },
      "failed, transient: the server responded with 503: no body",
      7_000,
    ],
    [{ status: 500, body: "boom" }, "failed, transient: the server responded with 500: boom", 1_000],
    [{ status: 401 }, "failed, unauthorized: the server responded with 401: no body", 60_000],
  ])("a response %j is retried", async (wrong, line, afterMs) => {
    await receive(1);
    scripted = wrong;
    forwardTo(cloud()).wake();
    await until("it fails", () => events.length > 0);
    expect(events).toEqual([line]);
    scripted = { status: 200 };
    clock.advance(afterMs - 1);
    expect(clock.pending).toEqual([1]);
    clock.advance(1);
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
    expect(events).toEqual([line, "sent", "recovered"]);
  });

  test.each([
    { status: 404, body: "<html>no such page</html>" },
    { status: 400, body: '{"success":false,"error":{"code":"X","message":"no"}}' },
    { status: 415 },
    { status: 200, body: "<html>Welcome to this network</html>" },
    { status: 200, body: '{"success":true}' },
    { status: 409, body: '{"00081198":{"vr":"SQ"}}' },
    { status: 202, body: '{"00081198":{"vr":"SQ"}}' },
    { status: 409, body: failedAs("1.2.3") },
    { status: 200, body: storedAs("1.2.3") },
  ])("a response %j names no image, and is retried", async (wrong) => {
    await receive(1);
    scripted = wrong;
    forwardTo(cloud()).wake();
    await until("it fails", () => events.length > 0);
    expect(events).toEqual([expect.stringMatching(/^failed, uncertain: the server responded with \d+/)]);
    const sopInstance = await storedInstance();
    scripted = { status: 200, body: storedAs(sopInstance) };
    clock.advance(1_000);
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
  });

  test.each([200, 202, 409])("a response %i that names the image as failed is not retried", async (status) => {
    await receive(1);
    const sopInstance = await storedInstance();
    scripted = { status, body: failedAs(sopInstance) };
    forwardTo(cloud()).wake();
    await until("it is refused", async () => (await counts())[0] === "pacs refused 1");
    expect(events).toEqual([expect.stringMatching(/^refused: the server responded with \d+/)]);
  });
});

import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Destination } from "../../../agent/config/destination.ts";
import { Forward } from "../../../agent/imaging/forwarding.ts";
import { generateInstance } from "../../../agent/tools/simulator/generated-study.ts";
import { imageFile } from "../../../agent/imaging/instance-store.ts";
import { dcmtk, run } from "../../support/dcmtk.ts";
import { useDicomServer } from "../../support/dicom-server.ts";
import { generatedFile } from "../../support/generated-file.ts";
import { freePort, temporaryFolder, until } from "../../support/processes.ts";
import { useSpool } from "../../support/spool.ts";
import { TestClock } from "../../support/wire.ts";

// Method: DCMTK's storescu sends to a real device, whose images are forwarded to DCMTK's storescp with its faults, or to an
// HTTP server that does as the test says. The clock of the retries is the test's.

const used = useSpool();
const served = useDicomServer(used);
let folder: string;
let port: number;
let clock: TestClock;
let said: string[];
const peers: ChildProcess[] = [];
const forwards: Forward[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  port = await freePort();
  clock = new TestClock();
  said = [];
});

afterEach(async () => {
  await Promise.all(forwards.splice(0).map((forward) => forward.stop()));
  for (const peer of peers.splice(0)) peer.kill("SIGKILL");
  fs.rmSync(folder, { recursive: true });
});

/** Storescp on `port`; what it got is in `folder`. */
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

function forwardTo(destination: Destination): Forward {
  const events = {
    sent: () => said.push("sent"),
    refused: (_: string, reason: string) => said.push(`refused: ${reason}`),
    failed: (kind: string, reason: string) => said.push(`failed, ${kind}: ${reason}`),
    recovered: () => said.push("recovered"),
  };
  const forward = new Forward(used.folder, used.spool, destination, events, {
    setTimer: clock.setTimer,
    random: () => 1,
  });
  forwards.push(forward);
  return forward;
}

const pacs = (): Destination => ({
  ...{ id: "pacs", way: "store", address: { host: "127.0.0.1", port }, aeTitle: "PACS", callingAeTitle: "VETWIRE" },
});

const STUDY = { patient: { id: "1", name: "X^Rex", species: "dog" }, uid: "2.25.4711", at: "20260504090000" };

/** The datasets that receive() sends, as received() shows them. */
function generated(count: number): string[] {
  return Array.from({ length: count }, (_, nth) =>
    Buffer.from(generateInstance("cr", STUDY, nth + 1).dataset).toString("base64"),
  );
}

/** Sends generated images to the device; those of the destinations are queued with them. */
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

/** The dataset of a file: what follows its File Meta Information. */
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

describe.skipIf(!dcmtk)("to storescp", () => {
  test("every image arrives byte-identical, on one association", async () => {
    await receive(12);
    await startPeer("+B", "+xa");
    const forward = forwardTo(pacs());
    forward.wake();
    await until("all are sent", async () => (await counts())[0] === "pacs sent 12");
    expect(received().toSorted()).toEqual((await held()).toSorted());
    expect(said).toEqual(Array.from({ length: 12 }, () => "sent"));
    await receive(12); // once more: the same bytes are no news
    expect(await counts()).toEqual(["pacs sent 12"]);
  });

  test("an image that a second AE title repeats is forwarded with the dataset that came", async () => {
    await receive(2, ["pacs"], "-aet", "DX1");
    await receive(2, ["pacs"], "-aet", "ULTRASOUND-ROOM2");
    await startPeer("+B", "+xa");
    forwardTo(pacs()).wake();
    await until("both are sent", async () => (await counts())[0] === "pacs sent 2");
    expect(received().toSorted()).toEqual(generated(2).toSorted());
  });

  test("a destination that is away is tried again, and delays no other", async () => {
    await receive(3, ["pacs", "other"]);
    forwardTo(pacs()).wake();
    await until("the first try fails", () => said.length > 0);
    expect(said).toEqual([expect.stringMatching(/^failed, transient: 127.0.0.1:\d+: connect ECONNREFUSED/)]);
    const away = clock.pending;
    expect(away).toEqual([1_000]);

    await startPeer("+xa");
    forwardTo({ ...pacs(), id: "other" }).wake();
    await until("the other one has them", async () => (await counts()).includes("other sent 3"));
    expect(await counts()).toEqual(["other sent 3", "pacs queued 3"]);
    clock.advance(1_000);
    await until("both have them", async () => (await counts()).includes("pacs sent 3"));
    expect(said).toContain("recovered");
  });

  test("a transfer syntax that the peer does not take is told, and the rest goes on", async () => {
    await receive(1);
    await receive(2, ["pacs"], "-xi");
    await startPeer("+xi"); // Implicit VR only
    forwardTo(pacs()).wake();
    await until("nothing waits", async () => (await counts()).length === 2 || (await counts())[0] === "pacs sent 3");
    expect(said.filter((line) => line.startsWith("refused"))).toEqual([
      "refused: the peer takes no 1.2.840.10008.5.1.4.1.1.1 with transfer syntax 1.2.840.10008.1.2.1",
    ]);
    expect(await counts()).toContain("pacs refused 1");
  });

  test("an image that is still on its way to the disk is not given up: it goes once it is there", async () => {
    await receive(2);
    await startPeer("+xa");
    const [first] = await used.spool.call("instancesOf", "2.25.4711");
    const file = imageFile(used.folder, first!.message);
    const part = file.replace(/dcm$/, "part");
    fs.renameSync(file, part);
    const forward = forwardTo(pacs());
    forward.wake();
    await until("the other one is sent", () => said.length > 0);
    expect(said).toEqual(["sent"]);
    expect(await counts()).toEqual(["pacs queued 1", "pacs sent 1"]);
    fs.renameSync(part, file);
    forward.wake();
    await until("both are sent", async () => (await counts())[0] === "pacs sent 2");
  });

  test("a peer that will not have us is asked again only after a while", async () => {
    await receive(1);
    await startPeer("--refuse");
    forwardTo(pacs()).wake();
    await until("it is refused", () => said.length > 0);
    expect(said).toEqual(["failed, unauthorized: rejected (result 1, source 1, reason 1)"]);
    expect(clock.pending).toEqual([60_000]);
    expect(await counts()).toEqual(["pacs queued 1"]);
  });

  test.each(["--abort-during", "--abort-after"])("what the peer breaks off (%s) is sent again", async (fault) => {
    await receive(2);
    const breaking = await startPeer("+xa", fault);
    forwardTo(pacs()).wake();
    await until("it breaks off", () => said.length > 0);
    expect(said[0]).toMatch(/^failed, uncertain: the peer aborted/);
    expect(await counts()).toEqual(["pacs queued 2"]);
    breaking.kill("SIGKILL");
    await until("it is gone", () => breaking.exitCode !== null || breaking.signalCode !== null);
    for (const name of fs.readdirSync(folder)) fs.unlinkSync(path.join(folder, name));
    await startPeer("+xa", "+B");
    clock.advance(60_000);
    await until("all are sent", async () => (await counts())[0] === "pacs sent 2");
    expect(received().toSorted()).toEqual((await held()).toSorted());
  });
});

describe.skipIf(!dcmtk)("to a STOW-RS server", () => {
  let answer: { status: number; body?: string; headers?: Record<string, string> };
  let requests: { url: string; headers: http.IncomingHttpHeaders; body: Buffer }[];
  let server: http.Server;

  beforeEach(async () => {
    answer = { status: 200, body: "{}" };
    requests = [];
    server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        requests.push({ url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
        response.writeHead(answer.status, answer.headers).end(answer.body);
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

  test("the file goes as it stands, in one part", async () => {
    await receive(1);
    forwardTo(cloud()).wake();
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
    const [{ url, headers, body }] = requests as [(typeof requests)[0]];
    expect(url).toBe("/dicom-web/studies");
    expect(headers).toMatchObject({
      "content-type": 'multipart/related; type="application/dicom"; boundary=vetwire-instance',
      "content-length": String(body.length),
      authorization: "Bearer secret",
    });
    const message = (await used.spool.call("instancesOf", "2.25.4711"))[0]?.message ?? "";
    const part = Buffer.concat([
      Buffer.from("--vetwire-instance\r\nContent-Type: application/dicom; transfer-syntax=1.2.840.10008.1.2.1\r\n\r\n"),
      fs.readFileSync(imageFile(used.folder, message)),
      Buffer.from("\r\n--vetwire-instance--\r\n"),
    ]);
    expect(body.equals(part)).toBe(true);
  });

  test("an image that a second AE title repeats goes as the first one sent it", async () => {
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
      "failed, transient: the server answered 503: nothing more",
      7_000,
    ],
    [{ status: 500, body: "boom" }, "failed, transient: the server answered 500: boom", 1_000],
    [{ status: 401 }, "failed, unauthorized: the server answered 401: nothing more", 60_000],
  ])("%j is tried again", async (wrong, line, afterMs) => {
    await receive(1);
    answer = wrong;
    forwardTo(cloud()).wake();
    await until("it fails", () => said.length > 0);
    expect(said).toEqual([line]);
    answer = { status: 200 };
    clock.advance(afterMs - 1);
    expect(clock.pending).toEqual([1]);
    clock.advance(1);
    await until("it is sent", async () => (await counts())[0] === "pacs sent 1");
    expect(said).toEqual([line, "sent", "recovered"]);
  });

  test.each([
    { status: 409, body: '{"00081198":{"vr":"SQ"}}' },
    { status: 202, body: '{"00081198":{"vr":"SQ"}}' },
    { status: 415 },
  ])("%j is not tried again", async (wrong) => {
    await receive(1);
    answer = wrong;
    forwardTo(cloud()).wake();
    await until("it is refused", async () => (await counts())[0] === "pacs refused 1");
    expect(said).toEqual([expect.stringMatching(/^refused: the server answered \d+/)]);
  });
});

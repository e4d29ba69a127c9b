import fs from "node:fs";
import path from "node:path";
import tls from "node:tls";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { readTls } from "../../../agent/config/values/tls-files.ts";
import { imageFolder, recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { DicomThread } from "../../../agent/imaging/thread.ts";
import type { DeviceConnection } from "../../../agent/connection/device-service.ts";
import { makeCertificates } from "../../support/peers/certificates.ts";
import { associateRequest, CR_STORAGE, dataset, EXPLICIT, Peer, storeRequest } from "../../support/protocols/dicom.ts";
import { freePort, start, temporaryFolder, until, World } from "../../support/machine/processes.ts";
import { useSpool } from "../../support/spool.ts";

// Goal: the imaging thread serves several devices and loses no instance. Method: two real devices in one thread, one of them
// over TLS. The test of a failing thread starts an agent process.

const used = useSpool();
const events: string[] = [];
let ports: { plain: number; secure: number };
let certificates: ReturnType<typeof makeCertificates>;
let thread: DicomThread;
let connections: DeviceConnection[];

beforeEach(async () => {
  const folder = temporaryFolder();
  certificates = makeCertificates(folder);
  const security = readTls(certificates.agent);
  fs.rmSync(imageFolder(used.folder), { recursive: true, force: true });
  await recoverImageFolder(used.folder, used.spool);
  ports = { plain: await freePort(), secure: await freePort() };
  const device = { aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 60_000, allow: ["127.0.0.0/8"] };
  const devices = [
    { ...device, id: "xray", address: { host: "127.0.0.1", port: ports.plain }, security: null },
    { ...device, id: "us", address: { host: "127.0.0.1", port: ports.secure }, security },
  ];
  const images = { keepMs: 24 * 60 * 60_000, bytesMax: null, freeBytes: null };
  thread = new DicomThread({ data: used.folder, images, devices, deviceCount: 1 }, used.spool);
  events.length = 0;
  const note = (event: string) => void events.push(event);
  connections = devices.map(({ id }) =>
    thread.addDevice(id, {
      connected: () => note(`${id} connected`),
      disconnected: () => note(`${id} disconnected`),
      lineChanged: () => undefined,
      bytes: () => undefined,
      refused: () => undefined,
      warning: (reason) => note(`${id}: ${reason}`),
      refusal: (reason) => note(`${id}: ${reason}`),
      stored: () => note(`${id} stored`),
      fault: (error) => note(`${id}: internal error: ${String(error)}`),
      handleRequest: () => Promise.resolve({ status: STATUS.success, comment: null }),
      commitments: { join: () => undefined, leave: () => undefined, wake: () => undefined },
    }),
  );
  for (const connection of connections) await connection.open();
  return async () => {
    for (const connection of connections) await connection.close();
    await thread.stop();
    fs.rmSync(folder, { recursive: true });
  };
});

const files = () => fs.readdirSync(imageFolder(used.folder));

test("the thread serves two devices, one of them over TLS", async () => {
  const [xray, us] = connections;
  expect([xray?.connected, us?.connected]).toEqual([false, false]);
  const sender = await Peer.associate(ports.plain);
  await until("it is connected", () => xray?.connected);
  sender.send(storeRequest(1, "1.2.3.1", dataset("1.2.3.1")));
  expect(await sender.status()).toBe(STATUS.success);

  const ca = fs.readFileSync(certificates.ca);
  const socket = tls.connect({ host: "127.0.0.1", port: ports.secure, ca, servername: "agent" });
  socket.write(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  const response = await new Promise<Buffer>((resolve, reject) => {
    socket.once("data", resolve);
    socket.once("error", reject);
  });
  expect(response[0]).toBe(2); // A-ASSOCIATE-AC
  await until("it is connected", () => us?.connected);
  socket.destroy();
  sender.end();
  await until("both are gone", () => xray?.connected === false && us?.connected === false);
  expect(events.toSorted()).toEqual(
    [
      "xray connected",
      "xray stored",
      "xray: the connection closed without a release",
      "xray disconnected",
      "us connected",
      "us: the connection closed without a release",
      "us disconnected",
    ].toSorted(),
  );
});

test("close() waits for an instance that is being stored", async () => {
  const sender = await Peer.associate(ports.plain);
  const other = new Database(path.join(used.folder, "spool.db"));
  other.exec("BEGIN IMMEDIATE"); // blocks the row
  const bytes = dataset("1.2.3.2");
  sender.send(storeRequest(1, "1.2.3.2", bytes));
  await until("its bytes are there", () =>
    files().some((name) => fs.statSync(path.join(imageFolder(used.folder), name)).size > bytes.length),
  );
  let isClosed = false;
  const closing = Promise.resolve(connections[0]?.close()).then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([isClosed, files()]).toEqual([false, [expect.stringMatching(/\.part$/)]]);
  other.exec("COMMIT");
  other.close();
  await closing;
  expect(files()).toEqual([expect.stringMatching(/\.dcm$/)]);
  expect(await used.spool.call("instanceFiles", "1.2.3.2")).toHaveLength(1);
  expect(events).toContain("xray stored");
});

test("the thread removes an old image and stores it again when it is sent again", async () => {
  const sender = await Peer.associate(ports.plain);
  const store = async () => {
    sender.send(storeRequest(1, "1.2.3.3", dataset("1.2.3.3")));
    expect(await sender.status()).toBe(STATUS.success);
  };
  await store();
  const kept = files();
  const db = new Database(path.join(used.folder, "spool.db"));
  db.exec("UPDATE instance SET stored_at = 1; UPDATE message SET state = 'filed'; DELETE FROM pending_image_study");
  db.close();
  expect(await thread.removeOld(Date.now())).toEqual({ count: 1, bytes: expect.any(Number), isEnough: true });
  expect(files()).toEqual([]);
  await store();
  expect(files()).toEqual(kept);
  sender.end();
});

test("an agent ends if its imaging thread fails", async () => {
  const world = await World.create(1);
  try {
    world.writeConfig([{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${await freePort()}` } }]);
    const failing = path.join(world.folder, "failing.mjs");
    const trigger = path.join(world.folder, "fail");
    fs.writeFileSync(
      failing,
      `import fs from "node:fs";
       import { workerData } from "node:worker_threads";
       const fail = () => {
         if (fs.existsSync(${JSON.stringify(trigger)})) throw new Error("the thread fell over");
       };
       if (workerData?.devices) setInterval(fail, 20);`,
    );
    const agent = start("--import", [failing, path.resolve("dist/agent/main.js"), "run", "--config", world.config]);
    await until("the agent runs", () => agent.output().includes("the agent is running"));
    fs.writeFileSync(trigger, "");
    // Its last words may arrive after its end.
    await until("its last words", () => agent.output().includes("the thread fell over"));
    await until("it ended", () => agent.process.exitCode !== null);
    expect(agent.process.exitCode).toBe(1);
  } finally {
    await world.end();
  }
});

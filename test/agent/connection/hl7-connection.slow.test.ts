import { unprocessedMessages } from "../../support/spool.ts";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "../../../agent/connection/connection.ts";
import type { MessageHandler } from "../../../agent/connection/device/device-session.ts";
import { recover } from "../../../agent/connection/recovery.ts";
import { SESSION_MESSAGES_MAX } from "../../../agent/connection/session-recorder.ts";
import { NO_EVENTS } from "../../support/protocols/wire.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool, type SpoolOptions } from "../../../agent/spool/spool.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { listenTransport } from "../../../agent/transport/tcp.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { freePort, temporaryFolder, until } from "../../support/machine/processes.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// Method: the agent's connection and spool on a real socket. The test reads the disk through its own connection.

let folder: string;
let spool: Spool;
let connection: Connection;
let port: number;
let messages: StoredMessage[];
const clients: MllpClient[] = [];

async function listen(options: SpoolOptions = {}): Promise<void> {
  messages = [];
  port = await freePort();
  spool = await Spool.open(folder, options);
  const transport = listenTransport({ host: "127.0.0.1", port }, []);
  const device = { id: "hema-1", profile: genericHl7, timeZone: "Europe/Istanbul" };
  const handler: MessageHandler = { message: (message) => void messages.push(message) };
  connection = new Connection(device, transport, { spool, events: NO_EVENTS, messages: handler });
  connection.open();
}

async function close(): Promise<void> {
  for (const client of clients.splice(0)) client.close();
  await connection.close();
  await spool.close();
}

beforeEach(() => {
  folder = temporaryFolder();
  return async () => fs.rmSync(folder, { recursive: true });
});

afterEach(close);

async function connect(): Promise<MllpClient> {
  const client = await until("the port", () => MllpClient.connect(port).catch(() => null));
  clients.push(client);
  return client;
}

const count = (id: string, wbc = 9.8) => bloodCount({ id, patient: "4711", measured: "20261121093000", wbc });
const stored = () => readSpool(folder, listMessages);
const chunksOnDisk = () =>
  readSpool(folder, (db) => db.prepare("SELECT bytes FROM event WHERE kind = 'chunk'").pluck().all()) as Buffer[];

test("a message is stored as a range of its chunks until they are pruned", async () => {
  await listen();
  const devices = [await connect(), await connect()];
  const image = `OBX|61|ED|IMG||${"Q".repeat(200_000)}|||N`;
  for (const nth of [0, 1, 2]) {
    const frames = [frameOf(count(`A${nth}`)), frameOf([...count(`B${nth}`), ...(nth === 1 ? [image] : [])])];
    // Random cuts on two connections, so that the chunks of both alternate in the spool.
    for (const [index, frame] of frames.entries()) devices[index]!.send(frame.subarray(0, 1 + 90 * nth));
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const [index, frame] of frames.entries()) devices[index]!.send(frame.subarray(1 + 90 * nth));
    for (const [index, device] of devices.entries()) {
      expect(verdict(await device.nextReply())).toBe(`AA ${"AB"[index]}${nth}`);
    }
  }
  await until("all are stored", () => messages.length === 6);
  const asDelivered = new Map(messages.map(({ id, bytes }) => [id, Buffer.from(bytes).toString()]));
  const onDisk = async () =>
    new Map((await unprocessedMessages(spool, "hema-1")).map(({ id, bytes }) => [id, Buffer.from(bytes).toString()]));
  const ownBytes = () =>
    readSpool(folder, (db) => db.prepare("SELECT SUM(length(bytes)) FROM message").pluck().get()) as number;
  expect(await onDisk()).toEqual(asDelivered);
  expect(ownBytes()).toBe(0);

  for (const device of clients.splice(0)) device.close();
  await until("the sessions are over", () =>
    readSpool(folder, (db) => db.prepare("SELECT COUNT(*) FROM session WHERE finished_at IS NULL").pluck().get() === 0),
  );
  while (await spool.call("prune", Date.now() + 60_000, 2));
  expect(chunksOnDisk()).toEqual([]);
  expect(await onDisk()).toEqual(asDelivered);
});

test("a message without a frame is one message after its silence, and one that the connection cuts is incomplete", async () => {
  await listen();
  const whole = frameOf(count("A0")).subarray(1, -2);
  (await connect()).send(whole);
  await until("it is stored", () => messages.length === 1);
  expect(messages[0]).toMatchObject({ incomplete: null });
  expect(Buffer.from(messages[0]!.bytes).toString()).toBe(Buffer.from(whole).toString());
  const cut = await connect();
  cut.send(frameOf(count("A1")).subarray(1, -9));
  await until("its bytes are stored", () => chunksOnDisk().some((chunk) => chunk.includes("A1")));
  cut.close();
  await until("the cut one is stored", () => messages.length === 2);
  expect(messages[1]).toMatchObject({ incomplete: "the connection closed within a segment" });
});

describe("sessions of an HL7 connection", () => {
  const sessions = () =>
    readSpool(folder, (db) =>
      db.prepare("SELECT finished_at IS NOT NULL FROM session ORDER BY id").pluck().all(),
    ) as number[];
  const places = () =>
    readSpool(folder, (db) => db.prepare("SELECT session, ordinal FROM message ORDER BY id").raw().all());

  test("a session holds up to 64 messages and ends after a pause", async () => {
    await listen();
    const device = await connect();
    const ask = async (id: number) => expect(verdict(await device.exchange(count(String(id))))).toBe(`AA ${id}`);
    for (let id = 0; id < 3; id++) await ask(id);
    await until("the first has ended", () => sessions().every((ended) => ended === 1));
    const before = sessions().length;
    await ask(3);
    expect(sessions()).toHaveLength(before + 1);
    // One write, so that a delay of the machine does not end the session.
    const ids = Array.from({ length: SESSION_MESSAGES_MAX }, (_, index) => String(10 + index));
    for (const id of ids) device.send(frameOf(count(id)));
    for (const id of ids) expect(verdict(await device.nextReply())).toBe(`AA ${id}`);
    await ask(4);
    expect(sessions().length).toBeGreaterThan(before + 1);
    await until("all have ended", () => sessions().every((ended) => ended === 1));
    expect(stored()).toHaveLength(SESSION_MESSAGES_MAX + 5);
  });

  test("a clean stop leaves no session to replay", async () => {
    await listen();
    const device = await connect();
    for (let id = 0; id < 3; id++) await device.exchange(count(String(id)));
    await close();
    expect(sessions().every((ended) => ended === 1)).toBe(true);
    expect(stored()).toHaveLength(3);
    await listen();
  });

  test("a kill within a session loses no message and stores none twice", async () => {
    await listen();
    const device = await connect();
    for (let id = 0; id < 20; id++) await device.exchange(count(String(id)));
    expect(sessions().length).toBeLessThan(10);
    const copy = temporaryFolder();
    for (const file of ["spool.db", "spool.db-wal"]) fs.copyFileSync(path.join(folder, file), path.join(copy, file));
    await until("all are stored", () => stored().length === 20);
    await close();
    const asStored = places();
    folder = copy;
    await listen();
    await recover(spool, profileById);
    expect(places()).toEqual(asStored);
    expect(sessions().every((ended) => ended === 1)).toBe(true);
  });
});

describe("commit before acknowledgement", () => {
  test("a message is committed before its AA arrives", async () => {
    await listen();
    const device = await connect();
    for (const id of ["1", "2", "3"]) {
      const frame = frameOf(count(id));
      device.send(frame.subarray(0, 70));
      await new Promise((resolve) => setTimeout(resolve, 5));
      device.send(frame.subarray(70));
      expect(verdict(await device.nextReply())).toBe(`AA ${id}`);
      expect(Buffer.concat(chunksOnDisk()).includes(Buffer.from(frame))).toBe(true);
    }
  });

  test("a full disk refuses a message with AE or CR, and the connection serves the next one", async () => {
    await listen({ bytesMax: 320 * 1024 });
    const device = await connect();
    const large = (header: string) => [header, `NTE|1||${"x".repeat(400_000)}`];
    const [header = ""] = count("7");
    device.send(frameOf(large(header)));
    expect(verdict(await device.nextReply())).toBe("AE 7");
    device.send(frameOf(large(header.replace("2.3.1||||||", "2.3.1|||AL|NE||").replace("|7|", "|8|"))));
    expect(verdict(await device.nextReply())).toBe("CR 8");
    expect(verdict(await device.exchange(count("9")))).toBe("AA 9");
    await until("the message", () => messages.some(({ incomplete }) => incomplete === null));
    expect(stored().filter(({ reason }) => reason === null)).toHaveLength(1);
  });
});

describe("a crash between commit and acknowledgement", () => {
  test("a committed message that the device resends after a crash is stored once", async () => {
    await listen();
    const device = await connect();
    expect(verdict(await device.exchange(count("1")))).toBe("AA 1");
    device.send(frameOf(count("2")).subarray(0, 90)); // leaves the session open when the agent stops
    await until("it is on disk", () => Buffer.concat(chunksOnDisk()).includes("|2|P|"));
    await close();

    await listen();
    await recover(spool, profileById);
    const again = await connect();
    for (const id of ["1", "2"]) expect(verdict(await again.exchange(count(id)))).toBe(`AA ${id}`);
    await until("both", () => messages.length === 2);
    const all = readSpool(folder, (db) => db.prepare("SELECT truncation_reason FROM message").pluck().all());
    expect(all).toEqual([null, "the connection closed within a frame", null]);
  });
});

test("an invalid message gets AR, is stored, and keeps the connection open", async () => {
  await listen();
  const device = await connect();
  device.send(Buffer.concat([frameOf(["noise"]), frameOf(count("1"))]));
  expect([verdict(await device.nextReply()), verdict(await device.nextReply())]).toEqual(["AR", "AA 1"]);
  await until("both", () => messages.length === 2);
  expect(Buffer.from(messages[0]!.bytes).toString()).toBe("noise\r");
});

test("two connections of one device keep their frames separate", async () => {
  await listen();
  const [one, other] = [await connect(), await connect()];
  const frames = [frameOf(count("1")), frameOf(count("2"))];
  for (let at = 0; at < frames[0]!.length; at += 20) {
    one.send(frames[0]!.subarray(at, at + 20));
    other.send(frames[1]!.subarray(at, at + 20));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([verdict(await one.nextReply()), verdict(await other.nextReply())]).toEqual(["AA 1", "AA 2"]);
});

test("a silent connection stays open and accepts its next message", async () => {
  await listen();
  const device = await connect();
  device.send(Buffer.of(0x02, 0x00, 0x0d));
  expect(await device.nextReply(1_500)).toBe(null);
  expect(verdict(await device.exchange(count("1")))).toBe("AA 1");
});

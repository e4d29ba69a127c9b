import { unprocessedMessages } from "../../support/spool.ts";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pino } from "pino";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAgent } from "../../../agent/agent.ts";
import { recover } from "../../../agent/connection/recovery.ts";
import { ACK, ENQ, NAK } from "../../../agent/protocols/bytes.ts";
import { readSpool, searchSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { capture } from "../../../agent/tools/capture/capture.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { Connection } from "../../../agent/connection/connection.ts";
import { explain } from "../../../agent/tools/offline/explain.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { ROW_BYTES } from "../../../agent/spool/queries/devices/stored-bytes.ts";
import { NOISE_BYTES_MAX } from "../../../agent/spool/queries/events/noise.ts";
import { RESERVE_FILE } from "../../../agent/spool/thread/reserve.ts";
import { RESERVE_BYTES } from "../../../agent/spool/thread/room.ts";
import { makeRoom } from "../../../agent/periodic-tasks.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { messageRow, type StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { frames, session } from "../../support/protocols/astm.ts";
import { freePort, temporaryFolder, until } from "../../support/machine/processes.ts";
import { NO_EVENTS, TestClock, TestTransport, type TestWire } from "../../support/protocols/wire.ts";
import { canMount, mountDisk } from "../../support/machine/small-disk.ts";

// Goal: no device takes the room of the others, and the agent can start, prune and stop with a full spool or disk.
// Method: real spools with a small bound, and agents on a small disk.

const MB = 1024 * 1024;
const profile = profileById("generic-astm")!;
const records = ["H|\\^&|||Tester", "P|1|4711", "R|1|^^^GLU|5.5|mmol/L", "L|1|N"];
const state = { connected: true, is: "connected", reason: null, mayBeOff: false, since: 0 } as const;
const silence = { lastMessageAt: null, lastBytesAt: null, lastWarning: null };
const counters = { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 };

async function openSpool(bytesMax: number, folder = newFolder()): Promise<{ folder: string; spool: Spool }> {
  const spool = await Spool.open(folder, { bytesMax });
  let isClosed = false;
  onTestFinished(async () => {
    if (!isClosed) await spool.close();
  });
  const close = spool.close.bind(spool);
  spool.close = () => ((isClosed = true), close());
  for (const id of ["chem-1", "chem-2"]) {
    await spool.call("setDevice", { id, profile: profile.id, ...state, ...silence, counters });
  }
  return { folder, spool };
}

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function append(spool: Spool, device: string, number: number, bytes: Uint8Array): Promise<StorageError | null> {
  const event = { device, session: number, kind: "chunk", bytes, durable: true } as const;
  return new Promise((resolve) => spool.append(event, resolve));
}

/** Stores chunks in sessions that are finished, until not one byte is accepted. @returns the reason */
async function fill(spool: Spool, device: string): Promise<string> {
  let reason = "";
  for (const bytes of [64 * 1024, 1024, 1]) {
    for (let error: StorageError | null = null; error === null; ) {
      const number = spool.openSession(device, profile.id);
      error = await append(spool, device, number, new Uint8Array(bytes));
      spool.callLater("finishSessions", [number], 1);
      reason = error?.message ?? reason;
    }
  }
  return reason;
}

function connect(spool: Spool, device: string) {
  const transport = new TestTransport();
  const messages: StoredMessage[] = [];
  const warnings: string[] = [];
  const events = { ...NO_EVENTS, warning: (reason: string) => void warnings.push(reason) };
  const handler = { message: (message: StoredMessage) => void messages.push(message) };
  const options = { spool, events, messages: handler, setTimer: new TestClock().setTimer };
  new Connection({ id: device, profile, timeZone: "UTC" }, transport, options).open();
  return { wire: transport.connect(), messages, warnings };
}

/** Sends noise in the largest chunks that a socket delivers. */
async function sendNoise(wire: TestWire, megabytes: number): Promise<void> {
  for (let chunk = 0; chunk < megabytes * 16; chunk++) {
    wire.send(new Uint8Array(MB / 16).fill(0x78));
    while (wire.paused) await nextTurn();
  }
}

const eventBytes = (folder: string) =>
  readSpool(folder, (db) => db.prepare("SELECT SUM(length(bytes)) FROM event").pluck().get()) as number;

const text = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString("latin1");

describe("a line with continuous noise", () => {
  const lookup = () => ({ profile, timeZone: "UTC" });

  test("a noisy line keeps its newest 16 MB, and its messages can still be captured and explained", async () => {
    const { folder, spool } = await openSpool(60 * MB);
    const { wire, messages } = connect(spool, "chem-1");
    // The bound is 16 MB, so the noise between the second and the third message is removed.
    for (const [index, megabytes] of [0, 2, 16].entries()) {
      wire.send(session(records));
      await until("the message", () => messages.length === index + 1);
      await sendNoise(wire, megabytes);
    }
    await until("the oldest noise is removed", () => eventBytes(folder) < NOISE_BYTES_MAX * 1.05);
    expect(eventBytes(folder)).toBeGreaterThan(NOISE_BYTES_MAX * 0.9);
    expect(await append(spool, "chem-2", spool.openSession("chem-2", profile.id), Uint8Array.of(ENQ))).toBe(null);
    const content = `${records.join("\r")}\r`;
    expect((await unprocessedMessages(spool, "chem-1")).map(text)).toEqual([content, content, content]);
    const { id } = messages[2]!;
    const { bytes } = readSpool(folder, (db) => capture(db, folder, id, lookup, true));
    expect(text({ bytes })).toContain(text({ bytes: session(records) }));
    expect((await searchSpool(folder, (db) => explain(db, id, lookup))).join("\n")).toContain("1 results");
  });

  test("a noisy line is replayed after a crash with each message once, also the unfinished one", async () => {
    const { folder, spool } = await openSpool(60 * MB);
    const { wire, messages } = connect(spool, "chem-1");
    wire.send(session(records));
    await until("the message", () => messages.length === 1);
    await sendNoise(wire, 18);
    for (const bytes of [Uint8Array.of(ENQ), ...frames(records).slice(0, 3)]) wire.send(bytes);
    await until("its frames are acknowledged", () => wire.replies.length === 9);
    await spool.close(); // as a kill leaves it

    const after = await Spool.open(folder);
    await recover(after, profileById);
    const stored = readSpool(folder, listMessages);
    expect(stored.map(({ id }) => id)[0]).toBe(messages[0]!.id);
    const all = await unprocessedMessages(after, "chem-1");
    expect(all.map(text)).toEqual([`${records.join("\r")}\r`, `${records.slice(0, 3).join("\r")}\r`]);
    await after.close();
  });
});

describe("the share of a device", () => {
  const REFUSED = "the device takes 6 MB of the spool, and the rest is kept for the other devices";

  test("a device that takes all but the share of the other is refused alone until its settled rows are removed", async () => {
    const { spool } = await openSpool(8 * MB);
    expect(await fill(spool, "chem-1")).toBe(REFUSED);
    const number = spool.openSession("chem-2", profile.id);
    for (let chunk = 0; chunk < 10; chunk++) {
      expect(await append(spool, "chem-2", number, new Uint8Array(64 * 1024))).toBe(null);
    }
    const late = spool.openSession("chem-1", profile.id);
    expect(await append(spool, "chem-1", late, Uint8Array.of(ENQ))).toBeInstanceOf(StorageError);
    expect(spool.shortDevices).toEqual(["chem-1"]);
    await makeRoom(spool);
    expect(spool.shortDevices).toEqual([]);
    expect(await append(spool, "chem-1", spool.openSession("chem-1", profile.id), Uint8Array.of(ENQ))).toBe(null);
  });

  test("a device keeps its share after a restart, unfinished sessions included", async () => {
    const { folder, spool } = await openSpool(8 * MB);
    const number = spool.openSession("chem-1", profile.id);
    let error: StorageError | null = null;
    while (error === null) error = await append(spool, "chem-1", number, new Uint8Array(64 * 1024));
    await spool.close();
    const again = (await openSpool(8 * MB, folder)).spool;
    await recover(again, profileById);
    expect(await fill(again, "chem-1")).toBe(REFUSED);
    expect(eventBytes(folder)).toBeLessThan(6.1 * MB);
  });

  test("a device gets its share back when its events, messages and noise are removed", async () => {
    const { folder, spool } = await openSpool(60 * MB);
    const number = spool.openSession("chem-1", profile.id);
    const bytes = new Uint8Array(MB / 4);
    for (let id = 1; id <= 72; id++) {
      expect(await append(spool, "chem-1", number, bytes)).toBe(null);
      const noise = { session: number, firstEvent: id, lastEvent: id, bytes: bytes.length + ROW_BYTES.event };
      spool.callLater("noteNoise", "chem-1", noise);
    }
    const message = { id: "M1", session: number, ordinal: 0, device: "chem-1", profile: profile.id, receivedAt: 1 };
    await spool.saveMessage(() => messageRow({ ...message, bytes: Uint8Array.of(ENQ), incomplete: null }, null));
    await spool.call("finishSessions", [number], 1);
    const sum = () =>
      readSpool(folder, (db) => db.prepare("SELECT stored_bytes FROM device WHERE id = 'chem-1'").pluck().get());
    expect(sum()).toBeGreaterThan(NOISE_BYTES_MAX * 0.9);
    expect(sum()).toBeLessThan(NOISE_BYTES_MAX * 1.05);
    const settled = { state: "not-for-patients", reason: null, studies: [], completes: [], at: 1 } as const;
    await spool.call("settle", { message: "M1", ...settled });
    while (await spool.call("prune", Date.now() + 60_000, 1_000));
    expect(sum()).toBe(0);
  });
});

describe("a full spool", () => {
  test("a full spool refuses devices until it is pruned, while the agent's own operations continue", async () => {
    const { folder, spool } = await openSpool(2 * MB);
    await fill(spool, "chem-1");
    expect(await fill(spool, "chem-2")).toBe("the spool is full: 2 MB at most");
    expect(spool.problem).toBe("the spool is full: 2 MB at most");
    expect(spool.shortDevices).toEqual(["chem-1", "chem-2"]);
    const refused = connect(spool, "chem-2");
    refused.wire.send(Uint8Array.of(ENQ));
    await until("the refusal", () => refused.wire.replies.length === 1);
    expect(refused.wire.replies).toEqual([NAK]);

    // Messages that were acknowledged before are settled.
    const common = { device: "chem-1", profile: profile.id, receivedAt: 1, incomplete: null };
    const bytes = new Uint8Array(100_000);
    const row = messageRow({ id: "M1", session: 1, ordinal: 0, ...common, bytes }, null);
    expect(await spool.saveMessage(() => row)).toBe("M1");
    const settled = { state: "quarantined", reason: "unreadable", studies: [], completes: [], at: 1 } as const;
    await spool.call("settle", { message: "M1", ...settled });
    await spool.call("setMeta", "key", "x".repeat(100_000));
    await spool.close();

    const again = (await openSpool(2 * MB, folder)).spool;
    await again.call("disconnectAll");
    expect(await fill(again, "chem-2")).toBe("the spool is full: 2 MB at most");
    while (await again.call("prune", 10, 1_000));
    const served = connect(again, "chem-2");
    served.wire.send(Uint8Array.of(ENQ));
    await until("the acknowledgement", () => served.wire.replies.length === 1);
    expect(served.wire.replies).toEqual([ACK]);
    expect([again.problem, again.shortDevices]).toEqual([null, []]);
    expect(readSpool(folder, listMessages).map(({ id, state: ended }) => [id, ended])).toEqual([["M1", "quarantined"]]);
  });

  test("a full spool takes no room for refused devices that reconnect", async () => {
    const { folder, spool } = await openSpool(2 * MB);
    await fill(spool, "chem-1");
    await fill(spool, "chem-2");
    const pages = () => readSpool(folder, (db) => db.prepare("SELECT COUNT(*) FROM session").pluck().get());
    const before = pages();
    for (let round = 0; round < 50; round++) {
      const { wire } = connect(spool, "chem-2");
      wire.send(session(records));
      await until("the refusal", () => wire.replies.length > 0);
      wire.cut();
    }
    await spool.call("outbox");
    expect(pages()).toBe(before);
  });
});

const mounted = canMount();
if (!mounted)
  process.stdout.write("agent: the tests of a full disk are skipped, because a tmpfs cannot be mounted here\n");

/** A data folder on a disk of its own, and an agent that serves one analyzer from it. */
async function smallDisk(megabytes: number) {
  const folder = temporaryFolder();
  const data = path.join(folder, "data");
  fs.mkdirSync(data);
  mountDisk(data, megabytes);
  onTestFinished(() => {
    execFileSync("umount", ["-l", data]);
    fs.rmSync(folder, { recursive: true });
  });
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  const port = await freePort();
  const device = { id: "chem-1", profile: profile.id, connection: { listen: `127.0.0.1:${port}` } };
  const server = { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" };
  const checked = checkConfig(JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [device] }), folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const filler = path.join(data, "filler");
  const fillDisk = () => {
    const file = fs.openSync(filler, "w");
    try {
      for (;;) fs.writeSync(file, new Uint8Array(4096));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      fs.closeSync(file);
    }
  };
  return {
    data,
    port,
    fillDisk,
    freeDisk: () => fs.rmSync(filler),
    start: () => startAgent(checked.config, "test", pino({ enabled: false })),
    hasReserve: () => fs.existsSync(path.join(data, RESERVE_FILE)),
  };
}

/** Sends `bytes` and returns the first reply. */
function ask(port: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer[0]!);
    });
    socket.once("error", reject);
  });
}

describe.skipIf(!mounted)("a full disk", () => {
  test("an agent on a full disk starts, refuses, prunes and stops, and serves its devices once there is room", async () => {
    const disk = await smallDisk(128);
    const first = await disk.start();
    expect(await ask(disk.port, session(records))).toBe(ACK);
    await until("the reserve is made", disk.hasReserve);
    await until("the message", () => readSpool(disk.data, listMessages).length === 1);
    await first.stop();
    disk.fillDisk();

    const second = await disk.start();
    expect(await ask(disk.port, Uint8Array.of(ENQ))).toBe(NAK);
    expect(disk.hasReserve()).toBe(false);
    disk.freeDisk();
    await until("the reserve is made again", disk.hasReserve);
    expect(await until("the device is served", async () => (await ask(disk.port, Uint8Array.of(ENQ))) === ACK)).toBe(
      true,
    );
    disk.fillDisk();
    const from = performance.now();
    await second.stop();
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(readSpool(disk.data, listMessages)).toHaveLength(1);
  });

  test("data that exceeds the room on disk is refused and not acknowledged, and the agent starts again", async () => {
    const disk = await smallDisk(128);
    const first = await disk.start();
    await until("the reserve is made", disk.hasReserve);
    disk.fillDisk();
    const answers: number[] = [];
    for (let round = 0; round < 20; round++) answers.push(await ask(disk.port, session(records)));
    expect(answers.at(-1)).toBe(NAK);
    const acknowledged = answers.filter((answer) => answer === ACK).length;
    const from = performance.now();
    await first.stop();
    expect(performance.now() - from).toBeLessThan(5_000);
    const second = await disk.start();
    expect(await ask(disk.port, Uint8Array.of(ENQ))).toBe(NAK);
    await second.stop();
    const db = new Database(path.join(disk.data, "spool.db"), { readonly: true });
    expect(db.prepare("SELECT COUNT(*) FROM message").pluck().get()).toBeGreaterThanOrEqual(acknowledged > 0 ? 1 : 0);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    db.close();
  });
});

test("an operation that exceeds the reserve is refused", async () => {
  const { spool } = await openSpool(1 * MB);
  const huge = "x".repeat(2 * MB + RESERVE_BYTES);
  await expect(spool.call("setMeta", "key", huge)).rejects.toThrow(StorageError);
  await spool.call("setMeta", "key", "small");
});

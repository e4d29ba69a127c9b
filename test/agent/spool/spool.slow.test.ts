import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import type { MessageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { RESERVE_BYTES } from "../../../agent/spool/thread/room.ts";
import type { EventKind } from "../../../agent/spool/queries/events/event-log.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import { rowOf } from "../../support/spool-operations.ts";

const open: Spool[] = [];
const folders: string[] = [];

async function openSpool(folder = newFolder(), bytesMax?: number): Promise<Spool> {
  const spool = await Spool.open(folder, bytesMax === undefined ? {} : { bytesMax });
  open.push(spool);
  return spool;
}

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

function append(
  spool: Spool,
  session: number,
  kind: EventKind,
  bytes: Uint8Array | null,
  device = "chem-1",
): Promise<StorageError | null> {
  return new Promise((resolve) => spool.append({ device, session, kind, bytes, durable: true }, resolve));
}

afterEach(async () => {
  for (const spool of open.splice(0)) await spool.close();
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true });
});

describe("events", () => {
  test("an acknowledged event is visible to another connection", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    const session = spool.openSession("chem-1", "generic-astm");
    const results = await Promise.all([
      append(spool, session, "chunk", Uint8Array.of(5)),
      append(spool, session, "timeout", null),
      append(spool, session, "chunk", Uint8Array.of(2, 49)),
    ]);
    expect(results).toEqual([null, null, null]);
    const rows = readSpool(folder, (db) => db.prepare("SELECT session, kind, bytes FROM event ORDER BY id").all());
    expect(rows).toEqual([
      { session, kind: "chunk", bytes: Buffer.from([5]) },
      { session, kind: "timeout", bytes: null },
      { session, kind: "chunk", bytes: Buffer.from([2, 49]) },
    ]);
  });

  test("durable events and operations are committed in WAL mode with synchronous FULL", async () => {
    const spool = await openSpool();
    const session = spool.openSession("d", "abaxis-vetscan-vs2");
    const howStored = async (durable: boolean) => {
      spool.append({ device: "d", session, kind: "chunk", bytes: Uint8Array.of(5), durable }, () => undefined);
      return spool.call("durability");
    };
    expect(await howStored(true)).toEqual({ journal: "wal", synchronous: 2 });
    // An event that is not durable is fsynced with the next durable commit.
    expect(await howStored(false)).toEqual({ journal: "wal", synchronous: 1 });
    const [, taking] = await Promise.all([spool.call("takeQueued", 10, 1000, 0), spool.call("durability")]);
    expect(taking).toEqual({ journal: "wal", synchronous: 2 });
    expect(await spool.call("durability")).toEqual({ journal: "wal", synchronous: 1 });
  });

  test("events of one turn of the event loop share a commit", async () => {
    const folder = newFolder();
    let commits = 0;
    const spool = await Spool.open(folder, { onCommit: () => (commits += 1) });
    open.push(spool);
    const session = spool.openSession("chem-1", "generic-astm");
    await Promise.all(Array.from({ length: 500 }, () => append(spool, session, "chunk", Uint8Array.of(1))));
    expect(commits).toBe(1);
  });

  test("a deferred operation joins the next batch, ahead of later calls", async () => {
    let commits = 0;
    const spool = await Spool.open(newFolder(), { onCommit: () => (commits += 1) });
    open.push(spool);
    const session = spool.openSession("chem-1", "generic-astm");
    spool.callLater("setMeta", "key", "later");
    await append(spool, session, "chunk", Uint8Array.of(1));
    expect(commits).toBe(1);
    spool.callLater("setMeta", "key", "latest");
    expect(await spool.call("getMeta", "key")).toBe("latest");
  });

  test("messages are batched while devices are acknowledged, and their rows are made during a commit", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    const made: string[] = [];
    const save = (id: string) => spool.saveMessage(() => (made.push(id), rowOf(id, session, made.length)));
    const isPosted = async () => {
      await nextTurn();
      return posted.mock.calls.length;
    };
    const posted = vi.spyOn(Worker.prototype, "postMessage");
    onTestFinished(() => posted.mockRestore());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());

    // The worker is idle, so they are posted after 2 ms.
    const first = [save("M1"), save("M2")];
    expect(made).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await isPosted()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await isPosted()).toBe(1);
    expect(await Promise.all(first)).toEqual(["M1", "M2"]);

    // An event is in flight, so the row is made after it is posted, and waits.
    const third = save("M3");
    const word = append(spool, session, "chunk", Uint8Array.of(1));
    expect(made).toEqual(["M1", "M2"]);
    expect(await isPosted()).toBe(2);
    expect(made).toEqual(["M1", "M2", "M3"]);
    vi.advanceTimersByTime(6);
    expect(await isPosted()).toBe(2);
    vi.advanceTimersByTime(2);
    expect(await isPosted()).toBe(3);
    expect(await word).toBe(null);
    expect(await third).toBe("M3");
  });

  test("an invalid message is rejected alone and blocks no other message", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    const broken = rowOf("M2", 1, 2).with(4, null) as unknown as MessageRow;
    const saved = [rowOf("M1", 1, 1), broken, rowOf("M3", 1, 3)].map((row) => spool.saveMessage(() => row));
    const [first, fault, third] = await Promise.allSettled(saved);
    expect([first, third]).toEqual(["M1", "M3"].map((value) => ({ status: "fulfilled", value })));
    expect(fault).toMatchObject({ status: "rejected", reason: { message: expect.stringContaining("NOT NULL") } });
    expect(fault).not.toMatchObject({ reason: expect.any(StorageError) });
    expect(spool.problem).toBe(null);
    expect(readSpool(folder, listMessages).map(({ id }) => id)).toEqual(["M1", "M3"]);
  });

  test("a pause ends shortly after an event, or immediately if no device is active", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    const speak = () => append(spool, session, "chunk", Uint8Array.of(1));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      await speak();
      let paused = false;
      const pause = () => {
        paused = false;
        return spool.pause().then(() => (paused = true));
      };
      await vi.advanceTimersByTimeAsync(10);
      const first = pause();
      await vi.advanceTimersByTimeAsync(10);
      expect(paused).toBe(false);
      await speak();
      await vi.advanceTimersByTimeAsync(1);
      expect(paused).toBe(false);
      await vi.advanceTimersByTimeAsync(2);
      expect(paused).toBe(true);
      await first;

      // No device sends data, so the pause ends after 25 ms.
      const second = pause();
      await vi.advanceTimersByTimeAsync(26);
      expect(paused).toBe(true);
      await second;
      await pause();
    } finally {
      vi.useRealTimers();
    }
  });

  test("a long log is checkpointed in a pause", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    const session = spool.openSession("chem-1", "generic-astm");
    const megabytes = () => fs.statSync(path.join(folder, "spool.db")).size / 1024 ** 2;
    const receive = async (count: number) => {
      for (let megabyte = 0; megabyte < count; megabyte++) {
        await append(spool, session, "chunk", new Uint8Array(1024 ** 2));
      }
    };
    await receive(10);
    await spool.pause();
    await spool.call("outbox");
    expect(megabytes()).toBeLessThan(1);
    await receive(8);
    await until("the log is in the database", () => megabytes() > 15);
    expect(await append(spool, session, "chunk", Uint8Array.of(4))).toBe(null);
  });

  test("the event loop turns between commit callbacks", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    let turns = 0;
    let notified = 0;
    await new Promise<void>((resolve) => {
      for (let nth = 0; nth < 40; nth++) {
        const event = { device: "chem-1", session, kind: "chunk", bytes: Uint8Array.of(1), durable: true } as const;
        spool.append(event, () => {
          for (const end = performance.now() + 1; performance.now() < end; );
          notified += 1;
          if (notified === 1) void countTurns();
          if (notified === 40) resolve();
        });
      }
      const countTurns = async () => {
        for (; notified < 40; turns++) await nextTurn();
      };
    });
    expect(turns).toBeGreaterThan(20);
  });

  test("an event that arrives between two callbacks is posted before the next one runs", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    const post = vi.spyOn(Worker.prototype, "postMessage");
    onTestFinished(() => post.mockRestore());
    const event = { device: "chem-1", session, kind: "chunk", bytes: Uint8Array.of(1), durable: true } as const;
    const posted: number[] = [];
    let notified = 0;
    await new Promise<void>((resolve) => {
      for (let nth = 0; nth < 3; nth++) {
        spool.append(event, () => {
          for (const end = performance.now() + 1; performance.now() < end; );
          notified += 1;
          if (notified === 1) setImmediate(() => spool.append(event, () => resolve()));
          posted.push(post.mock.calls.length);
        });
      }
    });
    expect(posted).toEqual([1, 2, 2]);
  });

  test("an event waits while 16 devices are busy, until half of them have one, but not after a silence", async () => {
    let commits = 0;
    const spool = await Spool.open(newFolder(), { onCommit: () => (commits += 1) });
    open.push(spool);
    const devices = Array.from({ length: 16 }, (_, nth) => `chem-${nth}`);
    // Each event is a session of its own, because busy devices are counted, not their events.
    const send = (some: readonly string[]) =>
      Promise.all(
        some.map((device) =>
          append(spool, spool.openSession(device, "generic-hl7"), "chunk", Uint8Array.of(1), device),
        ),
      );
    const aWhile = async () => {
      for (const end = Date.now() + 50; Date.now() < end; ) await nextTurn();
    };
    // The test controls the time.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      vi.advanceTimersByTime(100);
      await send(devices);
      expect(commits).toBe(1);

      vi.advanceTimersByTime(100);
      const first = send(devices.slice(0, 7));
      await aWhile();
      expect(commits).toBe(1);
      await Promise.all([first, send(devices.slice(7, 8))]);
      expect(commits).toBe(2);

      const some = send(devices.slice(0, 3));
      await aWhile();
      expect(commits).toBe(2);
      vi.advanceTimersByTime(8);
      await some;
      expect(commits).toBe(3);

      await send(devices);
      expect(commits).toBe(4);
      vi.advanceTimersByTime(300);
      await send(devices.slice(0, 1));
      expect(commits).toBe(5);

      vi.advanceTimersByTime(300);
      await Promise.all(devices.map(() => send(devices.slice(0, 2))));
      vi.advanceTimersByTime(100);
      await send(devices.slice(0, 1));
      expect(commits).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });

  test("an unfinished session is returned with all its events, a finished one is not", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    const one = spool.openSession("chem-1", "generic-astm");
    const two = spool.openSession("chem-2", "generic-astm");
    await Promise.all([append(spool, one, "chunk", Uint8Array.of(1)), append(spool, two, "chunk", Uint8Array.of(2))]);
    await append(spool, one, "close", null);
    await spool.call("finishSessions", [two], 1);
    const events = [
      { id: 1, kind: "chunk", at: expect.any(Number), bytes: Uint8Array.of(1) },
      { id: 3, kind: "close", at: expect.any(Number), bytes: null },
    ];
    expect(await spool.call("unfinishedSessions")).toEqual([
      { id: one, device: "chem-1", profile: "generic-astm", events },
    ]);
  });

  test("a session that is resumed in time stays open, and any other ended session is finished", async () => {
    const spool = await openSpool();
    const sessions = ["chem-1", "chem-2", "chem-3"].map((device) => spool.openSession(device, "generic-astm"));
    const [one = 0, two = 0, three = 0] = sessions;
    await Promise.all(sessions.map((session) => append(spool, session, "chunk", Uint8Array.of(1))));
    spool.finishLater(one);
    spool.finishLater(two);
    expect([spool.resumeSession(one), spool.resumeSession(three)]).toEqual([true, false]);
    const unfinished = async () => (await spool.call("unfinishedSessions")).map(({ id }) => id);
    await until("one has ended", async () => (await unfinished()).length < 3);
    expect(await unfinished()).toEqual([one, three]);
    expect(spool.resumeSession(two)).toBe(false);
  });

  test("session ids continue after a restart", async () => {
    const folder = newFolder();
    const first = await openSpool(folder);
    const session = first.openSession("chem-1", "generic-astm");
    await append(first, session, "chunk", Uint8Array.of(1));
    open.splice(0);
    await first.close();
    const second = await openSpool(folder);
    expect(second.openSession("chem-1", "generic-astm")).toBe(session + 1);
  });
});

describe("a full disk", () => {
  test("no event of a refused group is acknowledged, and a later session is stored with its first event", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder, 512 * 1024);
    const session = spool.openSession("chem-1", "generic-astm");
    const errors: unknown[] = [];
    for (let i = 0; i < 20; i++) errors.push(await append(spool, session, "chunk", new Uint8Array(64 * 1024)));
    expect(errors.at(0)).toBeNull();
    expect(errors.at(-1)).toBeInstanceOf(StorageError);
    const stored = readSpool(folder, (db) => db.prepare("SELECT COUNT(*) FROM event").pluck().get());
    expect(stored).toBe(errors.filter((error) => error === null).length);

    // A session is opened while the disk is full. Its first event is stored once there is room.
    const late = spool.openSession("chem-2", "generic-astm");
    expect(await append(spool, late, "chunk", new Uint8Array(200 * 1024))).toBeInstanceOf(StorageError);
    // There is room for this event, but a replay would not see that one before it is missing.
    expect(await append(spool, late, "chunk", Uint8Array.of(5))).toBeInstanceOf(StorageError);
    expect(await append(spool, session, "chunk", Uint8Array.of(5))).toBeInstanceOf(StorageError);
    expect(await append(spool, late, "gap", null)).toBeNull();
    expect(await append(spool, late, "chunk", Uint8Array.of(5))).toBeNull();
    const sessions = await spool.call("unfinishedSessions");
    expect(sessions.map(({ id, events }) => [id, events.length])).toEqual([
      [session, stored],
      [late, 2],
    ]);
  });

  test("a call that the disk refuses fails with a storage error", async () => {
    const spool = await openSpool(newFolder(), 300 * 1024);
    const huge = "x".repeat(300 * 1024 + RESERVE_BYTES);
    await expect(spool.call("setMeta", "key", huge)).rejects.toThrow(StorageError);
    await expect(spool.call("setMeta", "key", "small")).resolves.toBeUndefined();
  });
});

describe("one folder, one agent", () => {
  test("a second agent is refused, and the status shows whether one runs", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    await expect(Spool.open(folder)).rejects.toThrow(/another agent is running/);
    expect(readSpool(folder, (db) => readStatus(db, folder)).running).toBe(true);
    open.splice(0);
    await spool.close();
    expect(readSpool(folder, (db) => readStatus(db, folder)).running).toBe(false);
  });

  test("a folder without a spool is refused by the reader", () => {
    expect(() => readSpool(newFolder(), listMessages)).toThrow(/no spool in/);
  });
});

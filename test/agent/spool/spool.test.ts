import fs from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/message-summaries.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import type { DeviceState } from "../../../agent/states/device-state.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { type MessageRow, messageRow } from "../../../agent/spool/queries/message-row.ts";
import { type Operations, operationsOn } from "../../../agent/spool/queries/operations.ts";
import type { Settlement, StudyDraft } from "../../../agent/spool/queries/studies.ts";
import { StorageError } from "../../../agent/spool/storage-error.ts";
import { measurementsByConcept, migrate } from "../../../agent/spool/schema.ts";
import { RESERVE_BYTES } from "../../../agent/spool/room.ts";
import type { EventKind } from "../../../agent/spool/queries/event-log.ts";
import { temporaryFolder, until } from "../../support/processes.ts";
import { alt, studyDraft } from "../../support/study.ts";

const open: Spool[] = [];
const databases: Database.Database[] = [];
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
  for (const db of databases.splice(0)) db.close();
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true });
});

/** The operations on a database of their own, without the thread around them. */
function openOperations(folder = newFolder()): Operations {
  const db = new Database(path.join(folder, "spool.db"));
  databases.push(db);
  migrate(db);
  return operationsOn(db);
}

function addMessage(spool: Operations, id: string, ordinal = 0, incomplete: string | null = null): void {
  const bytes = Buffer.from("H|\\^&\rL|1|N\r");
  const common = {
    session: 1,
    device: "chem-1",
    profile: "generic-astm",
    receivedAt: 1000 + ordinal,
    bytes,
    incomplete,
  };
  spool.addMessage({ id, ordinal, ...common });
}

const settlement = (message: string, values: Partial<Settlement> = {}): Settlement => ({
  message,
  state: "pending",
  reason: null,
  studies: [],
  completes: [],
  at: 2000,
  ...values,
});

const rowOf = (id: string, session: number, ordinal: number): MessageRow => {
  const common = {
    device: "chem-1",
    profile: "generic-astm",
    receivedAt: 1000,
    bytes: Buffer.from("H"),
    incomplete: null,
  };
  return messageRow({ id, session, ordinal, ...common }, null);
};

const taken = (spool: Operations) => spool.takeQueued(10, 1_000_000, 0).batch;

const answer = (
  fp: string,
  outcome: "filed" | "unchanged" | "unmatched" | "conflict" | "rejected",
  reason: string | null = null,
) => ({
  fp,
  revision: 1,
  outcome,
  reason,
  matched: true,
});

describe("events", () => {
  test("what was answered as stored is in the file of another connection", async () => {
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

  test("what a device or the server is told of is committed in WAL mode with synchronous FULL", async () => {
    const spool = await openSpool();
    const session = spool.openSession("d", "abaxis-vetscan-vs2");
    const howStored = async (durable: boolean) => {
      spool.append({ device: "d", session, kind: "chunk", bytes: Uint8Array.of(5), durable }, () => undefined);
      return spool.call("durability");
    };
    expect(await howStored(true)).toEqual({ journal: "wal", synchronous: 2 });
    // What promises nothing is on the disk with the next commit that does.
    expect(await howStored(false)).toEqual({ journal: "wal", synchronous: 1 });
    const [, taking] = await Promise.all([spool.call("takeQueued", 10, 1000, 0), spool.call("durability")]);
    expect(taking).toEqual({ journal: "wal", synchronous: 2 });
    expect(await spool.call("durability")).toEqual({ journal: "wal", synchronous: 1 });
  });

  test("many appends of one turn of the event loop are one commit", async () => {
    const folder = newFolder();
    let commits = 0;
    const spool = await Spool.open(folder, { onCommit: () => (commits += 1) });
    open.push(spool);
    const session = spool.openSession("chem-1", "generic-astm");
    await Promise.all(Array.from({ length: 500 }, () => append(spool, session, "chunk", Uint8Array.of(1))));
    expect(commits).toBe(1);
  });

  test("what may wait goes with the next group, and before what is asked for behind it", async () => {
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

  test("messages wait for company while devices are answered, but not for long, and their rows are made while the disk works", async () => {
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

    // The thread has nothing else to do: they go after two milliseconds.
    const first = [save("M1"), save("M2")];
    expect(made).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await isPosted()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await isPosted()).toBe(1);
    expect(await Promise.all(first)).toEqual(["M1", "M2"]);

    // The words of a device are on their way: the row is made right behind them, and waits.
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

  test("a message that only our own fault keeps from being stored stops none of the others", async () => {
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

  test("a pause is just behind what a device says, or now where none has spoken lately", async () => {
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

      // Nobody speaks any more: it is not waited for long.
      const second = pause();
      await vi.advanceTimersByTimeAsync(26);
      expect(paused).toBe(true);
      await second;
      await pause();
    } finally {
      vi.useRealTimers();
    }
  });

  test("a log that has become long is put into the database in a pause", async () => {
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

  test("between those who are told that they are on the disk, others are heard", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    let turns = 0;
    let told = 0;
    await new Promise<void>((resolve) => {
      for (let nth = 0; nth < 40; nth++) {
        const event = { device: "chem-1", session, kind: "chunk", bytes: Uint8Array.of(1), durable: true } as const;
        spool.append(event, () => {
          for (const end = performance.now() + 1; performance.now() < end; );
          told += 1;
          if (told === 1) void countTurns();
          if (told === 40) resolve();
        });
      }
      const countTurns = async () => {
        for (; told < 40; turns++) await nextTurn();
      };
    });
    expect(turns).toBeGreaterThan(20);
  });

  test("what was heard meanwhile is on its way to the disk before the next of them is told", async () => {
    const spool = await openSpool();
    const session = spool.openSession("chem-1", "generic-astm");
    const post = vi.spyOn(Worker.prototype, "postMessage");
    onTestFinished(() => post.mockRestore());
    const event = { device: "chem-1", session, kind: "chunk", bytes: Uint8Array.of(1), durable: true } as const;
    const posted: number[] = [];
    let told = 0;
    await new Promise<void>((resolve) => {
      for (let nth = 0; nth < 3; nth++) {
        spool.append(event, () => {
          for (const end = performance.now() + 1; performance.now() < end; );
          told += 1;
          if (told === 1) setImmediate(() => spool.append(event, () => resolve()));
          posted.push(post.mock.calls.length);
        });
      }
    });
    expect(posted).toEqual([1, 2, 2]);
  });

  test("while many devices speak an event waits a moment, until half of them have one on its way; after a silence it does not", async () => {
    let commits = 0;
    const spool = await Spool.open(newFolder(), { onCommit: () => (commits += 1) });
    open.push(spool);
    const devices = Array.from({ length: 16 }, (_, nth) => `chem-${nth}`);
    // Each of its messages is a session of its own: what counts is who speaks, not how often.
    const send = (some: readonly string[]) =>
      Promise.all(
        some.map((device) =>
          append(spool, spool.openSession(device, "generic-hl7"), "chunk", Uint8Array.of(1), device),
        ),
      );
    const aWhile = async () => {
      for (const end = Date.now() + 50; Date.now() < end; ) await nextTurn();
    };
    // Time passes only when the test says so.
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

  test("an unfinished session comes back with all that happened in it, a finished one does not", async () => {
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

  test("a session that is to end goes on if it is resumed in time, and else has ended", async () => {
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

  test("session numbers go on after a restart", async () => {
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

describe("when the disk refuses", () => {
  test("nothing of the group is acknowledged, and later sessions are stored with their opening", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder, 512 * 1024);
    const session = spool.openSession("chem-1", "generic-astm");
    const errors: unknown[] = [];
    for (let i = 0; i < 20; i++) errors.push(await append(spool, session, "chunk", new Uint8Array(64 * 1024)));
    expect(errors.at(0)).toBeNull();
    expect(errors.at(-1)).toBeInstanceOf(StorageError);
    const stored = readSpool(folder, (db) => db.prepare("SELECT COUNT(*) FROM event").pluck().get());
    expect(stored).toBe(errors.filter((error) => error === null).length);

    // A session opened while the disk was full, whose first event is stored once there is room.
    const late = spool.openSession("chem-2", "generic-astm");
    expect(await append(spool, late, "chunk", new Uint8Array(200 * 1024))).toBeInstanceOf(StorageError);
    // There is room for this one, but without the one before it the record would read as if nothing were missing.
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

  test("a call is refused with the disk's reason", async () => {
    const spool = await openSpool(newFolder(), 300 * 1024);
    const huge = "x".repeat(300 * 1024 + RESERVE_BYTES);
    await expect(spool.call("setMeta", "key", huge)).rejects.toThrow(StorageError);
    await expect(spool.call("setMeta", "key", "small")).resolves.toBeUndefined();
  });
});

function deviceState(known: Partial<DeviceState>): DeviceState {
  const nothing = { reason: null, mayBeOff: false, lastMessageAt: null, lastBytesAt: null, lastWarning: null };
  const counters = { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 };
  return {
    id: "d",
    profile: "generic-astm",
    connected: true,
    is: "connected",
    since: 0,
    ...nothing,
    counters,
    ...known,
  };
}

describe("messages and studies", () => {
  test("the same session and ordinal is stored once", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1");
    addMessage(spool, "M2");
    expect(readSpool(folder, listMessages).map(({ id }) => id)).toEqual(["M1"]);
  });

  test("a stored message is the device's last, without a write of its own", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    spool.setDevice(deviceState({ id: "chem-1" }));
    addMessage(spool, "M1");
    const [device] = readSpool(folder, (db) => readStatus(db, folder)).devices;
    expect(device?.last_message_at).toBe(new Date(1000).toISOString());
  });

  test("a message is pending until the server has filed its study", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1");
    const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
    expect(readSpool(folder, listMessages)).toEqual([
      {
        id: "M1",
        device: "chem-1",
        received_at: new Date(1000).toISOString(),
        state: "pending",
        reason: null,
        study_fps: [fp],
      },
    ]);
    expect(spool.outbox()).toEqual({ depth: 1, oldestAt: 2000 });
    spool.settleStudies([answer(fp!, "filed")], 3000);
    expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "filed", study_fps: [fp] });
    expect(spool.outbox()).toEqual({ depth: 0, oldestAt: null });
  });

  test("a resend keeps fp and revision and is not queued again", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    const [first] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
    spool.settleStudies([answer(first!, "filed")], 3000);
    const [second] = spool.settle(settlement("M2", { studies: [studyDraft()] }));
    expect(second).toBe(first);
    expect(taken(spool)).toEqual([]);
    expect(readSpool(folder, listMessages).map(({ state }) => state)).toEqual(["filed", "filed"]);
  });

  test("another value raises the revision on the same fp and keeps the first time", () => {
    const spool = openOperations();
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
    const corrected = studyDraft({ results: [alt(51)], acquired_at: "2026-02-02T00:00:00.000Z" });
    spool.settle(settlement("M2", { studies: [corrected] }));
    const queued = taken(spool);
    expect(queued.map((study) => [study.fp, study.revision])).toEqual([
      [fp, 1],
      [fp, 2],
    ]);
    expect(JSON.parse(queued[1]!.body)).toMatchObject({ acquired_at: "2026-01-01T00:00:00.000Z", results: [alt(51)] });
  });

  test("studies are taken oldest first, within the bounds of a request, and each take is counted", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    for (const [ordinal, id] of ["M1", "M2", "M3"].entries()) {
      addMessage(spool, id, ordinal);
      spool.settle(settlement(id, { studies: [studyDraft({ dedupe_key: id })] }));
    }
    const keys = (limit: number, letters: number) => {
      const { batch, more } = spool.takeQueued(limit, letters, 7000);
      return [batch.map(({ body }) => (JSON.parse(body) as { dedupe_key: string }).dedupe_key), more];
    };
    expect(keys(3, 1_000_000)).toEqual([["M1", "M2", "M3"], false]);
    expect(keys(2, 1_000_000)).toEqual([["M1", "M2"], true]);
    expect(keys(3, 1)).toEqual([["M1"], true]);
    const sends = readSpool(folder, (db) => db.prepare("SELECT sends, sent_at FROM study ORDER BY rowid").all());
    expect(sends).toEqual([
      { sends: 3, sent_at: 7000 },
      { sends: 2, sent_at: 7000 },
      { sends: 1, sent_at: 7000 },
    ]);
  });

  test("a clock that was set back changes no order: of studies for the server, nor of messages that were cut short", () => {
    const spool = openOperations();
    const ids = ["M1", "M2"];
    for (const [ordinal, id] of ids.entries()) {
      const times = { receivedAt: 2000 - ordinal, bytes: Buffer.from(id), incomplete: "cut" };
      spool.addMessage({ id, session: 1, ordinal, device: "chem-1", profile: "generic-astm", ...times });
      spool.settle(settlement(id, { at: 2000 - ordinal, studies: [studyDraft({ dedupe_key: id })] }));
    }
    const { batch } = spool.takeQueued(2, 1_000_000, 7000);
    expect(batch.map(({ body }) => (JSON.parse(body) as { dedupe_key: string }).dedupe_key)).toEqual(ids);
    expect(spool.incompleteMessages("chem-1", "M3").map(({ id }) => id)).toEqual(ids.toReversed());
  });

  test("a resend after the patient became known is a new revision; one after it was forgotten is not", () => {
    const spool = openOperations();
    for (const [ordinal, id] of ["M1", "M2", "M3"].entries()) addMessage(spool, id, ordinal);
    spool.settle(settlement("M1", { studies: [studyDraft({ patient_fp: null })] }));
    spool.settle(settlement("M2", { studies: [studyDraft()] }));
    spool.settle(settlement("M3", { studies: [studyDraft({ patient_fp: null })] }));
    const queued = taken(spool);
    expect(queued.map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
      [1, null],
      [2, studyDraft().body.patient_fp],
    ]);
  });

  test.each([
    ["filed", "filed", null],
    ["unchanged", "filed", null],
    ["unmatched", "unmatched", "no connection"],
    ["conflict", "quarantined", "the server answered conflict: no connection"],
    ["rejected", "quarantined", "the server answered rejected: no connection"],
  ] as const)("the server's answer %s makes the message %s", (outcome, state, reason) => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1");
    const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
    spool.settleStudies([answer(fp!, outcome, reason === null ? null : "no connection")], 3000);
    expect(readSpool(folder, listMessages)[0]).toMatchObject({ state, reason });
  });

  test("a study without a patient that the server calls unchanged stays unmatched", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1");
    const unmatched = settlement("M1", { reason: "no patient has it", studies: [studyDraft({ patient_fp: null })] });
    const [fp] = spool.settle(unmatched);
    spool.settleStudies([{ ...answer(fp!, "unchanged"), matched: false }], 3000);
    expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "unmatched", reason: "no patient has it" });
  });

  test("a message of two studies is what the worse of them became, once both are answered", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1");
    const fps = spool.settle(settlement("M1", { studies: [studyDraft(), studyDraft({ dedupe_key: "chem-1:def" })] }));
    spool.settleStudies([answer(fps[0]!, "filed")], 3000);
    expect(readSpool(folder, listMessages)[0]!.state).toBe("pending");
    spool.settleStudies([answer(fps[1]!, "unmatched", "nobody")], 3000);
    expect(readSpool(folder, listMessages)[0]!.state).toBe("unmatched");
  });

  test("an incomplete message is where the message that completed it is", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1", 0, "cut");
    addMessage(spool, "M2", 1);
    spool.settle(settlement("M1", { state: "quarantined", reason: "incomplete: cut" }));
    expect(readSpool(folder, listMessages)[0]).toMatchObject({ state: "quarantined", reason: "incomplete: cut" });
    const [fp] = spool.settle(settlement("M2", { studies: [studyDraft()], completes: ["M1"] }));
    spool.settleStudies([answer(fp!, "filed")], 3000);
    expect(readSpool(folder, listMessages)[0]).toMatchObject({
      state: "filed",
      reason: "incomplete, completed by M2",
      study_fps: [fp],
    });
  });

  test("pruning removes what is old and settled and keeps what nobody has settled", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    const own = databases.at(-1)!;
    own.exec(
      "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (1, 'chem-1', 'generic-astm', 1, 1), (2, 'chem-1', 'generic-astm', 2, 1)",
    );
    own.exec("INSERT INTO event VALUES (1, 1, 'chunk', 1, NULL), (2, 2, 'chunk', 1, NULL)");
    spool.finishSessions([1], 500);
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    spool.settle(settlement("M1", { state: "not-for-patients", reason: "sign-on" }));
    spool.settle(settlement("M2", { state: "quarantined", reason: "unreadable" }));
    expect(spool.prune(10_000, 100)).toBe(false);
    expect(readSpool(folder, listMessages).map(({ id }) => id)).toEqual(["M2"]);
    expect(readSpool(folder, (db) => db.prepare("SELECT id FROM event").pluck().all())).toEqual([2]);
  });
});

describe("messages that wait for their patient", () => {
  const patient = (fp: string, species = "dog") => ({ fp, body: JSON.stringify({ fp, species, updated_at: AT }) });
  const AT = "2026-01-01T00:00:00.000Z";
  const DOG = studyDraft().body.patient_fp!;
  const OTHER = "patient_01K9TEST000000000000000002";
  const due = (spool: Operations) => spool.dueMessages(["chem-1"], 10).map(({ id }) => id);
  const rows = () => databases.at(-1)!.prepare("SELECT key, message, due FROM waiting ORDER BY key, message").all();
  const waitFor = (...keys: readonly string[]) => ({ waiting: { keys, version: 0 } });
  const nobodys = (values: Partial<StudyDraft["body"]> = {}) => studyDraft({ patient_fp: null, ...values });

  function waitingSpool(): Operations {
    const spool = openOperations();
    addMessage(spool, "M1");
    spool.settle(settlement("M1", { studies: [nobodys()], ...waitFor("4711", DOG) }));
    return spool;
  }

  test.each<[string, (spool: Operations) => unknown]>([
    ["a patient with the fp arrives", (spool) => spool.upsertPatients([patient(DOG)], null)],
    [
      "a patient is given the identifier",
      (spool) => spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null),
    ],
    ["the first list of patients arrives", (spool) => spool.endWalk(0, "{}", true)],
  ])("are due once %s", (_, change) => {
    const spool = waitingSpool();
    spool.upsertPatients([patient(OTHER)], null);
    spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["471", "47110"] }], null);
    expect(due(spool)).toEqual([]);
    change(spool);
    expect(due(spool)).toEqual(["M1"]);
    expect(spool.dueMessages(["chem-2"], 10)).toEqual([]);
  });

  test.each<[string, (spool: Operations) => unknown]>([
    ["changes", (spool) => spool.upsertPatients([patient(OTHER, "cat")], null)],
    ["is removed", (spool) => spool.forgetPatients([{ fp: OTHER, at: Date.parse(AT) }])],
    ["is missing from a full walk", (spool) => spool.endWalk(1, "{}", false)],
  ])("are due once the patient of their identifier %s", (_, change) => {
    const spool = openOperations();
    spool.upsertPatients([patient(OTHER)], null);
    spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null);
    const { version } = spool.named({ accessions: [], fps: [], identifier: "4711" });
    addMessage(spool, "M1");
    spool.settle(settlement("M1", { studies: [nobodys()], waiting: { keys: ["4711"], version } }));
    spool.upsertPatients([patient(OTHER)], null);
    spool.setIdentifiers([{ patientFp: OTHER, identifiers: ["4711"] }], null);
    expect(due(spool)).toEqual([]);
    change(spool);
    expect(due(spool)).toEqual(["M1"]);
  });

  test("are due at once if the directory changed between lookup and settlement", () => {
    const spool = openOperations();
    addMessage(spool, "M1");
    const { version } = spool.named({ accessions: [], fps: [DOG], identifier: null });
    spool.upsertPatients([patient(DOG)], null);
    spool.settle(settlement("M1", { studies: [nobodys()], waiting: { keys: [DOG], version } }));
    expect(due(spool)).toEqual(["M1"]);
  });

  test("wait no more once they are settled with a patient", () => {
    const spool = waitingSpool();
    spool.upsertPatients([patient(DOG)], null);
    spool.settle(settlement("M1", { studies: [studyDraft()], rematch: true }));
    expect(rows()).toEqual([]);
    expect(taken(spool).map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
      [1, null],
      [2, DOG],
    ]);
  });

  test("leave a later correction as it is, and the whole study is filed with the patient", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    const [fp] = spool.settle(settlement("M1", { studies: [nobodys({ results: [alt(143)] })] }));
    spool.settle(settlement("M2", { studies: [nobodys({ results: [alt(34)] })] }));
    for (const [message, value] of [
      ["M1", 143],
      ["M2", 34],
    ] as const) {
      spool.settle(settlement(message, { studies: [studyDraft({ results: [alt(value)] })], rematch: true }));
    }
    const values = taken(spool).map(({ revision, patientFp, body }) => {
      const { results } = JSON.parse(body) as { results: { value: number }[] };
      return [revision, patientFp, results.map(({ value }) => value)];
    });
    expect(values).toEqual([
      [1, null, [143]],
      [2, null, [34]],
      [3, DOG, [34]],
    ]);
    for (const revision of [1, 2, 3]) {
      const outcome = revision === 3 ? "filed" : "unmatched";
      spool.settleStudies([{ ...answer(fp!, outcome), revision, matched: revision === 3 }], 3000);
    }
    expect(readSpool(folder, listMessages).map(({ state }) => state)).toEqual(["filed", "filed"]);
  });

  test("do not undo a correction that was filed before them", () => {
    const spool = openOperations();
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    spool.settle(settlement("M1", { studies: [nobodys({ results: [alt(143)] })] }));
    spool.settle(settlement("M2", { studies: [studyDraft({ results: [alt(34)] })] }));
    spool.settle(settlement("M1", { studies: [studyDraft({ results: [alt(143)] })], rematch: true }));
    expect(taken(spool).map(({ revision, patientFp }) => [revision, patientFp])).toEqual([
      [1, null],
      [2, DOG],
    ]);
  });

  describe("of a patient whom the server does not connect to the clinic", () => {
    function refused(): { spool: Operations; fp: string } {
      const spool = openOperations();
      spool.upsertPatients([patient(DOG)], null);
      addMessage(spool, "M1");
      const [fp] = spool.settle(settlement("M1", { studies: [studyDraft()] }));
      spool.settleStudies([answer(fp!, "unmatched", "no connection")], 3000);
      return { spool, fp: fp! };
    }

    test("are sent again unchanged when the patient is back", () => {
      const { spool, fp } = refused();
      expect(due(spool)).toEqual([]);
      spool.forgetPatients([{ fp: DOG, at: Date.parse(AT) }]);
      const { version } = spool.named({ accessions: [], fps: [], identifier: null });
      spool.settle(settlement("M1", { studies: [nobodys()], waiting: { keys: [DOG], version }, rematch: true }));
      expect([due(spool), taken(spool)]).toEqual([[], []]);
      spool.upsertPatients([patient(DOG)], null);
      expect(due(spool)).toEqual(["M1"]);
      spool.settle(settlement("M1", { studies: [studyDraft()], rematch: true }));
      expect(taken(spool)).toMatchObject([{ fp, revision: 1, patientFp: DOG }]);
      spool.settleStudies([answer(fp, "filed")], 4000);
      expect([due(spool), taken(spool), rows()]).toEqual([[], [], []]);
    });

    test("go to another patient who has their identifier now", () => {
      const { spool, fp } = refused();
      spool.settle(settlement("M1", { studies: [studyDraft({ patient_fp: OTHER })], rematch: true }));
      expect(taken(spool)).toMatchObject([{ fp, revision: 2, patientFp: OTHER }]);
    });
  });

  test("are forgotten with the message", () => {
    const spool = waitingSpool();
    databases.at(-1)!.exec("UPDATE message SET state = 'filed'");
    spool.prune(10_000, 100);
    expect(rows()).toEqual([]);
  });

  test("of an earlier version of this program wait by the identifier that was sent", () => {
    const folder = newFolder();
    const spool = openOperations(folder);
    addMessage(spool, "M1", 0);
    addMessage(spool, "M2", 1);
    const [fp] = spool.settle(settlement("M1", { studies: [nobodys()] }));
    spool.settle(settlement("M2", { studies: [studyDraft({ dedupe_key: "chem-1:def" })] }));
    spool.settleStudies([{ ...answer(fp!, "unmatched"), matched: false }], 3000);
    const db = databases.at(-1)!;
    db.exec("ALTER TABLE session DROP COLUMN bytes; ALTER TABLE device DROP COLUMN stored_bytes; DROP TABLE noise");
    db.exec(`DROP TABLE waiting; PRAGMA user_version = ${Number(db.pragma("user_version", { simple: true })) - 3}`);
    migrate(db);
    expect(rows()).toEqual([{ key: "4711", message: "M1", due: 0 }]);
  });
});

describe("one folder, one agent", () => {
  test("a second agent is refused and status knows which runs", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    await expect(Spool.open(folder)).rejects.toThrow(/another agent is running/);
    expect(readSpool(folder, (db) => readStatus(db, folder)).running).toBe(true);
    open.splice(0);
    await spool.close();
    expect(readSpool(folder, (db) => readStatus(db, folder)).running).toBe(false);
  });

  test("a spool of a newer agent is refused", async () => {
    const folder = newFolder();
    const db = new Database(path.join(folder, "spool.db"));
    db.pragma("user_version = 99");
    db.close();
    await expect(Spool.open(folder)).rejects.toThrow(/schema 99, this agent knows up to/);
  });

  test("headers with measurements of an earlier agent are read again, or kept by name where the file is removed", async () => {
    const folder = newFolder();
    const spool = await openSpool(folder);
    open.splice(0);
    await spool.close();
    const db = new Database(path.join(folder, "spool.db"));
    const old = (measurements: object[]) => JSON.stringify({ study: "1.2", measurements });
    const measured = old([{ name: "Ejection Fraction", value: "64", unit: null }]);
    const insert = db.prepare(
      `INSERT INTO instance (message, study, sop_class, sop_instance, transfer_syntax, calling_ae, sha256, file_bytes, header_bytes, header, removed_at)
       VALUES (?, '1.2', '1', '1', '1', 'DX1', '', 1, 1, ?, ?)`,
    );
    insert.run("M1", measured, null);
    insert.run("M2", measured, 5);
    insert.run("M3", old([]), null);
    insert.run("M4", null, null);
    db.exec(measurementsByConcept);
    db.close();
    const concept = { value: "", scheme: "", meaning: "Ejection Fraction" };
    expect(
      readSpool(folder, (held) => held.prepare("SELECT header FROM instance ORDER BY message").pluck().all()),
    ).toEqual([
      null,
      JSON.stringify({ study: "1.2", measurements: [{ concept, modifiers: [], value: "64", unit: null }] }),
      old([]),
      null,
    ]);
  });

  test("a folder without a spool is said to have none", () => {
    expect(() => readSpool(newFolder(), listMessages)).toThrow(/there is no spool/);
  });
});

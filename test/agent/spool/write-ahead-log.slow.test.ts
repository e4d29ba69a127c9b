import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: the files of an open spool are copied, as a kill leaves them, and a spool is opened on the copy.

const FILES = ["spool.db", "spool.db-wal"];

let root: string;
let original: string;
let spool: Spool;
let copies = 0;

beforeEach(async () => {
  root = temporaryFolder();
  original = path.join(root, "original");
  spool = await Spool.open(original);
});

afterEach(async () => {
  await spool.close();
  fs.rmSync(root, { recursive: true });
});

function append(session: number, durable = true, to = spool): Promise<unknown> {
  const bytes = new Uint8Array(500).fill(65);
  return new Promise((resolve) => to.append({ device: "chem-1", session, kind: "chunk", bytes, durable }, resolve));
}

/** Durable events, each a commit of its own. */
async function store(count: number, to = spool): Promise<void> {
  const session = to.openSession("chem-1", "generic-astm");
  for (let event = 0; event < count; event++) await append(session, true, to);
}

function kill(of = original): string {
  const to = path.join(root, String((copies += 1)));
  fs.mkdirSync(to);
  for (const file of FILES) fs.copyFileSync(path.join(of, file), path.join(to, file));
  return to;
}

/** Opens the folder as the next start does, and closes it. */
async function restart(folder: string): Promise<void> {
  await (await Spool.open(folder)).close();
}

const log = (folder: string) => path.join(folder, "spool.db-wal");
const eventIds = (folder: string) => readSpool(folder, (db) => db.prepare("SELECT id FROM event").pluck().all());

describe("no lost commits", () => {
  test("an agent that is killed after any commit has lost nothing", async () => {
    const session = spool.openSession("chem-1", "generic-astm");
    for (let event = 0; event < 10; event++) {
      await append(session, event % 3 !== 2);
      const killed = kill();
      await restart(killed);
      expect(eventIds(killed)).toHaveLength(event + 1);
    }
  });

  test("a power cut that loses the commits without fsync keeps those with one", async () => {
    await store(3);
    const fsynced = fs.statSync(log(original)).size;
    const session = spool.openSession("chem-1", "generic-astm");
    for (let event = 0; event < 3; event++) await append(session, false);
    await spool.call("outbox");
    const cut = kill();
    expect(fs.statSync(log(cut)).size).toBeGreaterThan(fsynced);
    fs.truncateSync(log(cut), fsynced);
    await restart(cut);
    expect(eventIds(cut)).toEqual([1, 2, 3]);
  });
});

describe("an idle spool", () => {
  /** The test controls the time from here on. */
  async function openWithoutTime(): Promise<void> {
    await spool.close();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    spool = await Spool.open(original);
  }

  /** Waits until the worker has served its requests. A checkpoint runs after the batches that arrive with it. */
  async function asked(): Promise<void> {
    await spool.call("outbox");
    await spool.call("outbox");
  }

  const logBytes = () => fs.statSync(log(original)).size;

  test("an idle spool empties its log five seconds after the last durable commit", async () => {
    await openWithoutTime();
    await store(5);
    await vi.advanceTimersByTimeAsync(4_900);
    await store(1);
    await vi.advanceTimersByTimeAsync(4_900);
    await asked();
    expect(logBytes()).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(200);
    await asked();
    expect(logBytes()).toBe(0);

    const killed = kill();
    fs.rmSync(log(killed));
    await restart(killed);
    expect(eventIds(killed)).toHaveLength(6);
  });

  test("an idle spool empties the log of an earlier agent that was killed", async () => {
    await store(5);
    const killed = kill();
    await openWithoutTime();
    await spool.close();
    spool = await Spool.open(killed);
    expect(fs.statSync(log(killed)).size).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(5_100);
    await asked();
    expect(fs.statSync(log(killed)).size).toBe(0);
  });

  test("an idle spool delays no device while a command reads", async () => {
    await openWithoutTime();
    const reader = new Database(path.join(original, "spool.db"), { readonly: true });
    onTestFinished(() => void reader.close());
    await store(5);
    reader.exec("BEGIN");
    reader.prepare("SELECT COUNT(*) FROM event").get();
    await store(1);
    await vi.advanceTimersByTimeAsync(5_100);
    const from = Date.now();
    await store(1);
    // A write that waits for the reader ends with an error after 5 s.
    expect(Date.now() - from).toBeLessThan(4_500);
    expect(logBytes()).toBeGreaterThan(0);
  });
});

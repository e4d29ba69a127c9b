import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../support/processes.ts";

// Method: the files of an open spool are copied, as a kill leaves them, and a spool is opened on the copy.

const FILES = ["spool.mark", "spool.db", "spool.db-wal"];
const TIME: unknown = expect.any(String);
const DAY_MS = 24 * 60 * 60_000;

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
  // The mark is written after the reply, and before the next one.
  await to.call("outbox");
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
const lossOf = (folder: string) => readSpool(folder, (db) => readStatus(db, folder).loss);
const eventIds = (folder: string) => readSpool(folder, (db) => db.prepare("SELECT id FROM event").pluck().all());
const commitsIn = (folder: string) =>
  (JSON.parse(fs.readFileSync(path.join(folder, "spool.mark"), "utf8")) as { commit: number }).commit;

function flip(file: string, at: number): void {
  const bytes = fs.readFileSync(file);
  bytes[at]! ^= 1;
  fs.writeFileSync(file, bytes);
}

describe("lost commits", () => {
  test.each([
    ["is deleted", (file: string) => fs.rmSync(file)],
    ["is cut in half", (file: string) => fs.truncateSync(file, fs.statSync(file).size / 2)],
    ["has one flipped byte near its start", (file: string) => flip(file, Math.floor(fs.statSync(file).size / 3))],
    ["has one flipped byte in its header", (file: string) => flip(file, 20)],
  ])("a write-ahead log that %s is reported by status for 30 days, and no id is used again", async (_, damage) => {
    await store(10);
    const folder = kill();
    const before = eventIds(folder);
    fs.cpSync(folder, `${folder}-damaged`, { recursive: true });
    const damaged = `${folder}-damaged`;
    fs.rmSync(path.join(damaged, "spool.db-shm"), { force: true });
    damage(log(damaged));
    await restart(damaged);

    const left = eventIds(damaged).length;
    expect(left).toBeLessThan(before.length);
    const loss = lossOf(damaged);
    expect(loss).toEqual({
      found_at: TIME,
      since: left === 0 ? null : TIME,
      until: TIME,
      commits: before.length - left,
      ids: { session: left === 0 ? 1 : 0, event: before.length - left },
    });
    await restart(damaged);
    expect(lossOf(damaged)).toEqual(loss);

    const next = await Spool.open(damaged);
    const session = next.openSession("chem-1", "generic-astm");
    await append(session, true, next);
    await next.call("outbox");
    await next.close();
    expect(eventIds(damaged).slice(left)).toEqual([before.length + 1]);
    expect(session).toBe(2);
    expect(commitsIn(damaged)).toBe(before.length + 1);

    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * DAY_MS });
    onTestFinished(() => void vi.useRealTimers());
    expect(lossOf(damaged)).toBe(null);
  });

  test("a loss is logged as an error at each start of the agent", async () => {
    await store(3);
    const data = kill();
    fs.rmSync(log(data));
    const lines: { msg: string; level: number; commits?: number }[] = [];
    const run = async () => {
      fs.writeFileSync(path.join(root, "agent.key"), "sk_live_test\n", { mode: 0o600 });
      const server = { url: "http://127.0.0.1:1", keyFile: "agent.key" };
      const devices = [{ id: "chem-1", profile: "generic-astm", connection: { listen: "127.0.0.1:0" } }];
      const checked = checkConfig(JSON.stringify({ server, data, timeZone: "UTC", devices }), root);
      if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
      const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]);
      await (await startAgent(checked.config, "test", pino({ level: "error" }, { write }))).stop();
    };
    await run();
    await run();
    const reports = lines.filter(({ msg }) => msg.includes("write-ahead log"));
    expect(reports.map(({ level, commits }) => ({ level, commits }))).toEqual([
      { level: 50, commits: 3 },
      { level: 50, commits: 3 },
    ]);
  });
});

describe("no lost commits", () => {
  test("an agent that is killed after any commit has lost nothing", async () => {
    const session = spool.openSession("chem-1", "generic-astm");
    for (let event = 0; event < 10; event++) {
      await append(session, event % 3 !== 2);
      const killed = kill();
      await restart(killed);
      expect(lossOf(killed)).toBe(null);
    }
  });

  test("a power cut that loses the commits without fsync is no loss", async () => {
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
    expect(lossOf(cut)).toBe(null);
  });

  test("pruned rows are no loss, and their ids are not used again", async () => {
    await store(3);
    await spool.call("finishSessions", [1], 1000);
    await spool.call("prune", 2000, 100);
    const killed = kill();
    await restart(killed);
    expect([eventIds(killed), lossOf(killed)]).toEqual([[], null]);
    const next = await Spool.open(killed);
    await store(1, next);
    await next.close();
    expect(eventIds(killed)).toEqual([4]);
  });

  test.each([
    ["is missing", (file: string) => fs.rmSync(file)],
    ["is empty", (file: string) => fs.truncateSync(file)],
    ["is damaged", (file: string) => flip(file, 0)],
  ])("a mark that %s is no loss, and the next commit writes it again", async (_, change) => {
    await store(2);
    const folder = kill();
    change(path.join(folder, "spool.mark"));
    const next = await Spool.open(folder);
    expect(lossOf(folder)).toBe(null);
    await store(1, next);
    await next.close();
    expect(commitsIn(folder)).toBe(3);
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
    expect([eventIds(killed).length, lossOf(killed)]).toEqual([6, null]);
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
    expect(Date.now() - from).toBeLessThan(2_500);
    expect(logBytes()).toBeGreaterThan(0);
  });
});

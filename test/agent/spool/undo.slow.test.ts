import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { MIGRATIONS } from "../../../agent/spool/migrations.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { migrate } from "../../../agent/spool/schema.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { NEWER_SPOOL } from "../../support/planted-migrations.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { rowOf, serverOutcome, settlement } from "../../support/spool-operations.ts";
import { dumpSqlite } from "../../support/sqlite-dump.ts";
import { studyDraft } from "../../support/study.ts";

// Goal: an older agent continues with a spool that a newer one migrated and wrote. Method: each migration with an undo is
// applied and taken back, and a spool is used under migrations that no version has.

/** Number of migrations of 0.1.0, which have no undo. */
const WITHOUT_UNDO = 19;

const [M1, M2] = ["01KAVNDQNEWER0000000000001", "01KAVNDQNEWER0000000000002"];

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function migrateFile(folder: string, options: Parameters<typeof migrate>[1]): void {
  const db = new Database(path.join(folder, "spool.db"));
  try {
    migrate(db, options);
  } finally {
    db.close();
  }
}

function append(spool: Spool, session: number, bytes: string): Promise<unknown> {
  const event = { device: "chem-1", session, kind: "chunk", bytes: Buffer.from(bytes), durable: true } as const;
  return new Promise((resolve) => spool.append(event, resolve));
}

test("each migration has an undo that takes the schema back to the one before", () => {
  expect(MIGRATIONS.slice(WITHOUT_UNDO).filter(({ undo }) => undo === null)).toEqual([]);
  for (let version = WITHOUT_UNDO + 1; version <= MIGRATIONS.length; version += 1) {
    const folder = newFolder();
    const file = path.join(folder, "spool.db");
    migrateFile(folder, { migrations: MIGRATIONS.slice(0, version - 1) });
    const before = dumpSqlite(file);
    migrateFile(folder, { migrations: MIGRATIONS.slice(0, version) });
    expect(dumpSqlite(file)).not.toBe(before);
    migrateFile(folder, { migrations: MIGRATIONS.slice(0, version - 1), undoNewer: true });
    expect(dumpSqlite(file)).toBe(before);
  }
});

test("messages that were acknowledged under a newer schema are there after the undo", async () => {
  const folder = newFolder();
  const spool = await Spool.open(folder);
  const session = spool.openSession("chem-1", "generic-astm");
  expect(await append(spool, session, "before")).toBeNull();
  expect(await spool.saveMessage(() => rowOf(M1, session, 0))).toBe(M1);
  migrateFile(folder, { migrations: NEWER_SPOOL });
  expect(await append(spool, session, "after")).toBeNull();
  expect(await spool.saveMessage(() => rowOf(M2, session, 1))).toBe(M2);
  const [fp] = await spool.call("settle", settlement(M2, { studies: [studyDraft()] }));
  await spool.call("settleStudies", [serverOutcome(fp!, "filed")], 3000);
  await spool.close();

  await expect(Spool.open(folder)).rejects.toThrow(
    /schema \d+ of version \S+, this version .*: install version \S+ or/,
  );
  await expect(async () => readSpool(folder, listMessages)).rejects.toThrow(
    /: install version \S+ or newer, or restore/,
  );
  const older = await Spool.open(folder, { undoNewer: true });
  onTestFinished(() => older.close());
  const states = () => readSpool(folder, listMessages).map(({ id, state }) => [id, state]);
  expect(states()).toEqual([
    [M1, "pending"],
    [M2, "filed"],
  ]);
  const [{ events } = { events: [] }] = await older.call("unfinishedSessions");
  expect(events.map(({ bytes }) => Buffer.from(bytes ?? []).toString())).toEqual(["before", "after"]);
  expect(await append(older, older.openSession("chem-1", "generic-astm"), "older")).toBeNull();
  expect(readSpool(folder, (db) => db.pragma("user_version", { simple: true }))).toBe(MIGRATIONS.length);

  const fresh = newFolder();
  migrateFile(fresh, {});
  const schema = (from: string) => dumpSqlite(path.join(from, "spool.db")).replaceAll(/^INSERT .*\n/gm, "");
  expect(schema(folder)).toBe(schema(fresh));
});

test("a newer spool without an undo for each migration is refused and unchanged", async () => {
  const folder = newFolder();
  migrateFile(folder, { migrations: NEWER_SPOOL });
  const db = new Database(path.join(folder, "spool.db"));
  db.prepare("DELETE FROM migration WHERE version = ?").run(MIGRATIONS.length + 1);
  db.close();
  const before = dumpSqlite(path.join(folder, "spool.db"));
  await expect(Spool.open(folder, { undoNewer: true })).rejects.toThrow(/install version \S+ or newer, or restore/);
  expect(dumpSqlite(path.join(folder, "spool.db"))).toBe(before);
});

test("an undo that fails leaves the spool of the newer agent", async () => {
  const folder = newFolder();
  migrateFile(folder, { migrations: NEWER_SPOOL });
  const db = new Database(path.join(folder, "spool.db"));
  // The undo of the first migration finds its table missing, after that of the second one.
  db.exec("DROP INDEX message_operator");
  db.close();
  const before = dumpSqlite(path.join(folder, "spool.db"));
  await expect(Spool.open(folder, { undoNewer: true })).rejects.toThrow(
    /spool\.db could not be updated and stays as it was \(no such index: message_operator\): /,
  );
  expect(dumpSqlite(path.join(folder, "spool.db"))).toBe(before);
});

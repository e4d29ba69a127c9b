import { spawn } from "node:child_process";
import { once } from "node:events";
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
import { ROOT, temporaryFolder } from "../../support/processes.ts";
import { canMount, mountDisk, unmountDisk } from "../../support/small-disk.ts";
import { addMessage } from "../../support/spool-operations.ts";
import { dumpSqlite } from "../../support/sqlite-dump.ts";
import { operationsOn } from "../../../agent/spool/queries/operations.ts";

// Goal: a migration that does not end leaves the spool of the version before. Method: migrations that no version has fail after
// the first of them has changed tables and rows; the dumps before and after are compared.

const COUNT = 50;

/** Makes a spool with messages of a size. @returns its file */
function makeSpool(folder: string, bytes = 100): string {
  const file = path.join(folder, "spool.db");
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  migrate(db);
  const operations = operationsOn(db);
  for (let at = 0; at < COUNT; at += 1) addMessage(operations, `01KAVFA1${String(at).padStart(18, "0")}`, at);
  db.prepare("UPDATE message SET bytes = zeroblob(?)").run(bytes);
  db.close();
  return file;
}

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function migrateFile(file: string, sql: string): void {
  const db = new Database(file);
  try {
    migrate(db, { migrations: [...NEWER_SPOOL, { sql, undo: "SELECT 1" }] });
  } finally {
    db.close();
  }
}

/** Expects that this version's agent opens and reads the spool. */
async function expectReadable(folder: string): Promise<void> {
  const spool = await Spool.open(folder);
  await spool.close();
  expect(readSpool(folder, listMessages)).toHaveLength(COUNT);
}

/** Expects that it stores a further event besides. */
async function expectUsable(folder: string): Promise<void> {
  await expectReadable(folder);
  const spool = await Spool.open(folder);
  try {
    const session = spool.openSession("chem-1", "generic-astm");
    const event = { device: "chem-1", session, kind: "chunk", bytes: Uint8Array.of(5), durable: true } as const;
    expect(await new Promise((resolve) => spool.append(event, resolve))).toBeNull();
  } finally {
    await spool.close();
  }
}

test("a migration that breaks a constraint leaves the spool as it was", async () => {
  const folder = newFolder();
  const file = makeSpool(folder);
  const before = dumpSqlite(file);
  expect(() => migrateFile(file, "UPDATE message SET ordinal = 0")).toThrow(
    `${file} could not be updated and stays as it was (UNIQUE constraint failed: message.session, message.ordinal): ` +
      "install the version before again, and report this error",
  );
  expect(dumpSqlite(file)).toBe(before);
  await expectUsable(folder);
});

test("a migration that a full disk stops leaves the spool as it was", async (context) => {
  if (!canMount()) context.skip("this machine cannot mount a tmpfs");
  const folder = newFolder();
  mountDisk(folder, 4);
  onTestFinished(() => unmountDisk(folder));
  const file = makeSpool(folder, 10_000);
  const before = dumpSqlite(file);
  expect(() => migrateFile(file, "CREATE TABLE filler AS SELECT randomblob(9000000)")).toThrow(
    `${file} could not be updated and stays as it was: ${file} cannot be used (SQLITE_FULL), the disk is full: make room there, or use another disk`,
  );
  expect(dumpSqlite(file)).toBe(before);
  await expectReadable(folder);
});

test("a kill within a migration leaves the spool as it was", async () => {
  const folder = newFolder();
  const file = makeSpool(folder);
  const before = dumpSqlite(file);
  const script = path.join(ROOT, "test/support/planted-migration.ts");
  const child = spawn(process.execPath, [script, "spool", file], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  expect(line.toString()).toBe("within the migration\n");
  expect(fs.statSync(`${file}-wal`).size).toBeGreaterThan(9_000_000);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(dumpSqlite(file)).toBe(before);
  await expectUsable(folder);
});

test("the agent ends with a sentence when the disk is too full to update its spool", async (context) => {
  if (!canMount()) context.skip("this machine cannot mount a tmpfs");
  const folder = newFolder();
  mountDisk(folder, 2);
  onTestFinished(() => unmountDisk(folder));
  // A spool of 0.1.0.
  const db = new Database(path.join(folder, "spool.db"));
  migrate(db, { migrations: MIGRATIONS.slice(0, 19) });
  db.close();
  const file = path.join(folder, "spool.db");
  const before = dumpSqlite(file);
  const filler = path.join(folder, "filler");
  expect(() => fs.writeFileSync(filler, Buffer.alloc(4_000_000))).toThrow(/ENOSPC/);
  await expect(Spool.open(folder)).rejects.toThrow(
    `${file} cannot be used (SQLITE_FULL), the disk is full: make room there, or use another disk`,
  );
  fs.rmSync(filler);
  expect(dumpSqlite(file)).toBe(before);
  await (await Spool.open(folder)).close();
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { copyToOwnSchema } from "../../../../shared/platform/care/older-schema.ts";
import { migrateSqlite, storedSchema } from "../../../../shared/platform/care/sqlite-schema.ts";
import { VERSION } from "../../../../shared/files/program-files.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";
import { canMount, mountDisk, unmountDisk } from "../../../support/machine/small-disk.ts";
import { dumpSqlite } from "../../../support/releases/sqlite-dump.ts";

// Goal: a migration is done or leaves the database of the version before, and an older version continues after a rollback. Method: two
// versions of a small schema; the dumps before and after are compared.

const FIRST = `
  CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
  CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES owner (id), name TEXT NOT NULL) STRICT;
  CREATE INDEX pet_name ON pet (name);
  CREATE TRIGGER pet_stays BEFORE DELETE ON pet BEGIN SELECT raise(abort, 'a pet stays'); END;
`;
const SECOND = "ALTER TABLE pet ADD COLUMN chip TEXT; CREATE TABLE visit (id INTEGER PRIMARY KEY) STRICT;";

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function withDatabase<Result>(file: string, work: (db: Database.Database) => Result): Result {
  const db = new Database(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Makes a database of the first version with rows. */
function makeDatabase(folder: string): string {
  const file = path.join(folder, "app.db");
  withDatabase(file, (db) => {
    db.pragma("journal_mode = WAL");
    migrateSqlite(db, [FIRST]);
    db.exec("INSERT INTO owner VALUES (1, 'Ada'); INSERT INTO pet VALUES (7, 1, 'Rex')");
  });
  return file;
}

const migrateFile = (file: string, ...migrations: readonly string[]) =>
  withDatabase(file, (db) => migrateSqlite(db, migrations));

test("a database has each version with its program, and a second opening migrates nothing", () => {
  const file = makeDatabase(newFolder());
  migrateFile(file, FIRST, SECOND);
  const migrated = dumpSqlite(file);
  migrateFile(file, FIRST, SECOND);
  expect(dumpSqlite(file)).toBe(migrated);
  expect(withDatabase(file, storedSchema)).toEqual({ version: 2, program: VERSION });
});

test("a database of a newer version is refused with the version to install, and stays as it is", () => {
  const file = makeDatabase(newFolder());
  migrateFile(file, FIRST, SECOND);
  withDatabase(file, (db) => db.exec("UPDATE migration SET program = '9.8.7' WHERE version = 2"));
  const before = dumpSqlite(file);
  expect(() => migrateFile(file, FIRST)).toThrow(
    `${file} has schema 2 of version 9.8.7, this version ${VERSION} knows schemas up to 1: ` +
      "install version 9.8.7 or newer, or restore a backup from before its update",
  );
  expect(dumpSqlite(file)).toBe(before);
});

test("a migration that breaks a constraint leaves the database as it was", () => {
  const file = makeDatabase(newFolder());
  const before = dumpSqlite(file);
  expect(() => migrateFile(file, FIRST, SECOND, "UPDATE pet SET name = NULL")).toThrow(
    `${file} could not be updated and stays as it was (NOT NULL constraint failed: pet.name): ` +
      "install the version before again, and report this error",
  );
  expect(dumpSqlite(file)).toBe(before);
});

test("a migration that a full disk stops leaves the database as it was", (context) => {
  if (!canMount()) context.skip("this machine cannot mount a tmpfs");
  const folder = newFolder();
  mountDisk(folder, 4);
  onTestFinished(() => unmountDisk(folder));
  const file = makeDatabase(folder);
  const before = dumpSqlite(file);
  expect(() => migrateFile(file, FIRST, "CREATE TABLE filler AS SELECT randomblob(9000000)")).toThrow(
    `${file} could not be updated and stays as it was: ${file} cannot be used (SQLITE_FULL), the disk is full: make room there, or use another disk`,
  );
  expect(dumpSqlite(file)).toBe(before);
});

test("a kill within a migration leaves the database as it was", async () => {
  const file = makeDatabase(newFolder());
  const before = dumpSqlite(file);
  const script = path.join(ROOT, "test/support/releases/endless-migration.ts");
  const child = spawn(process.execPath, [script, file, "1"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  expect(fs.statSync(`${file}-wal`).size).toBeGreaterThan(9_000_000);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(dumpSqlite(file)).toBe(before);
});

test("after a rollback the older version has all rows that the newer one stored, in its own schema", () => {
  const file = makeDatabase(newFolder());
  const schema = withDatabase(file, (db) => db.prepare("SELECT sql FROM sqlite_schema").pluck().all());
  const newer = new Database(file);
  newer.pragma("journal_mode = WAL");
  migrateSqlite(newer, [FIRST, SECOND]);
  newer.exec(
    "INSERT INTO pet VALUES (8, 1, 'Mia', '985'); UPDATE owner SET name = 'Eve'; INSERT INTO visit VALUES (1)",
  );
  newer.close();
  copyToOwnSchema(file, [FIRST]);
  expect(fs.readdirSync(path.dirname(file))).toEqual(["app.db"]);
  withDatabase(file, (db) => {
    expect(storedSchema(db)).toEqual({ version: 1, program: VERSION });
    expect(db.prepare("SELECT sql FROM sqlite_schema").pluck().all()).toEqual(schema);
    expect(db.prepare("SELECT * FROM owner").raw().all()).toEqual([[1, "Eve"]]);
    const pets = db.prepare("SELECT * FROM pet").raw().all();
    expect(pets).toEqual([
      [7, 1, "Rex"],
      [8, 1, "Mia"],
    ]);
  });
  // The database of this version, or of an older one, is left alone.
  const before = fs.statSync(file).ino;
  copyToOwnSchema(file, [FIRST]);
  copyToOwnSchema(file, [FIRST, SECOND]);
  expect(fs.statSync(file).ino).toBe(before);
});

test("after a rollback a database that lacks a column of the older version is refused, and stays as it is", () => {
  const file = makeDatabase(newFolder());
  migrateFile(file, FIRST, "ALTER TABLE pet RENAME COLUMN name TO called");
  const before = dumpSqlite(file);
  expect(() => copyToOwnSchema(file, [FIRST])).toThrow(/has schema 2 of version .*: install version \S+ or newer, or/);
  expect(dumpSqlite(file)).toBe(before);
  expect(fs.readdirSync(path.dirname(file))).toEqual(["app.db"]);
});

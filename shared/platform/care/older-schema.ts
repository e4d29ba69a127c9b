import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { trustedDatabase } from "../../files/folder-owner.ts";
import { makePrivateFile, syncFolder } from "../../files/private-folder.ts";
import { newerSchema, type StoredSchema } from "./schema-steps.ts";
import { migrateSqlite, storedSchema } from "./sqlite-schema.ts";
import { storageAdvice } from "./storage-advice.ts";

// An upgrade may fail after the new version has migrated the database and acknowledged results. The version before refuses that
// database, and the copy from before the upgrade lacks those results. So all rows are copied into a database of its own schema.

/** Whether the launcher starts this version in place of a failed later one. */
export function isRolledBack(): boolean {
  return process.env["VETWIRE_ROLLED_BACK"] === "1";
}

/**
 * Replaces an SQLite database of a newer schema by one of this program's schema with the same rows. What the newer version alone
 * stores is lost. The caller has the lock of the folder. A kill leaves the newer database or the copy.
 * @throws Error with the remedy if the newer schema lacks a column of this one, or the disk is full
 */
export function copyToOwnSchema(file: string, migrations: readonly string[]): void {
  if (!fs.existsSync(file)) return;
  const newer = schemaOf(file);
  if (newer.version <= migrations.length) return;
  const part = `${file}.part`;
  for (const name of [part, `${part}-journal`]) fs.rmSync(name, { force: true });
  makePrivateFile(part);
  try {
    copyRows({ file, newer }, part, migrations);
    fs.renameSync(part, file);
    syncFolder(path.dirname(file));
  } catch (error) {
    fs.rmSync(part, { force: true });
    throw storageAdvice(error, part);
  }
}

function schemaOf(file: string): StoredSchema {
  const db = new Database(trustedDatabase(file), { readonly: true });
  try {
    return storedSchema(db);
  } finally {
    db.close();
  }
}

function copyRows(
  { file, newer }: { readonly file: string; readonly newer: StoredSchema },
  to: string,
  migrations: readonly string[],
): void {
  const db = new Database(to);
  try {
    db.pragma("foreign_keys = OFF");
    migrateSqlite(db, migrations);
    db.prepare("ATTACH ? AS newer").run(file);
    // SQLite would apply a write-ahead log that is left next to the copy.
    const mode = String(db.pragma("newer.journal_mode = DELETE", { simple: true }));
    if (mode !== "delete") throw new Error(`${file} is open in another program: end it first`);
    db.transaction(() => {
      for (const table of tablesOf(db)) {
        const [columns, theirs] = [columnsOf(db, "main", table), columnsOf(db, "newer", table)];
        if (columns.some((column) => !theirs.includes(column))) {
          throw newerSchema(file, newer, migrations.length);
        }
        const list = columns.map((column) => `"${column}"`).join(", ");
        db.exec(`INSERT INTO main."${table}" (${list}) SELECT ${list} FROM newer."${table}"`);
      }
    }).exclusive();
  } finally {
    db.close();
  }
}

function tablesOf(db: Database.Database): string[] {
  const own =
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'migration' AND name NOT LIKE 'sqlite_%'";
  return db.prepare(own).pluck().all() as string[];
}

function columnsOf(db: Database.Database, schema: string, table: string): string[] {
  return db.prepare("SELECT name FROM pragma_table_info(?, ?)").pluck().all(table, schema) as string[];
}

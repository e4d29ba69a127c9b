import type Database from "better-sqlite3";
import { MIGRATIONS } from "./migrations.ts";

/** Version of the schema that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Returns the version of the database's schema. */
export function schemaVersion(db: Database.Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/** @returns true if the database has this program's schema */
export function isCurrent(db: Database.Database): boolean {
  return schemaVersion(db) === SCHEMA_VERSION;
}

/** Migrates the database to this program's schema. @throws if the schema is newer than the program */
export function migrate(db: Database.Database): void {
  const version = schemaVersion(db);
  if (version > SCHEMA_VERSION) {
    throw new Error(`the spool has schema ${version}, expected at most ${SCHEMA_VERSION}: use a newer agent`);
  }
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    })();
  }
}

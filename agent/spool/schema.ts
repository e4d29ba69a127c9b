import type Database from "better-sqlite3";
import { MIGRATIONS } from "./migrations.ts";

/** The versions of this program's schema and of the database's. */
export function schemaVersions(db: Database.Database): { readonly own: number; readonly stored: number } {
  return { own: MIGRATIONS.length, stored: Number(db.pragma("user_version", { simple: true })) };
}

/** @returns true if the database has this program's schema */
export function isCurrent(db: Database.Database): boolean {
  const { own, stored } = schemaVersions(db);
  return stored === own;
}

/** Migrates the database to this program's schema. @throws if the schema is newer than the program */
export function migrate(db: Database.Database): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version > MIGRATIONS.length) {
    throw new Error(`the spool has schema ${version}, expected at most ${MIGRATIONS.length}: use a newer agent`);
  }
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    })();
  }
}

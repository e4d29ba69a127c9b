import type Database from "better-sqlite3";
import { MIGRATIONS } from "./migrations.ts";

/** @returns true if the database has this program's schema */
export function isCurrent(db: Database.Database): boolean {
  return Number(db.pragma("user_version", { simple: true })) === MIGRATIONS.length;
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

import type Database from "better-sqlite3";
import { newerSchema } from "../../../shared/platform/care/schema-steps.ts";
import { migrateSqlite, storedSchema } from "../../../shared/platform/care/sqlite-schema.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Version of the schema that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the database to this program's schema. @throws Error with the remedy if it is newer, or a migration fails */
export function migrate(db: Database.Database): void {
  migrateSqlite(db, MIGRATIONS);
}

/** @throws Error with the remedy unless the database has this program's schema */
export function requireCurrent(db: Database.Database, folder: string): void {
  const stored = storedSchema(db);
  if (stored.version > SCHEMA_VERSION) throw newerSchema(db.name, stored, SCHEMA_VERSION);
  if (stored.version < SCHEMA_VERSION) {
    throw new Error(`the spool in ${folder} has the schema of another version: start this version's agent first`);
  }
}

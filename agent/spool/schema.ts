import type Database from "better-sqlite3";
import { newerSchema, type SchemaOptions, type StoredSchema } from "../../shared/care/schema-steps.ts";
import { migrateSqlite, newerMigrations, type VersionOf } from "../../shared/care/sqlite-schema.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Version of the schema that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Returns the version of the database's schema. */
export function schemaVersion(db: Database.Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/** Returns the version of the database's schema, and the migrations that this program does not know. */
export function storedSchema(db: Database.Database): StoredSchema {
  return { version: schemaVersion(db), newer: newerMigrations(db, SCHEMA_VERSION) };
}

/** @throws Error with the remedy unless the database has this program's schema */
export function requireCurrent(db: Database.Database, folder: string): void {
  const stored = storedSchema(db);
  if (stored.version > SCHEMA_VERSION) throw newerSchema(db.name, stored, SCHEMA_VERSION);
  if (stored.version < SCHEMA_VERSION) {
    throw new Error(`the spool in ${folder} has the schema of another version: start this version's agent first`);
  }
}

const userVersion: VersionOf = {
  read: schemaVersion,
  noteStep: (db, step) => void db.pragma(`user_version = ${step.do === "apply" ? step.version : step.version - 1}`),
};

/** Migrates the database to this program's schema. @throws Error with the remedy if it is newer, or the migration fails */
export function migrate(db: Database.Database, options: Partial<SchemaOptions> = {}): void {
  migrateSqlite(db, userVersion, { migrations: MIGRATIONS, undoNewer: false, ...options });
}

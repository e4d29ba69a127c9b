import type Database from "better-sqlite3";
import { describeDamage } from "../runtime/damaged-file.ts";
import { errorMessage } from "../runtime/error-message.ts";
import { VERSION } from "../runtime/program-files.ts";
import {
  type AppliedMigration,
  failedMigration,
  type SchemaOptions,
  type SchemaStep,
  schemaSteps,
} from "./schema-steps.ts";
import { storageAdvice } from "./storage-advice.ts";

// Runs the steps of a schema on an SQLite database, of the agent or of the server.

/** How a database keeps the version of its schema. */
export interface VersionOf {
  readonly read: (db: Database.Database) => number;
  /** Notes the version after a step. Steps with an undo have a row in `migration` besides. */
  readonly noteStep: (db: Database.Database, step: SchemaStep) => void;
}

/**
 * Brings the database to the schema of the migrations, in one transaction: a failure or a kill leaves it as it was.
 * @throws Error with the remedy; SQLITE_BUSY as it is while another process writes
 */
export function migrateSqlite(db: Database.Database, schema: VersionOf, options: SchemaOptions): void {
  const known = options.migrations.length;
  if (schema.read(db) === known) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again: another process may have migrated meanwhile.
    const steps = schemaSteps(db.name, { version: schema.read(db), newer: newerMigrations(db, known) }, options);
    run(db, schema, steps);
  } finally {
    if (db.inTransaction) db.exec("ROLLBACK");
  }
}

function run(db: Database.Database, schema: VersionOf, steps: readonly SchemaStep[]): void {
  try {
    for (const step of steps) {
      // Before the statements: the undo of the first step with an undo removes the table.
      if (step.do === "undo") db.prepare("DELETE FROM migration WHERE version = ?").run(step.version);
      db.exec(step.sql);
      if (step.do === "apply" && step.undo !== null) {
        const row = "INSERT INTO migration (version, applied_at, program, undo) VALUES (?, ?, ?, ?)";
        db.prepare(row).run(step.version, Date.now(), VERSION, step.undo);
      }
      schema.noteStep(db, step);
    }
    db.exec("COMMIT");
  } catch (error) {
    const advised = describeDamage(storageAdvice(error, db.name), db.name);
    if (advised === error) throw failedMigration(db.name, error);
    const reason = errorMessage(advised);
    throw new Error(`${db.name} could not be updated and stays as it was: ${reason}`, { cause: error });
  }
}

/** @returns the migrations above a version, newest first; none if a program of 0.1.0 wrote the database */
export function newerMigrations(db: Database.Database, version: number): AppliedMigration[] {
  const columns = db.prepare("SELECT name FROM pragma_table_info('migration')").pluck().all();
  if (!columns.includes("undo")) return [];
  const newer = "SELECT version, program, undo FROM migration WHERE version > ? ORDER BY version DESC";
  return db.prepare(newer).all(version) as AppliedMigration[];
}

import type Database from "better-sqlite3";
import { describeDamage } from "../../files/damaged-file.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { VERSION } from "../../files/program-files.ts";
import { EMPTY, failedMigration, MIGRATION_TABLE, missingVersions, type StoredSchema } from "./schema-steps.ts";
import { storageAdvice } from "./storage-advice.ts";

// The schema of an SQLite database, of the agent or of the server.

/** Returns the newest version of the database's schema. */
export function storedSchema(db: Database.Database): StoredSchema {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").get();
  if (table === undefined) return EMPTY;
  const newest = db.prepare("SELECT version, program FROM migration ORDER BY version DESC LIMIT 1").get();
  return (newest as StoredSchema | undefined) ?? EMPTY;
}

/**
 * Brings the database to the last of the migrations, in one transaction: a failure or a kill leaves it as it was.
 * @throws Error with the remedy; SQLITE_BUSY as it is while another process writes
 */
export function migrateSqlite(db: Database.Database, migrations: readonly string[]): void {
  if (storedSchema(db).version === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again: another process may have migrated meanwhile.
    const missing = missingVersions(db.name, storedSchema(db), migrations);
    run(db, missing);
  } finally {
    if (db.inTransaction) db.exec("ROLLBACK");
  }
}

function run(db: Database.Database, missing: ReturnType<typeof missingVersions>): void {
  try {
    db.exec(`CREATE TABLE IF NOT EXISTS ${MIGRATION_TABLE}`);
    for (const { version, sql } of missing) {
      db.exec(sql);
      db.prepare("INSERT INTO migration (version, applied_at, program) VALUES (?, ?, ?)").run(
        version,
        Date.now(),
        VERSION,
      );
    }
    db.exec("COMMIT");
  } catch (error) {
    const advised = describeDamage(storageAdvice(error, db.name), db.name);
    if (advised === error) throw failedMigration(db.name, error);
    const reason = errorMessage(advised);
    throw new Error(`${db.name} could not be updated and stays as it was: ${reason}`, { cause: error });
  }
}

import type Database from "better-sqlite3";
import { MIGRATION_TABLE } from "../../../shared/platform/care/schema-steps.ts";

/** Notes the schema version of a test's own database. */
export function noteSchema(db: Database.Database, version: number): void {
  db.exec(`CREATE TABLE IF NOT EXISTS ${MIGRATION_TABLE}`);
  db.prepare("INSERT OR IGNORE INTO migration VALUES (?, 0, '1.2.3')").run(version);
}

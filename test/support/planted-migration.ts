import { writeSync } from "node:fs";
import Database from "better-sqlite3";
import { MIGRATIONS } from "../../agent/spool/migrations.ts";
import { migrate as migrateSpool } from "../../agent/spool/schema.ts";
import { serverMigrations } from "./planted-migrations.ts";
import { migrate as migratePostgres } from "../../server/store/database/postgres-schema.ts";
import { migrate as migrateServer } from "../../server/store/database/sqlite-schema.ts";

// A process that a test kills within a migration: `spool|server FILE_OR_URL`. On SQLite it prints a line within the migration.

const [kind, place = ""] = process.argv.slice(2);

if (kind === "postgres") {
  const migrations = [
    ...serverMigrations(place),
    { sql: "alter table study add column operator text; update clinic set name = 'half'", undo: "select 1" },
    { sql: "select pg_sleep(2)", undo: "select 1" },
  ];
  await migratePostgres({ connectionString: place }, { migrations });
} else {
  const db = new Database(place);
  db.function("reached", () => writeSync(1, "within the migration\n"));
  const endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n";
  const half = kind === "spool" ? "ALTER TABLE message" : "ALTER TABLE study";
  // Ten megabytes: pages of the transaction are in the WAL before its end.
  const planted = [
    { sql: `${half} ADD COLUMN operator TEXT; CREATE TABLE filler AS SELECT randomblob(10000000) AS bytes`, undo: "" },
    { sql: `SELECT reached(); ${endless}`, undo: "" },
  ];
  db.pragma("cache_size = 10");
  if (kind === "spool") migrateSpool(db, { migrations: [...MIGRATIONS, ...planted] });
  else migrateServer(db, { migrations: [...serverMigrations(place), ...planted] });
}

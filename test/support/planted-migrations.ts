import { join } from "node:path";
import Database from "better-sqlite3";
import { MIGRATIONS } from "../../agent/spool/migrations.ts";
import { migrationsFor } from "../../server/store/database/migrations.ts";
import { isPostgresUrl } from "../../server/store/database/open.ts";
import { migrate as migratePostgres, postgres } from "../../server/store/database/postgres-schema.ts";
import { migrate as migrateSqlite, sqlite } from "../../server/store/database/sqlite-schema.ts";
import type { Migration, SchemaOptions } from "../../shared/care/schema-steps.ts";
import { dump } from "./postgres.ts";
import { dumpSqlite } from "./sqlite-dump.ts";

// Migrations that no version has, and the dumps that show what a migration changed.

/** Two migrations of a newer agent. The undo of the first one works only after that of the second one. */
export const NEWER_SPOOL: readonly Migration[] = [
  ...MIGRATIONS,
  {
    sql: `
      CREATE TABLE shift (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      INSERT INTO shift (name) VALUES ('night');
      ALTER TABLE message ADD COLUMN operator TEXT NOT NULL DEFAULT 'nobody';
      CREATE INDEX message_operator ON message (operator);
    `,
    undo: "DROP INDEX message_operator; ALTER TABLE message DROP COLUMN operator; DROP TABLE shift;",
  },
  {
    sql: "ALTER TABLE message RENAME COLUMN operator TO signed_by; ALTER TABLE shift RENAME TO duty;",
    undo: "ALTER TABLE duty RENAME TO shift; ALTER TABLE message RENAME COLUMN signed_by TO operator;",
  },
];

/** Two migrations of a newer server, of the same kind. */
const NEWER_SERVER: readonly Migration[] = [
  {
    sql: `
      create table shift (id bigint not null primary key, name text not null);
      insert into shift (id, name) values (1, 'night');
      alter table study add column operator text not null default 'nobody';
      create index study_operator on study (operator);
    `,
    undo: "drop index study_operator; alter table study drop column operator; drop table shift;",
  },
  {
    sql: "alter table study rename column operator to signed_by; alter table shift rename to duty;",
    undo: "alter table duty rename to shift; alter table study rename column signed_by to operator;",
  },
];

/** @returns the migrations of today's server for that database */
export function serverMigrations(database: string): Migration[] {
  return migrationsFor(isPostgresUrl(database) ? postgres : sqlite);
}

export function newerServerMigrations(database: string): Migration[] {
  return [...serverMigrations(database), ...NEWER_SERVER];
}

/** Migrates a database of the server, as another process would. */
export async function migrateServer(database: string, options: Partial<SchemaOptions>): Promise<void> {
  if (isPostgresUrl(database)) return migratePostgres({ connectionString: database }, options);
  const db = new Database(join(database, "vetwire.db"));
  try {
    migrateSqlite(db, options);
  } finally {
    db.close();
  }
}

/** @returns schema and rows of a database of the server, as text */
export function dumpServer(database: string): string {
  if (!isPostgresUrl(database)) return dumpSqlite(join(database, "vetwire.db"));
  // The key of \restrict differs in each dump.
  return dump(database).replaceAll(/^\\(un)?restrict .*$/gm, "");
}

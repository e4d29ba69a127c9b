import type Sqlite from "better-sqlite3";
import type { SchemaOptions } from "../../../shared/care/schema-steps.ts";
import { migrateSqlite, type VersionOf } from "../../../shared/care/sqlite-schema.ts";
import { type Engine, isOtherChange, migrationsFor } from "./migrations.ts";

// The migrations of an SQLite database.

export const sqlite: Engine = {
  id: "integer primary key",
  orderedText: "text",
  shared: false,
  refuse: ({ name, event, table, when, message }) =>
    `create trigger ${name} before ${event} on ${table} when ${when} begin select raise(abort, '${message}'); end;`,
  after: ({ name, event, table, statement }) =>
    `create trigger ${name} after ${event} on ${table} begin ${statement} end;`,
  dropAfter: ({ name }) => `drop trigger ${name};`,
  onOtherChange: {
    clear: (checksum) => `
      create trigger ${checksum.table}_${checksum.column} after update on ${checksum.table} when ${isOtherChange(checksum)}
      begin update ${checksum.table} set ${checksum.column} = null where id = new.id; end;
    `,
    keep: ({ table, column }) => `drop trigger ${table}_${column};`,
  },
  // SQLite has no ALTER INDEX.
  renameIndex: ({ from, to, on }) => `drop index ${from}; create index ${to} on ${on};`,
};

const versionTable: VersionOf = {
  read: (db) => db.prepare("select coalesce(max(version), 0) from migration").pluck().get() as number,
  noteStep(db, step) {
    if (step.do === "undo" || step.undo !== null) return;
    db.prepare("insert into migration (version, applied_at) values (?, ?)").run(step.version, Date.now());
  },
};

/** Migrates the database to this program's schema. @throws Error with the remedy if it is newer, or the migration fails */
export function migrate(connection: Sqlite.Database, options: Partial<SchemaOptions> = {}): void {
  connection.exec("create table if not exists migration (version integer primary key, applied_at bigint not null)");
  migrateSqlite(connection, versionTable, { migrations: migrationsFor(sqlite), undoNewer: false, ...options });
}

import { randomInt } from "node:crypto";
import fs from "node:fs";
import Database from "better-sqlite3";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";
import type { BackupSource } from "../../../shared/platform/care/backup.ts";
import type { RestoreTarget } from "../../../shared/platform/care/restore.ts";
import { VERSION } from "../../../shared/files/program-files.ts";
import path from "node:path";
import { AUTHORITY_FILE } from "../../network/setting-file.ts";
import { isPostgresUrl } from "../../database/open.ts";
import { SCHEMA_VERSION } from "../../database/migrations.ts";
import { storeLocation } from "./with-store.ts";

// The parts of a server that a backup holds. A new setup code is made at each start, and certificates are the operator's files. The
// server's own authority is in it: phones and PCs that trust it would have to be set up again on the worst day of a clinic. Its key
// signs names of local networks alone. The setting of the network is not: another machine opens no port by itself.

export const SERVER_BACKUP = { program: "server", schema: SCHEMA_VERSION, database: "vetwire.db" } as const;

/** The database, the pepper, without which no key works, and the authority if there is one. @throws Error for PostgreSQL, with its tools */
export function backupSource(data: string): BackupSource {
  requireSqlite(data);
  return {
    program: "server",
    version: VERSION,
    schema: SCHEMA_VERSION,
    folder: data,
    database: SERVER_BACKUP.database,
    files: [
      ...(needsPepper(data) ? [{ name: "pepper", path: pepperOf(data) }] : []),
      ...(fs.existsSync(authorityOf(data)) ? [{ name: AUTHORITY_FILE, path: authorityOf(data) }] : []),
    ],
    images: null,
  };
}

function authorityOf(data: string): string {
  return path.join(data, AUTHORITY_FILE);
}

function pepperOf(data: string): string {
  return path.join(data, "pepper");
}

/** A server that has not run has no pepper yet, and no key that needs one. A key without its pepper ends the backup. */
function needsPepper(data: string): boolean {
  const file = path.join(data, SERVER_BACKUP.database);
  if (fs.existsSync(pepperOf(data)) || !fs.existsSync(file)) return true;
  try {
    const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
    try {
      return db.prepare("SELECT 1 FROM api_key LIMIT 1").get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    return true;
  }
}

/** Versions stay exact numbers for a million restores. */
const VERSIONS_JUMP_MAX = 1_000_000_000;

/** @throws Error for PostgreSQL, with its tools */
export function restoreTarget(data: string): RestoreTarget {
  requireSqlite(data);
  return {
    ...SERVER_BACKUP,
    folder: data,
    files: ["pepper", AUTHORITY_FILE],
    images: null,
    prepare: (db) => {
      const column = db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
      // A session that was ended after the backup must not continue.
      if (column.get("dashboard_session", "id") !== undefined) db.exec("DELETE FROM dashboard_session");
      // A version that an agent has read was of a state that is lost: as many writes would reach it again.
      if (column.get("clinic", "lists_version") === undefined) return;
      const jump = randomInt(1, VERSIONS_JUMP_MAX);
      db.prepare("UPDATE clinic SET version = version + ?, lists_version = lists_version + ?").run(jump, jump);
    },
  };
}

function requireSqlite(data: string): void {
  if (!isPostgresUrl(storeLocation(data))) return;
  const pepper = path.join(data, "pepper");
  throw new Error(
    "DATABASE_URL names PostgreSQL, whose own tools back it up: pg_dump --format=custom --file=vetwire.dump and pg_restore, " +
      `or pgbackrest. Save ${pepper} with it, since no API key works without that file`,
  );
}

import path from "node:path";
import Database from "better-sqlite3";
import { makePrivateFile } from "../../../shared/files/private-folder.ts";
import { LOG_KEPT_BYTES } from "../../../shared/log/long-log.ts";
import { RESERVE_BYTES } from "./room.ts";
import { migrate } from "./schema.ts";
import type { WorkerOptions } from "./wire-format.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";

// The spool's database file and its write-ahead log (WAL).

const PAGE_BYTES = 4096;
/** Pages of the WAL before a checkpoint, which stops every device for some ms. From `long` on it waits for an idle line. */
const LOG_PAGES = { long: 4_000, max: 16_000 };
/** Pages of tables and indexes that a commit writes in addition to the received bytes. */
const PAGES_PER_COMMIT = 12;
/** Max wait of a commit for that of a command, in ms. */
const BUSY_MS = 5_000;

export function openDatabase({ folder, bytesMax }: WorkerOptions): Database.Database {
  const file = path.join(folder, "spool.db");
  makePrivateFile(file);
  const db = new Database(trustedDatabase(file), { timeout: BUSY_MS });
  db.pragma(`page_size = ${PAGE_BYTES}`);
  db.pragma("cache_size = -16000"); // KiB
  db.pragma("journal_mode = WAL");
  db.pragma(`wal_autocheckpoint = ${LOG_PAGES.max}`);
  // Keep the file, because growing it makes commits slower.
  db.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`);
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  // Room refuses the events of devices before SQLite reaches this bound.
  db.pragma(`max_page_count = ${Math.ceil((bytesMax + RESERVE_BYTES) / PAGE_BYTES)}`);
  return db;
}

/** Returns true for a fault of the disk (full, read-only, I/O), which fails the complete group; false for an error of one call. */
export function isStorageFault(error: unknown): boolean {
  const fault = error instanceof Error && error.cause instanceof Database.SqliteError ? error.cause : error;
  return (
    fault instanceof Database.SqliteError &&
    !fault.code.startsWith("SQLITE_CONSTRAINT") &&
    fault.code !== "SQLITE_ERROR"
  );
}

export class WriteAheadLog {
  readonly #db: Database.Database;
  #synchronous = "";
  #pages = 0;

  constructor(db: Database.Database) {
    this.#db = db;
  }

  get isLong(): boolean {
    return this.#pages >= LOG_PAGES.long;
  }

  /** Selects whether the next commits are fsynced (FULL). */
  synchronize(level: "FULL" | "NORMAL"): void {
    if (level !== this.#synchronous) this.#db.pragma(`synchronous = ${level}`);
    this.#synchronous = level;
  }

  /** Counts a commit with that many received bytes. */
  addCommit(bytes: number): void {
    this.#pages += PAGES_PER_COMMIT + bytes / PAGE_BYTES;
  }

  checkpoint(mode: "PASSIVE" | "TRUNCATE"): void {
    this.#pages = 0;
    try {
      // Do not wait for a command that reads the database. A later checkpoint empties the log.
      this.#db.pragma("busy_timeout = 0");
      this.#db.pragma(`wal_checkpoint(${mode})`);
    } catch {
      // The log grows on after a fault of the disk, and the next commit reports the fault.
    } finally {
      this.#db.pragma(`busy_timeout = ${BUSY_MS}`);
    }
  }
}

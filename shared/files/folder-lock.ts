import path from "node:path";
import Database from "better-sqlite3";
import { describeDamage } from "./damaged-file.ts";
import { trustedDatabase } from "./folder-owner.ts";
import { makePrivateFile } from "./private-folder.ts";

/**
 * Locks a folder for this process until it ends or calls the returned function. The lock is a transaction that stays open, so the
 * system releases it however the process ends. Several processes may share a lock; meanwhile an exclusive one is refused. `name`
 * is the file of the lock: a folder may have several.
 * @throws Error with the message `held` if another process has the lock
 */
export function lockFolder(
  folder: string,
  held: string,
  mode: "alone" | "shared" = "alone",
  name = "lock.db",
): () => void {
  const file = path.join(folder, name);
  makePrivateFile(file);
  const db = new Database(trustedDatabase(file), { timeout: 0 });
  try {
    // The read of a deferred transaction takes the shared lock of SQLite.
    db.exec(mode === "alone" ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT COUNT(*) FROM sqlite_master");
  } catch (error) {
    db.close();
    throw isBusy(error) ? new Error(held) : describeDamage(error, file);
  }
  const release = () => void db.close();
  process.once("exit", release);
  return () => {
    process.off("exit", release);
    release();
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

import path from "node:path";
import Database from "better-sqlite3";
import { describeDamage } from "./damaged-file.ts";
import { makePrivateFile } from "./private-folder.ts";

/**
 * Locks a folder for this process until it ends. The lock is a transaction that stays open, so the system releases it however
 * the process ends. @throws Error with the message `held` if another process has the lock
 */
export function lockFolder(folder: string, held: string): void {
  const file = path.join(folder, "lock.db");
  makePrivateFile(file);
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    throw isBusy(error) ? new Error(held) : describeDamage(error, file);
  }
  process.once("exit", () => db.close());
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

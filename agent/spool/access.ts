import Database from "better-sqlite3";
import path from "node:path";
import fs from "node:fs";
import { describeDamage } from "../../shared/files/damaged-file.ts";
import { trustedDatabase } from "../../shared/files/folder-owner.ts";
import { type Operations, operationsOn } from "./queries/operations.ts";
import { requireCurrent } from "./thread/schema.ts";

// Access to the spool of a data folder, for commands of other processes than the agent. Each function throws if the folder has no
// spool, or the spool has the schema of another version.

/** Reads the spool, also while an agent writes it. */
export function readSpool<Result>(folder: string, read: (db: Database.Database) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    requireCurrent(db, folder);
    return read(db);
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

/** Reads the spool in several asynchronous steps. */
export async function searchSpool<Result>(
  folder: string,
  search: (db: Database.Database) => Promise<Result>,
): Promise<Result> {
  const file = spoolFile(folder);
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    requireCurrent(db, folder);
    return await search(db);
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

/** Max wait of a command for a commit of the running agent, in ms. */
const BUSY_MS = 5_000;

/** Writes to the spool in one fsynced transaction, also while an agent runs. A second writer waits for the first. */
export function writeSpool<Result>(folder: string, write: (operations: Operations) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(trustedDatabase(file), { fileMustExist: true, timeout: BUSY_MS });
  try {
    requireCurrent(db, folder);
    db.pragma("synchronous = FULL");
    const operations = operationsOn(db);
    return db.transaction(() => write(operations)).immediate();
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

/** Whether an agent has run with the folder. @throws Error for a folder that is closed to this user, which is not missing */
export function hasSpool(folder: string): boolean {
  return fs.statSync(path.join(folder, "spool.db"), { throwIfNoEntry: false }) !== undefined;
}

function spoolFile(folder: string): string {
  const file = path.join(folder, "spool.db");
  if (!hasSpool(folder)) throw new Error(`no spool in ${folder}: the agent has not run with it yet`);
  return file;
}

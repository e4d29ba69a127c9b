import Database from "better-sqlite3";
import path from "node:path";
import fs from "node:fs";
import { describeDamage } from "../../shared/runtime/damaged-file.ts";
import { type Operations, operationsOn } from "./queries/operations.ts";
import { isCurrent } from "./schema.ts";

/** Reads the spool of a data folder, also while an agent writes it. @throws if the folder has no spool */
export function readSpool<Result>(folder: string, read: (db: Database.Database) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

/** Reads the spool in several asynchronous steps. @throws also if the spool has the schema of another version */
export async function searchSpool<Result>(
  folder: string,
  search: (db: Database.Database) => Promise<Result>,
): Promise<Result> {
  const file = spoolFile(folder);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    if (!isCurrent(db)) throw new Error(otherVersion(folder));
    return await search(db);
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

/** Max wait of a command for a commit of the running agent, in ms. */
const BUSY_MS = 5_000;

/**
 * Writes to the spool in one fsynced transaction, also while an agent runs. SQLite has one writer at a time; the second waits.
 * @throws if the folder has no spool, or the spool has the schema of another version
 */
export function writeSpool<Result>(folder: string, write: (operations: Operations) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(file, { fileMustExist: true, timeout: BUSY_MS });
  try {
    if (!isCurrent(db)) throw new Error(otherVersion(folder));
    db.pragma("synchronous = FULL");
    const operations = operationsOn(db);
    return db.transaction(() => write(operations)).immediate();
  } catch (error) {
    throw describeDamage(error, file);
  } finally {
    db.close();
  }
}

function otherVersion(folder: string): string {
  return `the spool in ${folder} is of another version: run this version's agent first`;
}

function spoolFile(folder: string): string {
  const file = path.join(folder, "spool.db");
  if (!fs.existsSync(file)) throw new Error(`there is no spool in ${folder}: the agent has not run with it yet`);
  return file;
}

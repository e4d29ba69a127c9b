import Database from "better-sqlite3";
import path from "node:path";
import fs from "node:fs";
import { damageTold } from "../../shared/runtime/damaged-file.ts";
import { type Operations, operationsOn } from "./queries/operations.ts";
import { isCurrent } from "./schema.ts";

/** Reads a data folder beside the agent that writes it. @throws when there is no spool in it */
export function readSpool<Result>(folder: string, read: (db: Database.Database) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } catch (error) {
    throw damageTold(error, file);
  } finally {
    db.close();
  }
}

/** The same for what takes more than one step. @throws also when the spool is of another version of this program */
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
    throw damageTold(error, file);
  } finally {
    db.close();
  }
}

/** How long a command waits for the running agent's commit, which takes some milliseconds. */
const BUSY_MS = 5_000;

/**
 * Writes to a data folder beside the agent that owns it, in one transaction, on the disk when this returns. SQLite lets one
 * writer in at a time: whichever of the two comes second waits.
 * @throws when there is no spool in it, or one that the agent of this version has not opened yet
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
    throw damageTold(error, file);
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

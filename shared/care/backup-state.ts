import fs from "node:fs";
import path from "node:path";
import { writePrivateFile } from "../runtime/private-folder.ts";

// The outcome of the backups of a data folder. It is a file, because alerts, pages and `doctor` read it, also when the program
// does not run and on either database.

export interface BackupAttempt {
  /** ISO 8601. */
  readonly at: string;
  readonly file: string;
  readonly seconds: number;
  /** Null if no backup was made. */
  readonly bytes: number | null;
  /** The failure, with its remedy; null if nothing failed. */
  readonly error: string | null;
}

export interface BackupState {
  readonly last: BackupAttempt;
  /** The last success; null if there was none. */
  readonly succeeded: BackupAttempt | null;
}

const FILE = "backup.json";

/** @returns the outcome of the backups of a data folder; null if none was tried or the file is damaged */
export function readBackupState(folder: string): BackupState | null {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, FILE), "utf8")) as BackupState;
  } catch {
    return null;
  }
}

/** Records an attempt. A full disk keeps the earlier state in the file. @returns the new state */
export function recordBackup(folder: string, last: BackupAttempt): BackupState {
  const state = { last, succeeded: last.bytes !== null ? last : (readBackupState(folder)?.succeeded ?? null) };
  try {
    writePrivateFile(path.join(folder, FILE), JSON.stringify(state));
  } catch {
    // The caller reports the attempt itself.
  }
  return state;
}

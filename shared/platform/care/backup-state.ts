import fs from "node:fs";
import path from "node:path";
import { type Static, Type } from "typebox";
import { compileLater } from "../../schema/compile-later.ts";
import { Nullable } from "../../schema/schema.ts";
import { writePrivateFile } from "../../files/private-folder.ts";

// The outcome of the backups of a data folder. It is a file, because alerts, pages and `doctor` read it, also when the program
// does not run and on either database.

const Attempt = Type.Object({
  /** ISO 8601. */
  at: Type.String(),
  file: Type.String(),
  seconds: Type.Number(),
  /** Null if no backup was made. */
  bytes: Nullable(Type.Number()),
  /** The failure, with its remedy; null if nothing failed. */
  error: Nullable(Type.String()),
});
export type BackupAttempt = Readonly<Static<typeof Attempt>>;

/** `succeeded` is the last success; null if there was none. */
const State = Type.Object({ last: Attempt, succeeded: Nullable(Attempt) });
export interface BackupState {
  readonly last: BackupAttempt;
  readonly succeeded: BackupAttempt | null;
}

const compiled = compileLater(State);

const FILE = "backup.json";

/** @returns the outcome of the backups of a data folder; null if none was tried or the file is damaged */
export function readBackupState(folder: string): BackupState | null {
  try {
    const state: unknown = JSON.parse(fs.readFileSync(path.join(folder, FILE), "utf8"));
    return compiled.Check(state) ? state : null;
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

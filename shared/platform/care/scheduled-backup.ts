import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { errorMessage } from "../../runtime/error-message.ts";
import { moduleFile } from "../../files/program-files.ts";
import { type BackupSource, PARTIAL, sourceName } from "./backup.ts";
import { readManifest } from "./backup-file.ts";
import { type BackupAttempt, type BackupState, readBackupState, recordBackup } from "./backup-state.ts";
import { backupName, type BackupSchedule, isBackupName, isDue } from "./schedule.ts";
import { storageAdvice } from "./storage-advice.ts";

// The backups that a running program makes by itself, in a thread.

/** Interval between checks whether a backup is due. The first check leaves time for the start. */
const CHECK_MS = 60_000;
/** Age of an unfinished backup that no program writes any more. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** The work of the thread, and its reply. */
export interface BackupOrder {
  readonly source: BackupSource;
  readonly file: string;
}
export type BackupReply = { readonly bytes: number } | { readonly error: string };

export interface ScheduledBackups {
  /** Null if no backup was ever tried. */
  state(): BackupState | null;
  stop(): Promise<void>;
}

/** Makes a backup each day and removes those beyond `keep`. `report` gets each outcome. */
export function scheduleBackups(
  schedule: BackupSchedule,
  source: () => BackupSource,
  report: (attempt: BackupAttempt) => void,
  checkMs = CHECK_MS,
): ScheduledBackups {
  const { folder } = source();
  let state = readBackupState(folder);
  let worker: Worker | null = null;
  const timer = setInterval(() => {
    if (worker !== null || !isDue(Date.now(), schedule.at, state)) return;
    const [startedAt, begunAt] = [Date.now(), performance.now()];
    const file = path.join(schedule.folder, backupName(source().program, os.hostname(), startedAt));
    worker = new Worker(moduleFile("shared/platform/care/backup-worker"), {
      workerData: { source: source(), file } satisfies BackupOrder,
    });
    const end = (reply: BackupReply) => {
      if (worker === null) return;
      worker = null;
      const seconds = (performance.now() - begunAt) / 1000;
      const error = "error" in reply ? reply.error : removeOld(schedule, source(), path.basename(file));
      const bytes = "error" in reply ? null : reply.bytes;
      const attempt = { at: new Date(startedAt).toISOString(), file, seconds, bytes, error };
      state = recordBackup(folder, attempt);
      report(attempt);
    };
    worker.once("message", end);
    worker.once("error", (error) => end({ error: errorMessage(error) }));
    worker.once("exit", (code) => end({ error: `the backup ended with code ${code}: see the log` }));
  }, checkMs);
  timer.unref();
  return {
    state: () => state,
    async stop() {
      clearInterval(timer);
      const running = worker;
      worker = null;
      await running?.terminate();
    },
  };
}

/**
 * Removes the backups of this source beyond `keep`, the oldest first. A later name than the newest one comes from a clock that
 * was ahead, or is late now, and counts as older. @returns the reason of a failure, or null
 */
function removeOld({ folder, keep }: BackupSchedule, source: BackupSource, newest: string): string | null {
  try {
    const own = fs
      .readdirSync(folder)
      .filter((name) => isBackupName(name) && isOwn(path.join(folder, name), source))
      .toSorted((a, b) => Number(a <= newest) - Number(b <= newest) || (a < b ? -1 : 1));
    for (const name of own.slice(0, Math.max(0, own.length - keep))) fs.rmSync(path.join(folder, name));
    removeAbandoned(folder);
    return null;
  } catch (error) {
    return `the backup was made, but older ones cannot be removed: ${errorMessage(storageAdvice(error, folder))}`;
  }
}

/** Several programs may share a folder, so a name is not enough. */
function isOwn(file: string, { program, folder }: BackupSource): boolean {
  try {
    const manifest = readManifest(file);
    return manifest.program === program && manifest.source === sourceName(folder);
  } catch {
    return false;
  }
}

/** Removes what killed processes left. */
function removeAbandoned(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const [base = "", rest] = name.split(PARTIAL);
    if (rest === undefined || !isBackupName(base)) continue;
    const file = path.join(folder, name);
    if (Date.now() - fs.statSync(file).mtimeMs > ABANDONED_MS) fs.rmSync(file);
  }
}

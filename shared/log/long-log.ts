import fs from "node:fs";
import { holdersOfFile } from "../network/port-holder.ts";

// The write-ahead log of an SQLite database (WAL). A reader that never ends keeps SQLite from using the log again. Each commit
// then makes it longer: 12 kB a commit, 380 MB after 30 000, until the disk is full.

/** Bytes that a log keeps when it is used again. Growing it makes commits slower. */
export const LOG_KEPT_BYTES = 64 * 1024 * 1024;
/** Bytes beyond which a log is reported. It has 64 MB under load, and more during a backup. */
const LOG_BYTES_MAX = 256 * 1024 * 1024;
const LOOK_EVERY_MS = 10 * 60_000;

export interface LongLog {
  readonly code: "database.log";
  readonly bytes: number;
  /** The problem. */
  readonly fault: string;
  readonly remedy: string;
}

/** @returns the log of a database that has become longer than LOG_BYTES_MAX; null for a shorter one */
export function longLog(database: string): LongLog | null {
  const log = `${database}-wal`;
  const bytes = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= LOG_BYTES_MAX) return null;
  const fault = `${log} has ${Math.round(bytes / 1e6)} MB and grows, because a program reads the database without an end`;
  const holders = holdersOfFile(log, "this program itself").join(", ") || "another program";
  const remedy = `end its reader, one of the programs that have it open: ${holders}`;
  return { code: "database.log", bytes, fault, remedy };
}

/** Looks at the log from time to time. @returns a function that ends this */
export function watchLog(database: string, report: (found: LongLog) => void, everyMs = LOOK_EVERY_MS): () => void {
  const timer = setInterval(() => {
    const found = longLog(database);
    if (found !== null) report(found);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

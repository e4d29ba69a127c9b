import fs from "node:fs";
import type Database from "better-sqlite3";
import { makePrivateFile } from "./private-folder.ts";

// SQLite ends a write-ahead log at its first damaged frame, and the commits behind it are missing without an error. A mark
// counts the commits that were fsynced: in the database, and in a file beside it. The next start compares the two.

/** A commit that was fsynced. */
export interface Mark {
  /** Its number, from 1. */
  readonly commit: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The next id of each kind. */
  readonly next: Readonly<Record<string, number>>;
}

/** Fsynced commits that are missing, and the ids that they assigned. Times are ISO 8601. */
export interface CommitLoss {
  readonly found_at: string;
  /** The time of the last commit before them. Null if the database has none. */
  readonly since: string | null;
  /** The time of the last of them. */
  readonly until: string;
  readonly commits: number;
  /** Max number of assigned ids of each kind. */
  readonly ids: Readonly<Record<string, number>>;
}

/** Time for which a loss is reported: 30 days. */
const REPORTED_MS = 30 * 24 * 60 * 60_000;
/** Size of the file. It fits into a sector, so that no write is torn; spaces fill it. */
const FILE_BYTES = 256;
const READ = "SELECT value FROM meta WHERE key = ?";

export class CommitMark {
  readonly #file: string;
  /** The open file. Null before the first save and after a fault. */
  #descriptor: number | null = null;
  readonly #read: Database.Statement;
  readonly #write: Database.Statement;

  /** Compares the file with the database. Numbers and ids continue above both, so that none is used twice. */
  constructor(db: Database.Database, file: string) {
    makePrivateFile(file);
    this.#file = file;
    // The file is read first: another process may commit in between.
    const last = readMarkFile(file);
    db.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID");
    this.#read = db.prepare(READ).pluck();
    this.#write = db.prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
    const compare = db.transaction(() => {
      const kept = this.#counted();
      if (last === null || last.commit <= (kept?.commit ?? 0)) return;
      this.#write.run("loss", JSON.stringify(lossBetween(kept, last)));
      this.#write.run("mark", JSON.stringify(last));
    });
    compare.immediate();
  }

  /** Counts the commit of the open transaction, which must be fsynced. Returns its mark, for save(). */
  count(next: Mark["next"] = {}): Mark {
    const mark = { commit: (this.#counted()?.commit ?? 0) + 1, at: Date.now(), next };
    this.#write.run("mark", JSON.stringify(mark));
    return mark;
  }

  /** Writes the mark of a finished commit. Without an fsync it reaches the disk late, never before its commit. */
  save(mark: Mark): void {
    try {
      this.#descriptor ??= fs.openSync(this.#file, "r+");
      fs.writeSync(this.#descriptor, JSON.stringify(mark).padEnd(FILE_BYTES), 0);
    } catch {
      // The file keeps an older mark, which reports no loss.
      this.close();
    }
  }

  close(): void {
    if (this.#descriptor !== null) fs.closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #counted(): Mark | null {
    const text = this.#read.get("mark") as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as Mark);
  }
}

/** Returns the last loss if it was found within 30 days, otherwise null. */
export function recentLoss(db: Database.Database): CommitLoss | null {
  const text = db.prepare(READ).pluck().get("loss") as string | undefined;
  const loss = text === undefined ? null : (JSON.parse(text) as CommitLoss);
  return loss === null || Date.now() - Date.parse(loss.found_at) > REPORTED_MS ? null : loss;
}

/** Returns the loss as a sentence for a log, without its times. */
export function lossSentence({ commits }: CommitLoss): string {
  const reason = "the write-ahead log was damaged, cut or deleted, or the database was replaced by an older one";
  return `${commits} acknowledged commits are missing: ${reason}`;
}

function lossBetween(kept: Mark | null, last: Mark): CommitLoss {
  const ids = Object.entries(last.next).map(([kind, next]) => [kind, next - (kept?.next[kind] ?? 1)] as const);
  return {
    found_at: new Date().toISOString(),
    since: kept === null ? null : new Date(kept.at).toISOString(),
    until: new Date(last.at).toISOString(),
    commits: last.commit - (kept?.commit ?? 0),
    ids: Object.fromEntries(ids),
  };
}

/** Reads the mark beside a database. @returns null for a missing, empty or damaged file */
export function readMarkFile(file: string): Mark | null {
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  try {
    const mark = JSON.parse(text) as Mark;
    const numbers = [mark.commit, mark.at, ...Object.values(mark.next)];
    return numbers.every(Number.isSafeInteger) ? mark : null;
  } catch {
    return null;
  }
}

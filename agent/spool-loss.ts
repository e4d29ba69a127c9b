import type Database from "better-sqlite3";
import { recentLoss } from "../shared/commit-mark.ts";

/** Stored rows that are missing. They are of the time from `since` (null: ever) until `until`. */
export interface SpoolLoss {
  readonly found_at: string;
  readonly since: string | null;
  readonly until: string;
  readonly commits: number;
  /** At most. */
  readonly events: number;
}

/** null if no loss was found within the last 30 days. */
export function readLoss(db: Database.Database): SpoolLoss | null {
  const loss = recentLoss(db);
  if (loss === null) return null;
  const { foundAt, kept, last } = loss;
  return {
    found_at: new Date(foundAt).toISOString(),
    since: kept === null ? null : new Date(kept.at).toISOString(),
    until: new Date(last.at).toISOString(),
    commits: last.commit - (kept?.commit ?? 0),
    events: (last.next["event"] ?? 1) - (kept?.next["event"] ?? 1),
  };
}

export function lossSentence({ commits, events }: SpoolLoss): string {
  const missing = `${commits} commits with up to ${events} events are missing`;
  const reason = "the spool's write-ahead log was damaged, cut or deleted, or its files were replaced by older ones";
  return `${missing}: ${reason}. Compare the analyzers' results of that time, and send missing ones again`;
}

import type Database from "better-sqlite3";
import type { CodedReason } from "../../../page/types/message-codes.ts";
import { INSTANCE_FILE_COLUMNS, type InstanceFile } from "./instance-file.ts";

// The queue of instances for each archive (destination).

export type ForwardState = "queued" | "sent" | "refused";

export interface ForwardCount {
  readonly destination: string;
  readonly state: ForwardState;
  readonly count: number;
}

export type ForwardOperations = ReturnType<typeof forwardOperationsOn>;

/** Part of operationsOn(). */
export function forwardOperationsOn(db: Database.Database) {
  const sql = {
    destinations: db.prepare("SELECT id FROM destination").pluck(),
    dropDestination: db.prepare("DELETE FROM destination WHERE id = ?"),
    addDestination: db.prepare("INSERT INTO destination (id) VALUES (?) ON CONFLICT DO NOTHING"),
    queueForward: db.prepare(
      "INSERT INTO forward (destination, message, state) SELECT id, ?, 'queued' FROM destination WHERE true ON CONFLICT DO NOTHING",
    ),
    queued: db.prepare(
      `SELECT ${INSTANCE_FILE_COLUMNS} FROM forward f JOIN instance i ON i.message = f.message JOIN message m ON m.id = f.message
       WHERE f.destination = ? AND f.state = 'queued' ORDER BY f.attempts, f.message LIMIT ?`,
    ),
    retryForwards: db.prepare(
      `UPDATE forward SET state = 'queued', attempts = 0 WHERE destination = @destination AND state = 'refused'
         AND message IN (SELECT message FROM instance WHERE removed_at IS NULL AND study_uid = COALESCE(@studyUid, study_uid))`,
    ),
    settleForward: db.prepare(
      `UPDATE forward SET state = ?, reason = ?, code = NULL, attempts = attempts + 1, settled_at = ?
       WHERE destination = ? AND message = ?`,
    ),
    tryAgain: db.prepare(
      "UPDATE forward SET attempts = attempts + 1, reason = ?, code = ? WHERE destination = ? AND message = ?",
    ),
    counts: db.prepare(
      "SELECT destination, state, COUNT(*) AS count FROM forward GROUP BY destination, state ORDER BY destination, state",
    ),
  };
  return {
    /** Sets the destinations for which every new instance is queued. The queue of a removed destination stays. */
    setDestinations(ids: readonly string[]): void {
      for (const id of sql.destinations.all() as string[]) if (!ids.includes(id)) sql.dropDestination.run(id);
      for (const id of ids) sql.addDestination.run(id);
    },

    queueForwards(message: string): void {
      sql.queueForward.run(message);
    },

    /** The oldest queued instances of a destination. Instances with more attempts come later, so that they block nothing. */
    queuedForwards(destination: string, limit: number): InstanceFile[] {
      return sql.queued.all(destination, limit) as InstanceFile[];
    },

    /** Queues again the instances that a destination refused; `studyUid` null selects all studies. @returns how many */
    retryForwards(destination: string, studyUid: string | null): number {
      return sql.retryForwards.run({ destination, studyUid }).changes;
    },

    settleForward(destination: string, message: string, state: "sent" | "refused", reason: string | null, at: number) {
      sql.settleForward.run(state, reason, at, destination, message);
    },
    /** `why` has the words or the code of the delay. */
    delayForward(destination: string, message: string, { reason, code = null }: CodedReason): void {
      sql.tryAgain.run(reason, code, destination, message);
    },
    countForwards(): ForwardCount[] {
      return sql.counts.all() as ForwardCount[];
    },
  };
}

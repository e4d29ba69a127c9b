import type Database from "better-sqlite3";
import type { ForwardState } from "./forwards.ts";

// Retention of instance files: which may be removed to free disk space.

/** An instance whose file is present, with its retention status. */
export interface RetentionCandidate {
  readonly message: string;
  /** The time at which its bytes were stored last, in ms since 1970. */
  readonly storedAt: number;
  readonly fileBytes: number;
  readonly status: RetentionStatus;
}

/**
 * forwarded: every configured archive has the instance. filed: the API serves its study, and the file is the only copy.
 * needed: it is queued for an archive, not settled, needs review by a user, or was committed to a device.
 */
export type RetentionStatus = "forwarded" | "filed" | "needed";

// CROSS JOIN makes SQLite read the destinations first. The other order compares every instance with all forwards.
const forwardIs = (state: ForwardState) =>
  `EXISTS (SELECT 1 FROM destination d CROSS JOIN forward f ON f.destination = d.id AND f.message = i.message WHERE f.state = '${state}')`;
/** Only filed instances may be removed when no other copy exists; unfiled ones need review. */
const RETENTION_STATUS = `CASE
  WHEN m.state = 'pending' OR EXISTS (SELECT 1 FROM pending_image_study s WHERE s.study_uid = i.study_uid) OR ${forwardIs("queued")} THEN 'needed'
  WHEN ${forwardIs("sent")} AND NOT ${forwardIs("refused")} THEN 'forwarded'
  WHEN m.state = 'filed' AND i.committed = 0 THEN 'filed' ELSE 'needed' END`;

/** Part of operationsOn(). */
export function imageRetentionOperationsOn(db: Database.Database) {
  const sql = {
    instanceBytes: db.prepare("SELECT COALESCE(SUM(file_bytes), 0) FROM instance WHERE removed_at IS NULL").pluck(),
    retentionCandidates: db.prepare(
      `SELECT i.message, i.stored_at AS storedAt, i.file_bytes AS fileBytes, ${RETENTION_STATUS} AS status
       FROM instance i JOIN message m ON m.id = i.message
       WHERE i.removed_at IS NULL AND (i.stored_at, i.message) > (@storedAt, @message) AND i.stored_at < @before
       ORDER BY i.stored_at, i.message LIMIT @limit`,
    ),
    remove: db.prepare(
      `UPDATE instance AS i SET removed_at = @at FROM message m
       WHERE i.message = @message AND m.id = i.message AND i.removed_at IS NULL AND i.stored_at = @storedAt
         AND ${RETENTION_STATUS} = @status`,
    ),
    lastRemoved: db
      .prepare("SELECT message FROM instance WHERE removed_at IS NOT NULL ORDER BY removed_at DESC LIMIT ?")
      .pluck(),
  };
  return {
    instanceBytes(): number {
      return sql.instanceBytes.get() as number;
    },

    /** Returns a page of the instances that were stored before a time, the oldest first, after a cursor. */
    retentionCandidates(
      { storedAt, message }: Pick<RetentionCandidate, "storedAt" | "message">,
      before: number,
      limit: number,
    ) {
      return sql.retentionCandidates.all({ storedAt, message, before, limit }) as RetentionCandidate[];
    },

    /** Marks instances as removed, unless they changed since they were listed. @returns the messages of the removed ones */
    removeInstances(instances: readonly RetentionCandidate[], at: number): string[] {
      const removed = instances.filter((instance) => sql.remove.run({ ...instance, at }).changes > 0);
      return removed.map(({ message }) => message);
    },

    /** The messages of the instances that were removed last. */
    lastRemoved(limit: number): string[] {
      return sql.lastRemoved.all(limit) as string[];
    },
  };
}

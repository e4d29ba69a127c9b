import type Database from "better-sqlite3";
import type { QualityOutcome, QualityRecord } from "../../../../shared/api/quality.ts";
import { ROW_BYTES, type StoredBytes } from "./stored-bytes.ts";

// Control runs and device events, until the server has each of them. The dedupe key names a record: one with a known key changes
// nothing, so that a resend and a message that is read again are sent once.

export type QualityState = "queued" | "stored" | "rejected";

/** A record of a message with what became of it. */
export interface StoredQualityRecord {
  readonly record: QualityRecord;
  readonly state: QualityState;
  /** Why the server rejected it; null for other records. */
  readonly reason: QualityOutcome["reason"];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Null while it waits. */
  readonly settledAt: number | null;
}

export type QualityRecords = ReturnType<typeof qualityRecordsOn>;

/** Statements for the operations that file messages and remove old rows. */
export function qualityRecordsOn(db: Database.Database, storedBytes: StoredBytes) {
  const returned = `RETURNING device, length(body) + ${ROW_BYTES.study} AS bytes`;
  const sql = {
    isRejected: db.prepare("SELECT state = 'rejected' FROM quality_record WHERE dedupe_key = ?").pluck(),
    insert: db.prepare(
      `INSERT INTO quality_record (fp, dedupe_key, message, device, kind, body, state, created_at)
         VALUES (@fp, @key, @message, @device, @kind, @body, 'queued', @at) ${returned}`,
    ),
    removeRejected: db.prepare(`DELETE FROM quality_record WHERE dedupe_key = ? AND state = 'rejected' ${returned}`),
    removeOfMessage: db.prepare(`DELETE FROM quality_record WHERE message = ? AND state <> 'queued' ${returned}`),
    prune: db.prepare(`DELETE FROM quality_record WHERE settled_at < ? ${returned}`),
  };
  const count = (rows: unknown[], sign: 1 | -1) => {
    for (const { device, bytes } of rows as { device: string; bytes: number }[]) storedBytes.add(device, sign * bytes);
  };
  const isNew = ({ dedupe_key: key }: QualityRecord) => sql.isRejected.get(key) !== 0;
  return {
    /** Returns the records that `queue` would queue: new ones, and those that the server rejected and may take now. */
    unsent(records: readonly QualityRecord[]): QualityRecord[] {
      return records.filter(isNew);
    },

    queue(message: string, records: readonly QualityRecord[], at: number): void {
      // Two records of one message may have the same key.
      for (const record of records) {
        if (!isNew(record)) continue;
        const { fp, dedupe_key: key, kind, source } = record;
        count(sql.removeRejected.all(key), -1);
        const row = { fp, key, message, device: source.device_id, kind, body: JSON.stringify(record), at };
        count(sql.insert.all(row), 1);
      }
    },

    /** Removes the settled records of a message that is removed. The others hold all that the server needs. */
    removeOf(message: string): void {
      count(sql.removeOfMessage.all(message), -1);
    },

    /** Removes the records that were settled before a time, in ms since 1970. */
    prune(before: number): void {
      count(sql.prune.all(before), -1);
    },
  };
}

/** Part of operationsOn(). */
export function qualityRecordOperationsOn(db: Database.Database, records: Pick<QualityRecords, "unsent">) {
  const sql = {
    // A record that the server did not take alone waits after the others.
    next: db.prepare("SELECT body FROM quality_record WHERE state = 'queued' ORDER BY attempts, rowid LIMIT ?").pluck(),
    putBehind: db.prepare("UPDATE quality_record SET attempts = attempts + 1 WHERE fp = ?"),
    settle: db.prepare(
      `UPDATE quality_record SET state = @state, reason = @reason, settled_at = @at WHERE fp = @fp AND state = 'queued'`,
    ),
  };
  return {
    /** The first queued records, and whether more are queued. They have at most `maxChars` characters, or are one. */
    queuedQuality(limit: number, maxChars: number): { batch: QualityRecord[]; more: boolean } {
      const queued = sql.next.all(limit + 1) as string[];
      let chars = 0;
      const end = queued.findIndex((body, index) => {
        chars += body.length;
        return index > 0 && (index === limit || chars > maxChars);
      });
      const batch = end < 0 ? queued : queued.slice(0, end);
      return { batch: batch.map((body) => JSON.parse(body) as QualityRecord), more: end >= 0 };
    },

    /** Puts a record after all others, because the server gave no outcome for it alone. It stays queued. */
    putQualityBehind(fp: string): void {
      sql.putBehind.run(fp);
    },

    /** Stores the server's outcomes. */
    settleQuality(outcomes: readonly QualityOutcome[], at: number): void {
      for (const { fp, outcome, reason } of outcomes) {
        const state: QualityState = outcome === "rejected" ? "rejected" : "stored";
        sql.settle.run({ fp, state, reason: reason === null ? null : JSON.stringify(reason), at });
      }
    },

    /** The records that wait for the server. */
    waitingQuality(): { depth: number; oldestAt: number | null } {
      return waitingQuality(db);
    },

    /** The records that would be sent if a message with these were stored. */
    unsentQuality(found: readonly QualityRecord[]): QualityRecord[] {
      return records.unsent(found);
    },
  };
}

/** The records that wait for the server. */
export function waitingQuality(db: Database.Database): { depth: number; oldestAt: number | null } {
  return db
    .prepare("SELECT COUNT(*) AS depth, MIN(created_at) AS oldestAt FROM quality_record WHERE state = 'queued'")
    .get() as ReturnType<typeof waitingQuality>;
}

/** Lists the records of a message: its own, and those with the dedupe keys that are read in it, which an earlier message brought. */
export function qualityRecordsOf(
  db: Database.Database,
  message: string,
  keys: readonly string[] = [],
): StoredQualityRecord[] {
  const rows = db
    .prepare(
      `SELECT body, state, reason, created_at AS createdAt, settled_at AS settledAt FROM quality_record
       WHERE message = ? OR dedupe_key IN (SELECT value FROM json_each(?)) ORDER BY rowid`,
    )
    .all(message, JSON.stringify(keys)) as (Pick<StoredQualityRecord, "state" | "createdAt" | "settledAt"> & {
    readonly body: string;
    readonly reason: string | null;
  })[];
  return rows.map(({ body, reason, ...row }) => ({
    ...row,
    record: JSON.parse(body) as QualityRecord,
    reason: reason === null ? null : (JSON.parse(reason) as QualityOutcome["reason"]),
  }));
}

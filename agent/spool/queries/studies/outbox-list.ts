import type Database from "better-sqlite3";
import type { LocalQueuedStudy } from "../../../page/types/queue.ts";
import { waitingQuality } from "../devices/quality-records.ts";

/** Lists the studies that wait for the server, the oldest first, and counts all of them, and the quality records that wait. */
export function listOutbox(
  db: Database.Database,
  limit: number,
): { depth: number; quality: number; studies: LocalQueuedStudy[] } {
  const rows = db
    .prepare(
      `SELECT fp, revision, created_at, send_attempts, json_extract(body, '$.modality') AS modality,
         json_extract(body, '$.source.device_id') AS device, json_extract(body, '$.source.message_id') AS message
       FROM study WHERE state = 'queued' ORDER BY rowid LIMIT ?`,
    )
    .all(limit) as (Omit<LocalQueuedStudy, "created_at"> & { readonly created_at: number })[];
  const depth = db.prepare("SELECT COUNT(*) FROM study WHERE state = 'queued'").pluck().get() as number;
  const { depth: quality } = waitingQuality(db);
  return {
    depth,
    quality,
    studies: rows.map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() })),
  };
}

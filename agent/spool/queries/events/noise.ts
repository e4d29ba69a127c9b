import type Database from "better-sqlite3";
import type { NoiseEvents } from "./noise-events.ts";
import type { StoredBytes } from "../devices/stored-bytes.ts";

// Noise of each device. The newest is kept, so that a technician can find the fault of the line.

/** Max bytes of noise of a device. Beyond it, new noise replaces the oldest. */
export const NOISE_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes of a device that belong to no message. Times are in ms since 1970. */
export interface StrayBytes {
  /** Count of the stored ones, with the times of the first and the last chunk. */
  readonly bytes: number;
  readonly since: number;
  readonly at: number;
  /** The newest chunks, the oldest of them first. */
  readonly chunks: readonly { readonly at: number; readonly bytes: Uint8Array }[];
}

/**
 * Reads the noise of a device, and all its bytes since its last message: short noise has no row. @returns null without any
 * @param bytesMax bound on the bytes of `chunks`
 */
export function readStrayBytes(db: Database.Database, device: string, bytesMax: number): StrayBytes | null {
  const lastMessageAt = db.prepare("SELECT COALESCE(MAX(received_at), 0) FROM message WHERE device = ?").pluck();
  const wanted = { device, after: lastMessageAt.get(device) };
  const sum = db.prepare(`SELECT SUM(length(bytes)) AS bytes, MIN(at) AS since, MAX(at) AS at FROM (${STRAY_CHUNKS})`);
  const { bytes, ...times } = sum.get(wanted) as { bytes: number | null; since: number; at: number };
  if (bytes === null) return null;
  const chunks: { at: number; bytes: Uint8Array }[] = [];
  let length = 0;
  for (const chunk of db.prepare(`${STRAY_CHUNKS} ORDER BY id DESC`).iterate(wanted)) {
    const { at, bytes: own } = chunk as (typeof chunks)[number];
    length += own.length;
    if (length > bytesMax && chunks.length > 0) break;
    chunks.unshift({ at, bytes: own.subarray(-bytesMax) });
  }
  return { bytes, ...times, chunks };
}

const STRAY_CHUNKS = `SELECT e.id, e.at, e.bytes FROM noise n
    JOIN event e ON e.id BETWEEN n.first_event AND n.last_event AND e.session = n.session
  WHERE n.device = @device AND e.kind = 'chunk'
  UNION SELECT e.id, e.at, e.bytes FROM session s
    JOIN event e ON e.id BETWEEN s.first_event AND COALESCE(s.last_event, 9e15) AND e.session = s.id
  WHERE s.device = @device AND COALESCE(s.finished_at, @after) >= @after AND e.kind = 'chunk' AND e.at > @after`;

/** Part of operationsOn(). */
export function noiseOperationsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = {
    insert: db.prepare(
      `INSERT INTO noise (device, first_event, last_event, session, bytes)
       VALUES (@device, @firstEvent, @lastEvent, @session, @bytes) ON CONFLICT DO NOTHING`,
    ),
    bytes: db.prepare("SELECT SUM(bytes) FROM noise WHERE device = ?").pluck(),
    takeOldest: db.prepare(
      `DELETE FROM noise WHERE device = @device
         AND first_event = (SELECT MIN(first_event) FROM noise WHERE device = @device)
       RETURNING session, first_event AS firstEvent, last_event AS lastEvent, bytes`,
    ),
    removeEvents: db.prepare("DELETE FROM event WHERE id BETWEEN @firstEvent AND @lastEvent AND session = @session"),
  };
  return {
    /** Stores a run of noise and removes the oldest noise of the device beyond its bound. */
    noteNoise(device: string, events: NoiseEvents): void {
      sql.insert.run({ device, ...events });
      let kept = sql.bytes.get(device) as number;
      while (kept > NOISE_BYTES_MAX) {
        const oldest = sql.takeOldest.get({ device }) as NoiseEvents;
        sql.removeEvents.run(oldest);
        storedBytes.removed(device, oldest.session, oldest.bytes);
        kept -= oldest.bytes;
      }
    },
  };
}

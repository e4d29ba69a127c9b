import type Database from "better-sqlite3";
import type { NoiseEvents } from "./noise-events.ts";
import type { StoredBytes } from "../devices/stored-bytes.ts";

// Noise of each device. The newest is kept, so that a technician can find the fault of the line.

/** Max bytes of noise of a device. Beyond it, new noise replaces the oldest. */
export const NOISE_BYTES_MAX = 16 * 1024 * 1024;

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

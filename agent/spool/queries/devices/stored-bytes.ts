import type Database from "better-sqlite3";

// The bytes that each device takes of the spool, kept as sums, because counting them would read the complete spool. The sum
// of a device holds its messages, its studies and the events of its finished sessions.

/** Bytes that a row takes in addition to its content, with its part of the indexes. */
export const ROW_BYTES = { event: 32, message: 400, study: 400 } as const;

/** The stored bytes of the sessions that this process opened. */
export type SessionSizes = Pick<ReadonlyMap<number, number>, "get">;

export type StoredBytes = ReturnType<typeof storedBytesOn>;

/** Statements on these sums, for the operations that store and remove rows. */
export function storedBytesOn(db: Database.Database, sizes: SessionSizes) {
  const sql = {
    add: db.prepare("UPDATE device SET stored_bytes = stored_bytes + @bytes WHERE id = @device"),
    addMessage: db.prepare(
      "UPDATE device SET last_message_at = @receivedAt, stored_bytes = stored_bytes + @bytes WHERE id = @device",
    ),
    // A session of an earlier process is counted here. Its `bytes` is negative if events of it were removed.
    count: db
      .prepare(
        `SELECT COALESCE(SUM(COALESCE(length(e.bytes), 0) + ${ROW_BYTES.event}), 0) - s.bytes
         FROM session s JOIN event e ON e.id >= s.first_event AND e.session = s.id WHERE s.id = ?`,
      )
      .pluck(),
    finish: db
      .prepare(
        `UPDATE session SET finished_at = @at, bytes = bytes + @bytes, last_event = (SELECT MAX(id) FROM event)
         WHERE id = @id RETURNING device`,
      )
      .pluck(),
    remove: db.prepare("UPDATE session SET bytes = bytes - ? WHERE id = ?"),
    takeSession: db.prepare("DELETE FROM session WHERE id = ? RETURNING device, bytes").raw(),
    old: db.prepare("SELECT device, SUM(bytes) AS bytes FROM session WHERE finished_at < ? GROUP BY device"),
    pruneSessions: db.prepare("DELETE FROM session WHERE finished_at < ?"),
  };
  const add = (device: string, bytes: number) => void sql.add.run({ device, bytes });
  return {
    add,

    /** Adds a stored message, and records when the device sent it. */
    addMessage(device: string, receivedAt: number, bytes: number): void {
      sql.addMessage.run({ device, receivedAt, bytes });
    },

    /** Finishes sessions and adds their events to the sums of their devices. */
    finish(ids: readonly number[], at: number): void {
      const sums = new Map<string, number>();
      for (const id of ids) {
        const bytes = sizes.get(id) ?? (sql.count.get(id) as number | null | undefined) ?? 0;
        const device = sql.finish.get({ id, at, bytes }) as string | undefined;
        if (device !== undefined) sums.set(device, (sums.get(device) ?? 0) + bytes);
      }
      for (const [device, bytes] of sums) add(device, bytes);
    },

    /** Subtracts removed events of a session. */
    removed(device: string, session: number, bytes: number): void {
      sql.remove.run(bytes, session);
      add(device, -bytes);
    },

    /** Removes a finished session. */
    removeSession(id: number): void {
      const [device, bytes] = sql.takeSession.get(id) as [device: string, bytes: number];
      add(device, -bytes);
    },

    /** Removes sessions that were finished before a time, in ms since 1970. */
    pruneSessions(before: number): void {
      for (const { device, bytes } of sql.old.all(before) as { device: string; bytes: number }[]) add(device, -bytes);
      sql.pruneSessions.run(before);
    },
  };
}

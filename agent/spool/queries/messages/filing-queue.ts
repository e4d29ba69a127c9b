import type Database from "better-sqlite3";
import { messageReader, type StoredMessageRow } from "../events/event-log.ts";
import { MESSAGE_COLUMNS, type StoredMessage, withDamage } from "./message-row.ts";
import { NO_SESSION } from "./messages.ts";

// The messages that filing reads: unprocessed ones, ones whose patient changed, and incomplete ones.

/** Max incomplete messages of a device that a complete message is compared with. */
const INCOMPLETE_MAX = 20;
/** Max bytes of these, beyond as many as the complete message has. A hostile device leaves 20 of 16 MiB. */
const INCOMPLETE_BYTES_MAX = 1024 * 1024;

/** Part of operationsOn(). */
export function filingQueueOperationsOn(db: Database.Database) {
  const sql = {
    backlog: db.prepare("SELECT device, rowid FROM message WHERE processed_at IS NULL ORDER BY rowid").raw(),
    unprocessed: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE rowid IN (SELECT value FROM json_each(?)) AND processed_at IS NULL
         AND device = ? AND session <> ${NO_SESSION} ORDER BY rowid`,
    ),
    due: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (SELECT message FROM pending_match WHERE due = 1)
         AND session <> ${NO_SESSION} AND device IN (SELECT value FROM json_each(?)) ORDER BY rowid LIMIT ?`,
    ),
    incompleteDevices: db.prepare("SELECT DISTINCT device FROM message WHERE truncation_reason IS NOT NULL").pluck(),
    incomplete: db.prepare(
      `SELECT id, COALESCE(length, length(bytes)) AS size FROM message
         WHERE device = ? AND truncation_reason IS NOT NULL AND completed_by IS NULL ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX}`,
    ),
    withCompleted: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (SELECT value FROM json_each(?) UNION ALL
         SELECT id FROM message WHERE completed_by = ?) ORDER BY rowid DESC`,
    ),
  };
  const readMessage = messageReader(db);
  const read = (statement: Database.Statement, ...values: readonly unknown[]) =>
    (statement.all(...values) as StoredMessageRow<StoredMessage>[]).map((row) =>
      withDamage(readMessage<StoredMessage>(row), row.checksum),
    );

  return {
    /** The rows of the unprocessed messages and images of each device, oldest first. */
    backlog(): Map<string, number[]> {
      const rows = new Map<string, number[]>();
      for (const [device, row] of sql.backlog.iterate() as IterableIterator<[string, number]>) {
        const own = rows.get(device);
        if (own === undefined) rows.set(device, [row]);
        else own.push(row);
      }
      return rows;
    },

    /** The messages of these rows that are still unprocessed, without images. */
    unprocessedMessages(device: string, rows: readonly number[]): StoredMessage[] {
      return read(sql.unprocessed, JSON.stringify(rows), device);
    },

    /** The oldest messages of these devices whose awaited patient was added or changed, without images. */
    dueMessages(devices: readonly string[], limit: number): StoredMessage[] {
      return read(sql.due, JSON.stringify(devices), limit);
    },

    /** The devices with incomplete messages, completed by another message or not. */
    devicesWithIncompleteMessages(): string[] {
      return sql.incompleteDevices.all() as string[];
    },

    /**
     * Incomplete messages of a device that `completedBy`, a message of that many bytes, has completed or may complete; the latest
     * first. Messages much larger than it are left out, which bounds the bytes read.
     */
    incompleteMessages(device: string, completedBy: string, bytes: number): StoredMessage[] {
      const ids: string[] = [];
      let left = bytes + INCOMPLETE_BYTES_MAX;
      for (const { id, size } of sql.incomplete.iterate(device) as IterableIterator<{ id: string; size: number }>) {
        if (size > left) continue;
        left -= size;
        ids.push(id);
      }
      return read(sql.withCompleted, JSON.stringify(ids), completedBy).filter(({ damage }) => damage === undefined);
    },
  };
}

import type Database from "better-sqlite3";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../events/event-log.ts";
import type { StoredMessage } from "./message-row.ts";
import { NO_SESSION } from "./messages.ts";

// The messages that filing reads: unprocessed ones, those whose patient changed, and incomplete ones.

/** Max incomplete messages of a device that a complete message is compared with. */
const INCOMPLETE_MAX = 20;
const MESSAGE_COLUMNS = `id, device, profile, received_at AS receivedAt, truncation_reason AS incomplete, ${BYTES_COLUMNS}`;

/** Part of operationsOn(). */
export function filingQueueOperationsOn(db: Database.Database) {
  const sql = {
    backlog: db.prepare(
      "SELECT device, MAX(rowid) AS lastRow FROM message WHERE processed_at IS NULL GROUP BY device ORDER BY device",
    ),
    unprocessed: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE device = ? AND processed_at IS NULL AND rowid <= ?
         AND session <> ${NO_SESSION} ORDER BY rowid LIMIT ?`,
    ),
    due: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (SELECT message FROM pending_match WHERE due = 1)
         AND session <> ${NO_SESSION} AND device IN (SELECT value FROM json_each(?)) ORDER BY rowid LIMIT ?`,
    ),
    incompleteDevices: db.prepare("SELECT DISTINCT device FROM message WHERE truncation_reason IS NOT NULL").pluck(),
    incomplete: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (
         SELECT * FROM (SELECT id FROM message WHERE device = ? AND truncation_reason IS NOT NULL AND completed_by IS NULL
           ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX})
         UNION ALL SELECT id FROM message WHERE completed_by = ?)
       ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX}`,
    ),
  };
  const readMessage = messageReader(db);
  const read = (statement: Database.Statement, ...values: readonly unknown[]) =>
    (statement.all(...values) as StoredMessageRow<StoredMessage>[]).map(readMessage);

  return {
    /** The devices of unprocessed messages and images, each with the row of its last one. */
    backlog(): { device: string; lastRow: number }[] {
      return sql.backlog.all() as { device: string; lastRow: number }[];
    },

    /** The oldest unprocessed messages of a device up to a row, without images. */
    unprocessedMessages(device: string, lastRow: number, limit: number): StoredMessage[] {
      return read(sql.unprocessed, device, lastRow, limit);
    },

    /** The oldest messages of these devices whose awaited patient was added or changed, without images. */
    dueMessages(devices: readonly string[], limit: number): StoredMessage[] {
      return read(sql.due, JSON.stringify(devices), limit);
    },

    /** The devices with incomplete messages, completed by another message or not. */
    devicesWithIncompleteMessages(): string[] {
      return sql.incompleteDevices.all() as string[];
    },

    /** Incomplete messages of a device that no other message than `completedBy` has completed; the latest first. */
    incompleteMessages(device: string, completedBy: string): StoredMessage[] {
      return read(sql.incomplete, device, completedBy);
    },
  };
}

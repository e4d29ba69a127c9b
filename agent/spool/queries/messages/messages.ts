import type Database from "better-sqlite3";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../events/event-log.ts";
import type { MessageState } from "./message-outcome.ts";
import { type MessageRow, messageRow, type NewMessage, type StoredMessage } from "./message-row.ts";
import { type StoredBytes, ROW_BYTES } from "../devices/stored-bytes.ts";

// Messages: stored with the group that completes them, read by filing.

/** Max incomplete messages of a device that a complete message is compared with. */
const INCOMPLETE_MAX = 20;
/** The session of messages that are image files: no events made them, and the study assembly files them. */
export const NO_SESSION = 0;
const MESSAGE_COLUMNS = `id, device, profile, received_at AS receivedAt, truncation_reason AS incomplete, ${BYTES_COLUMNS}`;

/** Part of operationsOn(). */
export function messageOperationsOn(db: Database.Database, room: StoredBytes) {
  const sql = {
    insertMessage: db.prepare(
      `INSERT INTO message (id, session, ordinal, device, profile, received_at, truncation_reason, duplicate_key, state,
         bytes, first_event, last_event, start, length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', COALESCE(?, x''), ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    readAgain: db
      .prepare(
        `UPDATE message SET processed_at = NULL WHERE device = ? AND duplicate_key = ? AND NOT EXISTS
           (SELECT 1 FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision > l.revision WHERE l.message = message.id)
         RETURNING id`,
      )
      .pluck(),
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
    incompletes: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (
         SELECT * FROM (SELECT id FROM message WHERE device = ? AND truncation_reason IS NOT NULL AND completed_by IS NULL
           ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX})
         UNION ALL SELECT id FROM message WHERE completed_by = ?)
       ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX}`,
    ),
    countMessages: db.prepare("SELECT state, COUNT(*) AS count FROM message GROUP BY state"),
  };
  const asMessage = messageReader(db);

  /**
   * Stores messages and returns for each the id that filing reads. A known session and ordinal is left unchanged.
   * A resend returns the id of the first message, because its patient may be known by now.
   * @returns null instead of an id if a later message has changed the study since
   */
  function addMessages(rows: readonly MessageRow[]): (string | null)[] {
    const received = new Map<string, { receivedAt: number; bytes: number }>();
    const ids = rows.map((row) => {
      const [id, , , device, , receivedAt, , duplicateKey, own] = row;
      const isNew = sql.insertMessage.run(row).changes > 0;
      const stored = isNew ? (own?.length ?? 0) + ROW_BYTES.message : 0;
      received.set(device, { receivedAt, bytes: (received.get(device)?.bytes ?? 0) + stored });
      if (isNew || duplicateKey === null) return id;
      return (sql.readAgain.get(device, duplicateKey) as string | undefined) ?? null;
    });
    for (const [device, { receivedAt, bytes }] of received) room.addMessage(device, receivedAt, bytes);
    return ids;
  }

  return {
    addMessages,

    addMessage(message: NewMessage, duplicateKey: string | null = null): string | null {
      return addMessages([messageRow(message, duplicateKey)])[0]!;
    },

    /** The devices of unprocessed messages and images, each with the row of its last one. */
    backlog(): { device: string; lastRow: number }[] {
      return sql.backlog.all() as { device: string; lastRow: number }[];
    },

    /** The oldest unprocessed messages of a device up to a row, without images. */
    unprocessedMessages(device: string, lastRow: number, limit: number): StoredMessage[] {
      return (sql.unprocessed.all(device, lastRow, limit) as StoredMessageRow<StoredMessage>[]).map(asMessage);
    },

    /** The oldest messages of these devices whose awaited patient was added or changed, without images. */
    dueMessages(devices: readonly string[], limit: number): StoredMessage[] {
      return (sql.due.all(JSON.stringify(devices), limit) as StoredMessageRow<StoredMessage>[]).map(asMessage);
    },

    /** The devices with truncated messages, completed or not. */
    devicesWithIncompleteMessages(): string[] {
      return sql.incompleteDevices.all() as string[];
    },

    /** Incomplete messages of a device that no other message than `completedBy` has completed; the latest first. */
    incompleteMessages(device: string, completedBy: string): StoredMessage[] {
      return (sql.incompletes.all(device, completedBy) as StoredMessageRow<StoredMessage>[]).map(asMessage);
    },

    countMessages(): { state: MessageState; count: number }[] {
      return sql.countMessages.all() as { state: MessageState; count: number }[];
    },
  };
}

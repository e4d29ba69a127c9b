import type Database from "better-sqlite3";
import { decodeTime, encodeTime } from "ulid";
import { ROW_BYTES, type StoredBytes } from "../devices/stored-bytes.ts";
import type { MessageState } from "./message-outcome.ts";
import { messageReader, type StoredMessageRow } from "../events/event-log.ts";
import {
  MESSAGE_COLUMNS,
  type MessageRow,
  messageRow,
  type NewMessage,
  type StoredMessage,
  withDamage,
} from "./message-row.ts";

// Storage of messages, with the group that completes them.

/** The session of messages that are image files. No events made them, and the study assembly files them. */
export const NO_SESSION = 0;

/** Messages of a device that cannot be filed, until they are processed again. */
export interface QuarantinedMessages {
  readonly device: string;
  readonly count: number;
  /** Time of the latest one, in ms since 1970. */
  readonly lastAt: number;
}

/** Part of operationsOn(). */
export function messageOperationsOn(db: Database.Database, storedBytes: StoredBytes) {
  const readMessage = messageReader(db);
  const sql = {
    insert: db.prepare(
      `INSERT INTO message (id, session, ordinal, device, profile, received_at, truncation_reason, duplicate_key, state,
         bytes, first_event, last_event, start, length, checksum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', COALESCE(?, x''), ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    duplicate: db.prepare(`SELECT ${MESSAGE_COLUMNS} FROM message WHERE duplicate_key = ? AND device = ?`),
    forgetKey: db.prepare("UPDATE message SET duplicate_key = NULL WHERE duplicate_key = ? AND device = ?"),
    readAgain: db
      .prepare(
        `UPDATE message SET processed_at = NULL WHERE device = ? AND duplicate_key = ? AND NOT EXISTS
           (SELECT 1 FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision > l.revision WHERE l.message = message.id)
         RETURNING id`,
      )
      .pluck(),
    // Ids start with their time, and no index has the time of receipt.
    countsSince: db.prepare(
      `SELECT device, state, COUNT(*) AS count FROM message WHERE id >= @first AND received_at >= @since AND completed_by IS NULL
       GROUP BY device, state`,
    ),
    quarantined: db.prepare(
      `SELECT device, COUNT(*) AS count, MAX(id) AS last FROM message
       WHERE state = 'quarantined' AND completed_by IS NULL GROUP BY device`,
    ),
    counts: db.prepare("SELECT state, COUNT(*) AS count FROM message GROUP BY state"),
  };

  /** Gives up the duplicate key of a damaged message, so that its resend is stored as a message of its own. */
  function forgetDamaged(device: string, duplicateKey: string): boolean {
    const row = sql.duplicate.get(duplicateKey, device) as StoredMessageRow<StoredMessage> | undefined;
    if (row === undefined || withDamage(readMessage<StoredMessage>(row), row.checksum).damage === undefined)
      return false;
    return sql.forgetKey.run(duplicateKey, device).changes > 0;
  }

  /**
   * Stores messages and returns for each the id that filing reads. A known session and ordinal is left unchanged.
   * A resend returns the id of the first message, because its patient may be known by now.
   * @returns null instead of an id if a later message has changed the study since
   */
  function addMessages(rows: readonly MessageRow[]): (string | null)[] {
    const received = new Map<string, { receivedAt: number; bytes: number }>();
    const ids = rows.map((row) => {
      const [id, , , device, , receivedAt, , duplicateKey, own] = row;
      const isStored = () => sql.insert.run(row).changes > 0;
      const isNew = isStored() || (duplicateKey !== null && forgetDamaged(device, duplicateKey) && isStored());
      const stored = isNew ? (own?.length ?? 0) + ROW_BYTES.message : 0;
      received.set(device, { receivedAt, bytes: (received.get(device)?.bytes ?? 0) + stored });
      if (isNew || duplicateKey === null) return id;
      return (sql.readAgain.get(device, duplicateKey) as string | undefined) ?? null;
    });
    for (const [device, { receivedAt, bytes }] of received) storedBytes.addMessage(device, receivedAt, bytes);
    return ids;
  }

  return {
    addMessages,

    addMessage(message: NewMessage, duplicateKey: string | null = null): string | null {
      return addMessages([messageRow(message, duplicateKey)])[0]!;
    },

    /** Counts the messages since a time by device and state. A message that a later one completed counts once. */
    countMessagesSince(since: number): { device: string; state: MessageState; count: number }[] {
      const first = encodeTime(since);
      return sql.countsSince.all({ first, since }) as { device: string; state: MessageState; count: number }[];
    },

    /** Counts the messages that cannot be filed, by device. */
    quarantinedMessages(): QuarantinedMessages[] {
      const rows = sql.quarantined.all() as { device: string; count: number; last: string }[];
      return rows.map(({ device, count, last }) => ({ device, count, lastAt: decodeTime(last) }));
    },

    countMessages(): { state: MessageState; count: number }[] {
      return sql.counts.all() as { state: MessageState; count: number }[];
    },
  };
}

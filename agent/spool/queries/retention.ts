import type Database from "better-sqlite3";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "./events/event-log.ts";
import { NO_SESSION } from "./messages/messages.ts";
import { type StoredBytes, ROW_BYTES } from "./devices/stored-bytes.ts";
import type { SessionOperations } from "./events/sessions.ts";
import type { PendingMatches } from "./patients/pending-matches.ts";
import type { RegistryChanges } from "./patients/registry-changes.ts";
import type { QualityRecords } from "./devices/quality-records.ts";

// Removal of old rows. Rows that need the server or a user stay.

/** Time for which messages with an outcome and their chunks stay, for support and replay. Other messages stay. */
export const MESSAGES_KEPT_MS = 30 * 24 * 60 * 60_000;

/** Time for which settled studies stay longer, in ms. The server identifies a resend of an older one by its dedupe key. */
const STUDIES_KEPT_LONGER_MS = 365 * 24 * 60 * 60_000;

interface SettledSession {
  readonly id: number;
  readonly firstEvent: number;
  readonly lastEvent: number;
}

/** The SQL of the operations below. */
function statementsOn(db: Database.Database) {
  return {
    pruneDeviceReports: db.prepare("DELETE FROM device_report WHERE topic = 'event' AND at < ?"),
    oldestKept: db.prepare("SELECT id AS session, first_event AS event FROM session ORDER BY id LIMIT 1"),
    nthEvent: db.prepare("SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ?").pluck(),
    withPlaceBefore: db.prepare(
      `SELECT id, ${BYTES_COLUMNS} FROM message WHERE session < @session AND first_event < @event`,
    ),
    keepBytes: db
      .prepare(
        `UPDATE message SET bytes = @bytes, first_event = NULL, last_event = NULL, start = NULL, length = NULL
         WHERE id = @id RETURNING device`,
      )
      .pluck(),
    pruneEvents: db.prepare("DELETE FROM event WHERE id < ?"),
    pruneNoise: db.prepare("DELETE FROM noise WHERE last_event < ?"),
    oldMessages: db
      .prepare(
        `SELECT id FROM message WHERE session > ${NO_SESSION} AND session < @session AND received_at < @before
           AND state IN ('filed', 'not-for-patients') LIMIT @limit`,
      )
      .pluck(),
    deleteMessage: db.prepare(
      `DELETE FROM message WHERE id = ? RETURNING device, length(bytes) + ${ROW_BYTES.message} AS bytes`,
    ),
    settledSessions: db.prepare(
      `SELECT id, first_event AS firstEvent, last_event AS lastEvent FROM session s
       WHERE last_event IS NOT NULL AND device IN (SELECT value FROM json_each(@devices)) AND NOT EXISTS (
         SELECT 1 FROM message m WHERE m.session = s.id AND m.state NOT IN ('filed', 'not-for-patients'))
       ORDER BY id LIMIT @limit`,
    ),
    sessionMessages: db.prepare("SELECT id FROM message WHERE session = ?").pluck(),
    deleteSessionEvents: db.prepare("DELETE FROM event WHERE id BETWEEN @firstEvent AND @lastEvent AND session = @id"),
    deleteSessionNoise: db.prepare("DELETE FROM noise WHERE session = ?"),
    // A document is kept longer than its message, and is found by its study.
    deleteLinks: db.prepare(
      `DELETE FROM message_study WHERE message = @id
         AND NOT EXISTS (SELECT 1 FROM folder_file WHERE message = @id AND bytes IS NOT NULL)`,
    ),
    deleteLinksOfOldFiles: db.prepare(
      `DELETE FROM message_study WHERE message IN (SELECT message FROM folder_file WHERE received_at < @before AND bytes IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM message WHERE id = message_study.message)`,
    ),
    pruneFiles: db.prepare(
      `DELETE FROM folder_file WHERE received_at < ?
       RETURNING device, COALESCE(length(bytes), 0) + COALESCE(length(text), 0) + ${ROW_BYTES.message} AS bytes`,
    ),
    pruneStudies: db.prepare(
      `DELETE FROM study WHERE settled_at < ?
       RETURNING CASE WHEN json_valid(body) THEN json_extract(body, '$.source.device_id') END AS device, length(body) + length(snapshot) + ${ROW_BYTES.study} AS bytes`,
    ),
  };
}

/** Rows of other tables that go with their message. */
interface RowsOfMessages {
  readonly pendingMatches: PendingMatches;
  readonly registryChanges: RegistryChanges;
  readonly qualityRecords: QualityRecords;
}

/** Part of operationsOn(). */
export function retentionOperationsOn(
  db: Database.Database,
  { nextIds }: Pick<SessionOperations, "nextIds">,
  { pendingMatches, registryChanges, qualityRecords }: RowsOfMessages,
  storedBytes: StoredBytes,
) {
  const sql = statementsOn(db);
  const asMessage = messageReader(db);

  /** Removes the oldest events before `kept`. A message that stays gets the bytes that it had in the event log. */
  function pruneEvents(kept: { session: number; event: number }, limit: number): number {
    const end = Math.min(kept.event, (sql.nthEvent.get(limit) as number | undefined) ?? kept.event);
    const rows = sql.withPlaceBefore.all({ ...kept, event: end });
    for (const row of rows as StoredMessageRow<{ id: string; bytes: Uint8Array }>[]) {
      const message = asMessage(row);
      storedBytes.add(sql.keepBytes.get(message) as string, message.bytes.length);
    }
    sql.pruneNoise.run(end);
    return sql.pruneEvents.run(end).changes;
  }

  function pruneMessages(session: number, before: number, limit: number): number {
    const ids = sql.oldMessages.all({ session, before, limit }) as string[];
    removeMessages(ids);
    return ids.length;
  }

  function removeMessages(ids: readonly string[]): void {
    for (const id of ids) {
      const { device, bytes } = sql.deleteMessage.get(id) as { device: string; bytes: number };
      storedBytes.add(device, -bytes);
      sql.deleteLinks.run({ id });
      pendingMatches.set(id, null);
      registryChanges.removeOf(id);
      qualityRecords.removeOf(id);
    }
  }

  return {
    /** Removes at most `limit` old rows of each kind, except unsettled ones. @returns whether there may be more */
    prune(before: number, limit: number): boolean {
      storedBytes.pruneSessions(before);
      sql.pruneDeviceReports.run(before);
      qualityRecords.prune(before);
      const studies = sql.pruneStudies.all(before - STUDIES_KEPT_LONGER_MS) as {
        device: string | null;
        bytes: number;
      }[];
      sql.deleteLinksOfOldFiles.run({ before: before - STUDIES_KEPT_LONGER_MS });
      const files = sql.pruneFiles.all(before - STUDIES_KEPT_LONGER_MS) as { device: string; bytes: number }[];
      for (const { device, bytes } of files) storedBytes.add(device, -bytes);
      // A damaged study may name no device.
      for (const { device, bytes } of studies) if (device !== null) storedBytes.add(device, -bytes);
      // All events from the first one of the oldest kept session on are kept.
      const kept = (sql.oldestKept.get() as { session: number; event: number } | undefined) ?? nextIds();
      const messages = pruneMessages(kept.session, before, limit);
      const events = pruneEvents(kept, limit);
      return Math.max(events, messages) >= limit;
    },

    /**
     * Removes the oldest sessions of these devices whose messages are all settled, with their events and messages. It goes by ids
     * and not by times, because a wrong clock must not keep a device refused. @returns whether there may be more
     */
    makeRoom(devices: readonly string[], limit: number): boolean {
      const sessions = sql.settledSessions.all({ devices: JSON.stringify(devices), limit }) as SettledSession[];
      for (const session of sessions) {
        sql.deleteSessionEvents.run(session);
        sql.deleteSessionNoise.run(session.id);
        removeMessages(sql.sessionMessages.all(session.id) as string[]);
        storedBytes.removeSession(session.id);
      }
      return sessions.length === limit;
    },
  };
}

/** The messages that the spool keeps, and the ones to remove next. */
export interface Retention {
  readonly kept_days: number;
  /** Bytes of the database that are in use. */
  readonly bytes: number;
  /** Messages that are removed when they are old enough. */
  readonly settled: number;
  /** Messages that stay until a user or the server settles them. */
  readonly unsettled: number;
  /** The time from which the oldest settled message is removed; null without one. */
  readonly next_removal_at: string | null;
}

export function readRetention(db: Database.Database): Retention {
  const kept = `session > ${NO_SESSION} AND state IN ('filed', 'not-for-patients')`;
  const { settled, unsettled } = db
    .prepare(
      `SELECT COUNT(*) FILTER (WHERE ${kept}) AS settled,
         COUNT(*) FILTER (WHERE state IN ('unmatched', 'quarantined')) AS unsettled FROM message`,
    )
    .get() as { settled: number; unsettled: number };
  // Ids start with their time.
  const oldest = db.prepare(`SELECT received_at FROM message WHERE ${kept} ORDER BY id LIMIT 1`).pluck().get();
  const [pages = 0, free = 0, pageBytes = 0] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(db.pragma(name, { simple: true })),
  );
  return {
    kept_days: MESSAGES_KEPT_MS / (24 * 60 * 60_000),
    bytes: (pages - free) * pageBytes,
    settled,
    unsettled,
    next_removal_at: oldest === undefined ? null : new Date((oldest as number) + MESSAGES_KEPT_MS).toISOString(),
  };
}

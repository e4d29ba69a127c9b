import type Database from "better-sqlite3";
import type { MessageState } from "./message-outcome.ts";

export interface MessageSummary {
  readonly id: string;
  readonly device: string;
  readonly received_at: string;
  readonly state: MessageState;
  readonly reason: string | null;
  readonly study_fps: readonly string[];
  /** Numbers of the samples as the device sent them. Absent without any. */
  readonly sample_ids?: readonly string[];
}

/**
 * Lists the messages, the oldest first. An incomplete message has the state of the message that completed it. `behind` selects
 * the messages that were stored after a row, and those with the given ids.
 */
export function listMessages(
  db: Database.Database,
  behind: { row: number; ids: readonly string[] } = EVERY_ROW,
): MessageSummary[] {
  const rows = db
    .prepare(
      `SELECT m.id, m.device, m.received_at, COALESCE(c.state, m.state) AS state,
         CASE WHEN c.id IS NULL THEN m.reason ELSE 'incomplete, completed by ' || c.id END AS reason,
         (SELECT json_group_array(DISTINCT COALESCE(s.existing_fp, s.fp)) FROM message_study l
            JOIN study s ON s.fp = l.fp AND s.revision = l.revision WHERE l.message = COALESCE(c.id, m.id)) AS fps,
         (SELECT json_group_array(DISTINCT i.value) FROM message_study l
            JOIN study s ON s.fp = l.fp AND s.revision = l.revision, json_each(s.body, '$.source.sample_ids') i
            WHERE l.message = COALESCE(c.id, m.id)) AS sampleIds
       FROM message m LEFT JOIN message c ON c.id = m.completed_by
       WHERE m.rowid > @row OR m.id IN (SELECT value FROM json_each(@ids)) ORDER BY m.received_at, m.rowid`,
    )
    .all({ row: behind.row, ids: JSON.stringify(behind.ids) }) as {
    id: string;
    device: string;
    received_at: number;
    state: MessageState;
    reason: string | null;
    fps: string;
    sampleIds: string;
  }[];
  return rows.map(({ id, device, received_at, state, reason, fps, sampleIds }) => ({
    id,
    device,
    received_at: new Date(received_at).toISOString(),
    state,
    reason,
    study_fps: JSON.parse(fps) as string[],
    ...(sampleIds === "[]" ? {} : { sample_ids: JSON.parse(sampleIds) as string[] }),
  }));
}

const EVERY_ROW = { row: 0, ids: [] };

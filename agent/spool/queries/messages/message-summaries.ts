import type Database from "better-sqlite3";
import { shownReason } from "../../../page/types/message-codes.ts";
import type { MessageState } from "./message-outcome.ts";

export interface MessageSummary {
  readonly id: string;
  readonly device: string;
  readonly received_at: string;
  readonly state: MessageState;
  readonly reason: string | null;
  /** A MessageCode. Absent without one. */
  readonly code?: string;
  readonly study_fps: readonly string[];
  /** Numbers of the samples as the device sent them. Absent without any. */
  readonly sample_ids?: readonly string[];
}

/**
 * Lists the messages, the oldest first. An incomplete message has the state of the message that completed it. `behind` selects the
 * messages that were stored after a row, or have one of the ids.
 */
export function listMessages(
  db: Database.Database,
  behind: { row: number; ids: readonly string[] } = EVERY_ROW,
): MessageSummary[] {
  const rows = db
    .prepare(
      `${SUMMARIES} WHERE m.rowid > @row OR m.id IN (SELECT value FROM json_each(@ids)) ORDER BY m.received_at, m.rowid`,
    )
    .all({ row: behind.row, ids: JSON.stringify(behind.ids) }) as SummaryRow[];
  return rows.map(asSummary);
}

const EVERY_ROW = { row: 0, ids: [] };

/** Rows that one page searches. A rare state must not read the complete table while devices wait. */
const SEARCHED_ROWS = 20_000;

export interface MessagePage {
  /** The newest first. */
  readonly messages: readonly MessageSummary[];
  /** The row where the next page starts; null after the last message. */
  readonly next: number | null;
}

/** Returns a page of messages. `before` is the `next` of the page before; null starts at the newest message. */
export function pageOfMessages(
  db: Database.Database,
  wanted: { readonly state: string | null; readonly device: string | null },
  before: number | null,
  limit: number,
): MessagePage {
  const below = before ?? (db.prepare("SELECT COALESCE(MAX(rowid), 0) + 1 FROM message").pluck().get() as number);
  const rows = db
    .prepare(
      `${SUMMARIES} WHERE m.rowid < @below AND m.rowid >= @below - ${SEARCHED_ROWS} AND (@device IS NULL OR m.device = @device)
         AND (@state IS NULL OR COALESCE(c.state, m.state) = @state) ORDER BY m.rowid DESC LIMIT @limit`,
    )
    .all({ below, ...wanted, limit }) as SummaryRow[];
  const end = rows.length === limit ? rows.at(-1)!.row : below - SEARCHED_ROWS;
  const hasMore = db.prepare("SELECT 1 FROM message WHERE rowid < ? LIMIT 1").get(end) !== undefined;
  return { messages: rows.map(asSummary), next: hasMore ? end : null };
}

const SUMMARIES = `SELECT m.rowid AS row, m.id, m.device, m.received_at, COALESCE(c.state, m.state) AS state,
  CASE WHEN c.id IS NULL THEN m.reason ELSE 'incomplete, completed by ' || c.id END AS reason,
  CASE WHEN c.id IS NULL THEN m.code END AS code,
  (SELECT json_group_array(DISTINCT COALESCE(s.existing_fp, s.fp)) FROM message_study l
     JOIN study s ON s.fp = l.fp AND s.revision = l.revision WHERE l.message = COALESCE(c.id, m.id)) AS fps,
  (SELECT json_group_array(DISTINCT i.value) FROM message_study l
     JOIN study s ON s.fp = l.fp AND s.revision = l.revision, json_each(CASE WHEN json_valid(s.body) THEN s.body ELSE '{}' END, '$.source.sample_ids') i
     WHERE l.message = COALESCE(c.id, m.id)) AS sampleIds
  FROM message m LEFT JOIN message c ON c.id = m.completed_by`;

interface SummaryRow {
  readonly row: number;
  readonly id: string;
  readonly device: string;
  readonly received_at: number;
  readonly state: MessageState;
  readonly reason: string | null;
  readonly code: string | null;
  readonly fps: string;
  readonly sampleIds: string;
}

function asSummary({ id, device, received_at, state, reason, code, fps, sampleIds }: SummaryRow): MessageSummary {
  return {
    id,
    device,
    received_at: new Date(received_at).toISOString(),
    state,
    ...shownReason({ code, reason }),
    study_fps: JSON.parse(fps) as string[],
    ...(sampleIds === "[]" ? {} : { sample_ids: JSON.parse(sampleIds) as string[] }),
  };
}

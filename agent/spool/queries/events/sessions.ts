import type Database from "better-sqlite3";
import { eventCheck } from "../checks/row-checks.ts";
import type { EventKind } from "./event-log.ts";
import type { StoredBytes } from "../devices/stored-bytes.ts";

// Sessions of devices and the ids of their events. A session ends when its link is idle; a long connection has many.

export interface UnfinishedSession {
  readonly id: number;
  readonly device: string;
  readonly profile: string;
  readonly events: readonly {
    readonly id: number;
    readonly kind: EventKind;
    readonly at: number;
    readonly bytes: Uint8Array | null;
    /** The content of a damaged event, which is a gap. Absent for others. */
    readonly damagedBytes?: Uint8Array | null;
  }[];
}

/** SQL for the next id in the commit mark. It covers rows that were pruned or lost. */
function markedId(kind: "session" | "event"): string {
  return `COALESCE((SELECT json_extract(value, '$.next.${kind}') FROM meta WHERE key = 'mark'), 1)`;
}

export type SessionOperations = ReturnType<typeof sessionOperationsOn>;

/** Part of operationsOn(). */
export function sessionOperationsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = {
    nextSession: db
      .prepare(
        `SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM session) + 1, (SELECT COALESCE(MAX(session), 0) FROM message) + 1,
           ${markedId("session")})`,
      )
      .pluck(),
    unfinished: db.prepare(
      "SELECT id, device, profile, first_event FROM session WHERE finished_at IS NULL ORDER BY id",
    ),
    nextEvent: db.prepare(`SELECT MAX(COALESCE(MAX(id), 0) + 1, ${markedId("event")}) FROM event`).pluck(),
    eventsOf: db.prepare(
      `SELECT id, session, kind, at, bytes, checksum FROM event
       WHERE id >= ? AND (session = ? OR session NOT IN (SELECT id FROM session)) ORDER BY id`,
    ),
  };
  return {
    nextIds() {
      return { session: sql.nextSession.get() as number, event: sql.nextEvent.get() as number };
    },

    /** Sessions that an earlier process left open, with all their events. A damaged event is a gap. */
    unfinishedSessions(): UnfinishedSession[] {
      const rows = sql.unfinished.all() as { id: number; device: string; profile: string; first_event: number }[];
      return rows.map(({ id, device, profile, first_event }) => ({
        id,
        device,
        profile,
        // An event of no session is one of this session if it is damaged.
        events: (sql.eventsOf.all(first_event, id) as EventRow[])
          .filter((event) => event.session === id || !eventCheck.isWhole(event))
          .map(asEvent),
      }));
    },

    finishSessions(ids: readonly number[], at: number): void {
      storedBytes.finish(ids, at);
    },

    /** The journal mode, and the synchronous mode of this group's commit (2: FULL). Tests of durability use it. */
    durability(): { journal: unknown; synchronous: unknown } {
      return {
        journal: db.pragma("journal_mode", { simple: true }),
        synchronous: db.pragma("synchronous", { simple: true }),
      };
    },
  };
}

type UnfinishedEvent = UnfinishedSession["events"][number];

type EventRow = UnfinishedEvent & { readonly session: number; readonly checksum: number | null };

/** The link takes a gap as lost bytes: a message of a damaged event and of others is incomplete. */
function asEvent(row: EventRow): UnfinishedEvent {
  const { id, at, kind, bytes } = row;
  return eventCheck.isWhole(row) ? { id, kind, at, bytes } : { id, kind: "gap", at, bytes: null, damagedBytes: bytes };
}

import type Database from "better-sqlite3";
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
  }[];
}

export type SessionOperations = ReturnType<typeof sessionOperationsOn>;

/** Part of operationsOn(). */
export function sessionOperationsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = {
    nextSession: db
      .prepare(
        "SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM session), (SELECT COALESCE(MAX(session), 0) FROM message)) + 1",
      )
      .pluck(),
    unfinished: db.prepare(
      "SELECT id, device, profile, first_event FROM session WHERE finished_at IS NULL ORDER BY id",
    ),
    // The last events of a session may be removed as noise.
    nextEvent: db
      .prepare(
        "SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM event), (SELECT COALESCE(MAX(last_event), 0) FROM session)) + 1",
      )
      .pluck(),
    eventsOf: db.prepare("SELECT id, kind, at, bytes FROM event WHERE id >= ? AND session = ? ORDER BY id"),
  };
  return {
    nextIds() {
      return { session: sql.nextSession.get() as number, event: sql.nextEvent.get() as number };
    },

    /** Sessions that an earlier process left open, with all their events. */
    unfinishedSessions(): UnfinishedSession[] {
      const rows = sql.unfinished.all() as { id: number; device: string; profile: string; first_event: number }[];
      return rows.map(({ id, device, profile, first_event }) => ({
        id,
        device,
        profile,
        events: sql.eventsOf.all(first_event, id) as UnfinishedSession["events"],
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

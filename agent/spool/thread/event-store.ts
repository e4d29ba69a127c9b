import type Database from "better-sqlite3";
import type { Reserve } from "./reserve.ts";
import type { Room } from "./room.ts";
import { type Batch, type OpenedSession, unpackEvents } from "./wire-format.ts";

export interface StoredEvents {
  /** The events that were not stored, by their index in the group, with the reason. */
  readonly refused: readonly (readonly [index: number, reason: string])[];
  /** The sessions with a refused event and no gap after it. */
  readonly broken: ReadonlySet<number>;
  /** The session and the length of each stored event. */
  readonly stored: readonly (readonly [session: number, bytes: number])[];
}

/**
 * Stores the events of a group. After a refusal it refuses the later events of that session until a "gap", so that no replay
 * reads a session as if nothing were missing.
 */
export class EventStore {
  readonly #insertSession: Database.Statement;
  readonly #insertEvent: Database.Statement;
  readonly #room: Room;
  readonly #reserve: Reserve;
  #broken: ReadonlySet<number> = new Set();
  /** Sessions without a stored event. A refused device takes no room, however often it connects. */
  readonly #unstored = new Map<number, OpenedSession>();

  constructor(db: Database.Database, room: Room, reserve: Reserve) {
    this.#insertSession = db.prepare(
      "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (@id, @device, @profile, @firstEvent, @at)",
    );
    this.#insertEvent = db.prepare("INSERT INTO event (id, session, kind, at, bytes) VALUES (?, ?, ?, ?, ?)");
    this.#room = room;
    this.#reserve = reserve;
  }

  /** Opens the sessions of a group. Each is stored with its first event. */
  open(batches: readonly Batch[]): void {
    for (const session of batches.flatMap(({ opened }) => opened)) {
      this.#unstored.set(session.id, session);
      this.#room.open(session.id, session.device);
    }
  }

  /** Stores the events inside the transaction. It changes nothing but the database, because the commit may fail. */
  store(batches: readonly Batch[]): StoredEvents {
    const refusal = this.#reserve.isGivenUp ? () => "the disk is full" : this.#room.refusal();
    const refused: [number, string][] = [];
    const broken = new Set(this.#broken);
    const stored: [number, number][] = [];
    const begun = new Set<number>();
    let index = 0;
    for (const { events } of batches) {
      unpackEvents(events, (id, session, kind, at, bytes) => {
        const isAfterRefusal = broken.has(session) && kind !== "gap";
        const length = bytes?.length ?? 0;
        const reason = isAfterRefusal ? "an event before it was refused" : refusal(session, length);
        if (reason === null) {
          const opened = begun.has(session) ? undefined : this.#unstored.get(session);
          if (opened !== undefined) this.#insertSession.run(opened);
          begun.add(session);
          this.#insertEvent.run(id, session, kind, at, bytes);
          broken.delete(session);
          stored.push([session, length]);
        } else {
          broken.add(session);
          refused.push([index, reason]);
        }
        index += 1;
      });
    }
    return { refused, broken, stored };
  }

  /** Records the outcome of a group after its commit. */
  committed({ broken, stored }: StoredEvents): void {
    this.#broken = broken;
    for (const [session, bytes] of stored) {
      this.#unstored.delete(session);
      this.#room.add(session, bytes);
    }
  }

  /** Marks the sessions of a group whose commit failed. */
  failed(batches: readonly Batch[]): void {
    const broken = new Set(this.#broken);
    for (const { events } of batches) unpackEvents(events, (_, session) => void broken.add(session));
    this.#broken = broken;
  }

  /** Forgets sessions that have no further event. A device that is refused opens new ones without end. */
  finish(sessions: readonly number[]): void {
    this.#room.finish(sessions);
    for (const session of sessions) this.#unstored.delete(session);
    const finished = new Set(sessions);
    if (this.#broken.size > 0) this.#broken = new Set([...this.#broken].filter((session) => !finished.has(session)));
  }
}

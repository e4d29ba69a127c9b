import type Database from "better-sqlite3";
import { ROW_BYTES, type SessionSizes } from "./queries/devices/stored-bytes.ts";

// The room that each device takes in the spool. Events of devices are refused at a bound below SQLite's own, because the
// agent's own operations need room beyond it. They settle acknowledged messages, prune and stop.

/** Bytes above the bound that are reserved for operations of the agent itself. */
export const RESERVE_BYTES = 64 * 1024 * 1024;
/** Max share of one device. Beyond it, the events of that device are refused until rows are pruned. */
const DEVICE_SHARE = 0.5;
/** The spool is short of room if a smaller share is left. */
const SHORT_SHARE = 0.1;

/** Returns the reason why an event of that many bytes is refused; null if it is accepted. */
export type Refusal = (session: number, bytes: number) => string | null;

interface OpenSession {
  readonly device: string;
  bytes: number;
}

export class Room {
  readonly #bytesMax: number;
  readonly #taken: Database.Statement;
  readonly #sums: Database.Statement;
  /** The sessions that this process opened and has not finished. */
  readonly #sessions = new Map<number, OpenSession>();
  /** The bytes of the database before the last group. */
  #takenBytes = 0;

  constructor(db: Database.Database, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#taken = db
      .prepare(
        `SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
      )
      .pluck();
    this.#sums = db.prepare("SELECT id, stored_bytes FROM device").raw();
  }

  get sizes(): SessionSizes {
    return { get: (session) => this.#sessions.get(session)?.bytes };
  }

  get isShort(): boolean {
    return this.#takenBytes > this.#bytesMax * (1 - SHORT_SHARE);
  }

  open(session: number, device: string): void {
    this.#sessions.set(session, { device, bytes: 0 });
  }

  /** Adds a stored event of that many bytes. */
  add(session: number, bytes: number): void {
    const open = this.#sessions.get(session);
    if (open !== undefined) open.bytes += bytes + ROW_BYTES.event;
  }

  finish(sessions: readonly number[]): void {
    for (const session of sessions) this.#sessions.delete(session);
  }

  /** Returns the decision about the events of one group, which are given to it in order. */
  refusal(): Refusal {
    let taken = this.#taken.get() as number;
    this.#takenBytes = taken;
    const share = this.#bytesMax * DEVICE_SHARE;
    let sums: Map<string, number> | null = null;
    return (session, length) => {
      const bytes = length + ROW_BYTES.event;
      if (taken + bytes > this.#bytesMax) return `the spool is full: ${megabytes(this.#bytesMax)} MB at most`;
      const device = this.#sessions.get(session)?.device;
      // While all devices together take less than the share, each of them does.
      if (taken + bytes > share && device !== undefined) {
        sums ??= this.#deviceSums();
        const sum = (sums.get(device) ?? 0) + bytes;
        if (sum > share)
          return `the device takes its share of the spool: ${megabytes(share)} of ${megabytes(this.#bytesMax)} MB`;
        sums.set(device, sum);
      }
      taken += bytes;
      return null;
    };
  }

  #deviceSums(): Map<string, number> {
    const sums = new Map(this.#sums.all() as [string, number][]);
    for (const { device, bytes } of this.#sessions.values()) sums.set(device, (sums.get(device) ?? 0) + bytes);
    return sums;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

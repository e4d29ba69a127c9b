import type Database from "better-sqlite3";
import { ROW_BYTES, type SessionSizes } from "../queries/devices/stored-bytes.ts";

// The room that each device takes in the spool. Events of devices are refused at a bound below SQLite's own, because the
// agent's own operations need room beyond it. They settle acknowledged messages, prune and stop.

/** Bytes above the bound that are reserved for operations of the agent itself. */
export const RESERVE_BYTES = 64 * 1024 * 1024;
/** Part of the room that is divided into equal shares, one for each device. Any device may take the rest. */
const DIVIDED_PART = 0.5;
/** The spool is short of room if a smaller share is left. */
const SHORT_SHARE = 0.1;

/** A refused device counts as served again when a chunk of that many bytes fits. */
const RETRIED_BYTES = 64 * 1024;

/** Returns the reason why an event of that many bytes is refused; null if it is accepted. */
export type Refusal = (session: number, bytes: number) => string | null;

interface OpenSession {
  readonly device: string;
  bytes: number;
}

export class Room {
  readonly #bytesMax: number;
  /** The sum of the shares. */
  readonly #divided: number;
  readonly #taken: Database.Statement;
  readonly #sums: Database.Statement;
  /** The sessions that this process opened and has not finished. */
  readonly #sessions = new Map<number, OpenSession>();
  /** The devices that were refused and would be refused again. */
  readonly #refused = new Set<string>();
  /** The bytes of the database before the last group. */
  #takenBytes = 0;

  constructor(db: Database.Database, bytesMax: number, dividedPart = DIVIDED_PART) {
    this.#bytesMax = bytesMax;
    this.#divided = bytesMax * dividedPart;
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

  /** The devices whose settled rows should make room: all of them if disk or spool are short, else the refused ones. */
  shortDevices(isDiskFull: boolean): string[] {
    const isShort = isDiskFull || this.#takenBytes > this.#bytesMax * (1 - SHORT_SHARE);
    return isShort ? [...this.#deviceSums().keys()] : [...this.#refused];
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
    let sums: Map<string, number> | null = null;
    const decide = (device: string | undefined, bytes: number): string | null => {
      if (taken + bytes > this.#bytesMax) return `the spool is full: ${megabytes(this.#bytesMax)} MB at most`;
      // Below this bound the shares of all other devices are free, however much they have taken.
      if (taken + bytes <= this.#bytesMax - this.#divided || device === undefined) return null;
      sums ??= this.#deviceSums();
      const share = this.#divided / Math.max(1, sums.size);
      const own = (sums.get(device) ?? 0) + bytes;
      if (own > share && taken + bytes + freeShares(sums, share, device) > this.#bytesMax) {
        return `the device takes ${megabytes(own)} MB of the spool, and the rest is kept for the other devices`;
      }
      sums.set(device, own);
      return null;
    };
    for (const device of this.#refused) if (decide(device, RETRIED_BYTES) === null) this.#refused.delete(device);
    sums = null;
    return (session, length) => {
      const device = this.#sessions.get(session)?.device;
      const bytes = length + ROW_BYTES.event;
      const reason = decide(device, bytes);
      if (reason === null) taken += bytes;
      else if (device !== undefined) this.#refused.add(device);
      return reason;
    };
  }

  #deviceSums(): Map<string, number> {
    const sums = new Map(this.#sums.all() as [string, number][]);
    for (const { device, bytes } of this.#sessions.values()) sums.set(device, (sums.get(device) ?? 0) + bytes);
    return sums;
  }
}

/** The bytes of their shares that the other devices have not taken. */
function freeShares(sums: ReadonlyMap<string, number>, share: number, except: string): number {
  let free = 0;
  for (const [device, sum] of sums) if (device !== except) free += Math.max(0, share - sum);
  return free;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

import type Database from "better-sqlite3";
import { readSpool } from "../spool/access.ts";
import { listMessages, type MessageSummary } from "../spool/queries/message-summaries.ts";
import type { MessageState } from "../spool/queries/message-outcome.ts";
import { zonedTime } from "../report/device-time.ts";

// The message list for a person: a header, columns, the time of this machine's zone, and new rows as they come.

export interface MessageFilter {
  /** Empty: any. */
  readonly states: readonly MessageState[];
  /** Empty: any. */
  readonly devices: readonly string[];
  /** Received from then on, milliseconds since 1970. */
  readonly since: number;
}

export function isWanted({ state, device, received_at }: MessageSummary, filter: MessageFilter): boolean {
  const { states, devices, since } = filter;
  return (
    (states.length === 0 || states.includes(state)) &&
    (devices.length === 0 || devices.includes(device)) &&
    Date.parse(received_at) >= since
  );
}

/** Writes rows under a header; the columns are as wide as the ids of `devices` need. */
export function messageTable(
  devices: readonly string[],
  timeZone: string,
): { header: string; row: (message: MessageSummary) => string } {
  const deviceWidth = Math.max("device".length, ...devices.map((id) => id.length));
  const line = (time: string, id: string, device: string, state: string, studies: string, reason: string) =>
    [time.padEnd(TIME.length), id.padEnd(26), device.padEnd(deviceWidth), state.padEnd(16), studies.padEnd(30), reason]
      .join("  ")
      .trimEnd();
  return {
    header: `${line("received", "message", "device", "state", "study", "reason")} (times of ${timeZone})`,
    row: ({ id, device, received_at, state, reason, study_fps }) => {
      const time = zonedTime(Date.parse(received_at), timeZone).slice(0, TIME.length).replace("T", " ");
      return line(time, id, device, state, study_fps.join(",") || "-", reason ?? "");
    },
  };
}

const TIME = "2026-11-21 09:30:15";

/** The latest of a message list: what is new, or no longer on its way, since it was asked last. */
export class MessageFeed {
  readonly #folder: string;
  /** The last row that was seen. */
  #row = 0;
  #pending: readonly string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All messages the first time, afterwards those that came or left the state pending meanwhile. */
  next(): MessageSummary[] {
    const seen = { row: this.#row, ids: this.#pending };
    const before = new Set(this.#pending);
    const messages = readSpool(this.#folder, (db) =>
      // One transaction: a message that is stored between the two is in the next list.
      db.transaction(() => {
        this.#row = lastRow(db);
        return listMessages(db, seen);
      })(),
    );
    this.#pending = messages.filter(({ state }) => state === "pending").map(({ id }) => id);
    return messages.filter(({ id, state }) => !(before.has(id) && state === "pending"));
  }
}

function lastRow(db: Database.Database): number {
  return db.prepare("SELECT COALESCE(MAX(rowid), 0) FROM message").pluck().get() as number;
}

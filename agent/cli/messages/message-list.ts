import { readSpool } from "../../spool/access.ts";
import { listMessages, type MessageSummary } from "../../spool/queries/messages/message-summaries.ts";
import type { MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { zonedTime } from "../../report/device-time.ts";

// The text of `agent messages`, and the source of new messages for `--follow`.

export interface MessageFilter {
  /** Empty for any state. */
  readonly states: readonly MessageState[];
  /** Empty for any device. */
  readonly devices: readonly string[];
  /** Earliest time of receipt, in ms since 1970. */
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

/** Formats messages as rows under a header; the device column is as wide as the longest id of `devices`. */
export function messageTable(
  devices: readonly string[],
  timeZone: string,
): { header: string; row: (message: MessageSummary) => string } {
  const deviceWidth = Math.max("device".length, ...devices.map((id) => id.length));
  const line = (
    time: string,
    id: string,
    device: string,
    state: string,
    studies: string,
    sample: string,
    reason: string,
  ) =>
    [
      time.padEnd(TIME.length),
      id.padEnd(26),
      device.padEnd(deviceWidth),
      state.padEnd(16),
      studies.padEnd(30),
      sample.padEnd(10),
      reason,
    ]
      .join("  ")
      .trimEnd();
  return {
    header: `${line("received", "message", "device", "state", "study", "sample", "reason")} (times of ${timeZone})`,
    row: ({ id, device, received_at, state, reason, study_fps, sample_ids = [] }) => {
      const time = zonedTime(Date.parse(received_at), timeZone).slice(0, TIME.length).replace("T", " ");
      return line(time, id, device, state, study_fps.join(",") || "-", sample_ids.join(",") || "-", reason ?? "");
    },
  };
}

const TIME = "2026-11-21 09:30:15";

/** Reads the messages that are new or have left the state pending since the last call. */
export class MessageFeed {
  readonly #folder: string;
  /** Last message row of the previous call. */
  #row = 0;
  /** Messages in state pending at the previous call. */
  #pending: readonly string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns all messages at the first call, then new messages and messages that left the state pending. */
  next(): MessageSummary[] {
    const seen = { row: this.#row, ids: this.#pending };
    const before = new Set(this.#pending);
    const messages = readSpool(this.#folder, (db) =>
      // In one transaction: a message that is stored between the two reads is in the next list.
      db.transaction(() => {
        this.#row = db.prepare("SELECT COALESCE(MAX(rowid), 0) FROM message").pluck().get() as number;
        return listMessages(db, seen);
      })(),
    );
    this.#pending = messages.filter(({ state }) => state === "pending").map(({ id }) => id);
    return messages.filter(({ id, state }) => !(before.has(id) && state === "pending"));
  }
}

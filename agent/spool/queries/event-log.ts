import type Database from "better-sqlite3";

// The record of what came in, and where messages stand in it. A message whose bytes came one behind the other, as HL7's do,
// is not stored a second time beside the chunks that hold it: that would be half of all that is written.

/** What moves a link. */
export const EVENT_KINDS = ["chunk", "send", "timeout", "close", "gap", "resume"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
/** Of an event on its way to the disk: see `Post`. */
export const NUMBERS_PER_EVENT = 4;

/** So many bytes from there, in the chunks of a session from the one event to the other, put together. */
export interface Place {
  readonly firstEvent: number;
  readonly lastEvent: number;
  readonly start: number;
  readonly length: number;
}

/** A message that came in more chunks than that is stored by itself. */
const CHUNKS_MAX = 1_000;

/** The chunks that a link took last. */
export class LatestChunks {
  /** Their events, and how many bytes came before each. Not objects: one a frame would live long enough to be copied about. */
  readonly #events: number[] = [];
  readonly #froms: number[] = [];
  #received = 0;

  add(event: number, length: number): void {
    this.#events.push(event);
    this.#froms.push(this.#received);
    this.#received += length;
    if (this.#events.length <= 2 * CHUNKS_MAX) return;
    this.#events.splice(0, CHUNKS_MAX);
    this.#froms.splice(0, CHUNKS_MAX);
  }

  /** The place of so many bytes, of which the first came behind `from` others; null: too many chunks ago. */
  find(from: number, length: number): Place | null {
    const last = this.#froms.findLastIndex((before) => before < from + length);
    const first = this.#froms.findLastIndex((before) => before <= from);
    if (first < 0 || last < 0) return null;
    return {
      firstEvent: this.#events[first]!,
      lastEvent: this.#events[last]!,
      start: from - this.#froms[first]!,
      length,
    };
  }
}

/** What `messageReader` needs of a message. */
export const BYTES_COLUMNS = "session, bytes, first_event AS firstEvent, last_event AS lastEvent, start, length";

interface BytesRow {
  readonly session: number;
  /** Empty where a place is given. */
  readonly bytes: Uint8Array;
  readonly firstEvent: number | null;
  readonly lastEvent: number;
  readonly start: number;
  readonly length: number;
}

/** A message as it is stored, with `BYTES_COLUMNS` in place of its bytes. */
export type Unread<Message> = Omit<Message, "bytes"> & BytesRow;

/** Puts the bytes of a message in place of their columns. */
export function messageReader(db: Database.Database): <Message>(row: Unread<Message>) => Message {
  const chunks = db
    .prepare("SELECT bytes FROM event WHERE id BETWEEN ? AND ? AND session = ? AND kind = 'chunk' ORDER BY id")
    .pluck();
  return <Message>(row: Unread<Message>) => {
    const { bytes, firstEvent, lastEvent, start, length, ...message } = row;
    if (firstEvent === null) return { ...message, bytes } as Message;
    const parts = chunks.all(firstEvent, lastEvent, message.session) as Uint8Array[];
    return { ...message, bytes: new Uint8Array(Buffer.concat(parts).subarray(start, start + length)) } as Message;
  };
}

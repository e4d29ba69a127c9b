import type Database from "better-sqlite3";

// The log of events, and the byte ranges of messages in it. A message whose bytes are contiguous in its chunks, as in HL7,
// is stored as a range and not a second time.

/** The inputs of a link. */
export const EVENT_KINDS = ["chunk", "send", "timeout", "close", "gap", "resume"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** A byte range within the concatenated chunks of a session from `firstEvent` to `lastEvent`. */
export interface ByteRange {
  readonly firstEvent: number;
  readonly lastEvent: number;
  readonly start: number;
  readonly length: number;
}

/** Max chunks of a range. A message in more chunks is stored with its bytes. */
const CHUNKS_MAX = 1_000;

/** The chunks that a link received most recently. */
export class RecentChunks {
  /** The event of each chunk, and its offset in the stream below. Two arrays of numbers spare an object per chunk. */
  readonly #events: number[] = [];
  readonly #offsets: number[] = [];
  #received = 0;

  add(event: number, length: number): void {
    this.#events.push(event);
    this.#offsets.push(this.#received);
    this.#received += length;
    if (this.#events.length <= 2 * CHUNKS_MAX) return;
    this.#events.splice(0, CHUNKS_MAX);
    this.#offsets.splice(0, CHUNKS_MAX);
  }

  /** Finds `length` bytes at an offset in the stream. @returns null if they are more than CHUNKS_MAX chunks old */
  find(offset: number, length: number): ByteRange | null {
    const last = this.#offsets.findLastIndex((start) => start < offset + length);
    const first = this.#offsets.findLastIndex((start) => start <= offset);
    if (first < 0 || last < 0) return null;
    return {
      firstEvent: this.#events[first]!,
      lastEvent: this.#events[last]!,
      start: offset - this.#offsets[first]!,
      length,
    };
  }
}

/** The columns that messageReader() turns into the bytes of a message. */
export const BYTES_COLUMNS =
  "session, bytes, first_event AS firstEvent, last_event AS lastEvent, start, length, checksum";

interface BytesRow {
  readonly session: number;
  /** Empty if the row has a range. */
  readonly bytes: Uint8Array;
  readonly firstEvent: number | null;
  readonly lastEvent: number;
  readonly start: number;
  readonly length: number;
  readonly checksum: number | null;
}

/** A message as it is stored, with BYTES_COLUMNS in place of its bytes. */
export type StoredMessageRow<Message> = Omit<Message, "bytes"> & BytesRow;

/** Reads the bytes of messages. */
export function messageReader(db: Database.Database): <Message>(row: StoredMessageRow<Message>) => Message {
  const chunks = db
    .prepare("SELECT bytes FROM event WHERE id BETWEEN ? AND ? AND session = ? AND kind = 'chunk' ORDER BY id")
    .pluck();
  return <Message>(row: StoredMessageRow<Message>) => {
    const { bytes, firstEvent, lastEvent, start, length, checksum: _checksum, ...message } = row;
    if (firstEvent === null) return { ...message, bytes } as Message;
    const parts = chunks.all(firstEvent, lastEvent, message.session) as Uint8Array[];
    return { ...message, bytes: new Uint8Array(Buffer.concat(parts).subarray(start, start + length)) } as Message;
  };
}

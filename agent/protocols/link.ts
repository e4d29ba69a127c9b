import type { DeviceReport } from "../report/device-report.ts";

// What every protocol's link has in common. A link turns bytes into messages and replies; it sees neither a port nor a clock.

/** What the shell (connection.ts) has to carry out: all replies first, for the device waits for them, each kind in its order. */
export type LinkAction =
  | { readonly do: "reply"; readonly bytes: Uint8Array }
  /**
   * A message for the next stage; `incomplete` says why it ended before its own end. Where its bytes came just so, one behind
   * the other, `from` says how many were received before the first of them.
   */
  | { readonly do: "deliver"; readonly message: Uint8Array; readonly incomplete: string | null; readonly from?: number }
  /** Reports a fault of the device; `noise`: the run of bytes outside any message. */
  | { readonly do: "warn"; readonly reason: string; readonly noise?: NoiseRun }
  /** The message given to send() was taken whole by the device. */
  | { readonly do: "sent" }
  /** Given up for now; the shell keeps the message and offers it again. */
  | { readonly do: "unsent"; readonly reason: string }
  /** Call timeout() after that many milliseconds unless told otherwise before; null: no more. */
  | { readonly do: "timer"; readonly ms: number | null }
  /** The device by its own name: any other wire on which it spoke is dead. */
  | { readonly do: "identify"; readonly name: string }
  /**
   * What the device of that name said of itself, for whoever looks after it: of status and operators the last word counts, of
   * events each.
   */
  | { readonly do: "news"; readonly news: DeviceReport }
  /** Close the connection once all replies have left. */
  | { readonly do: "hang up" };

export interface NoiseRun {
  /** How many there were. */
  readonly bytes: number;
  /** The first of them. */
  readonly head: Uint8Array;
}

/** What stands in replies and comes from outside. What is delivered never depends on it: a replay gives the same. */
export interface LinkContext {
  /** The time with the offset of the device's zone: `2026-05-04T09:00:00+02:00`. */
  readonly now: () => string;
  /** A ULID. */
  readonly newId: () => string;
}

export interface Link {
  /**
   * Whether a reply to these bytes may mean "accepted", so that they have to survive a power cut before it leaves. Asked when
   * the link has taken all that came before them. Absent: any bytes may.
   */
  mayAccept?(chunk: Uint8Array): boolean;
  /** A connection on which nothing has come by then has run into its timeout. Absent: it may be silent for ever. */
  readonly silenceMs?: number;
  /**
   * How long the device waits for its answer. What is not on disk by then is answered no more: the connection ends, and the device
   * says it again. Absent: it waits.
   */
  readonly answerMs?: number;
  /** Bytes that are on disk. */
  receive(chunk: Uint8Array): LinkAction[];
  /** Bytes that could not be stored: nothing they complete may be accepted. */
  refuse(chunk: Uint8Array): LinkAction[];
  /** Bytes went missing from the record here (they were refused): drop the frame they belonged to. */
  gap(): LinkAction[];
  /** The timer asked for has run out. */
  timeout(): LinkAction[];
  /** Sends a message when the line is free; one at a time: the next only after "sent" or "unsent". Absent: it cannot send. */
  send?(message: Uint8Array): LinkAction[];
  /** The connection is gone. */
  close(): LinkAction[];
  /** Bytes of memory that an unfinished message takes. Absent: never more than a mebibyte or two. */
  readonly heldBytes?: number;
  /** Nothing is in flight: a fresh link would go on just as well, once it has been told the memory. */
  readonly atRest: boolean;
  /** What of the connection so far the next messages depend on. Absent or null: nothing. */
  readonly memory?: Uint8Array | null;
  /** Goes on from there. The record of a connection that is long is cut where it rests: this begins each piece. */
  resume?(memory: Uint8Array): void;
}

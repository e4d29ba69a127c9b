import type { DeviceReport } from "../report/device-report.ts";

// Interface of every protocol's link. A link turns bytes into messages and replies. It knows neither a port nor a
// clock.

/**
 * Effect that the connection carries out: all replies first, because the device waits for them, then each kind in
 * order.
 */
export type LinkAction =
  | { readonly do: "reply"; readonly bytes: Uint8Array }
  /**
   * Delivers a message to the next stage. `incomplete`: why the message is cut short, null for a complete one. `from`:
   * bytes received before its first byte, if its bytes were received in one run.
   */
  | { readonly do: "deliver"; readonly message: Uint8Array; readonly incomplete: string | null; readonly from?: number }
  /** Reports a fault of the device. `noise`: the run of bytes outside any message. */
  | { readonly do: "warn"; readonly reason: string; readonly noise?: NoiseRun }
  /** The device has accepted the complete message given to send(). */
  | { readonly do: "sent" }
  /** The attempt to send failed; the connection keeps the message and offers it again. */
  | { readonly do: "unsent"; readonly reason: string }
  /** Calls timeout() after `ms` milliseconds unless another timer action comes first. `null` stops the timer. */
  | { readonly do: "timer"; readonly ms: number | null }
  /** The device identified itself; close any older connection of the same device. */
  | { readonly do: "identify"; readonly name: string }
  /** Report of the device on itself. The last status and operator list replace the earlier ones; events accumulate. */
  | { readonly do: "report"; readonly report: DeviceReport }
  /** Closes the connection after all replies are sent. */
  | { readonly do: "close" };

export interface NoiseRun {
  readonly bytes: number;
  /** First bytes of the run. */
  readonly head: Uint8Array;
}

/** External values for replies. Deliveries never depend on them, so a replay gives the same. */
export interface LinkContext {
  /** The time with the offset of the device's zone: `2026-05-04T09:00:00+02:00`. */
  readonly now: () => string;
  /** A ULID. */
  readonly newId: () => string;
}

export interface Link {
  /**
   * Returns whether a reply to these bytes may mean "accepted". Such bytes must survive a power cut before the reply
   * leaves. Called after all earlier bytes were received. Without it, any bytes may be accepted.
   */
  mayAccept?(chunk: Uint8Array): boolean;
  /** Max silence after connecting; then timeout() is called. Without it, the device may be silent for any time. */
  readonly silenceMs?: number;
  /**
   * Max time that the device waits for a reply. If the bytes are not stored by then, the connection is closed and the
   * device sends them again. Without it, the device waits for any time.
   */
  readonly replyTimeoutMs?: number;
  /** Receives stored bytes. */
  receive(chunk: Uint8Array): LinkAction[];
  /** Receives bytes that could not be stored. Nothing that they complete may be accepted. */
  refuse(chunk: Uint8Array): LinkAction[];
  /** Bytes are missing here because they were refused. Drops the frame that they belong to. */
  gap(): LinkAction[];
  /** The requested timer has expired. */
  timeout(): LinkAction[];
  /**
   * Sends a message when the line is free. The next message may follow only after "sent" or "unsent". Links that cannot
   * send lack it.
   */
  send?(message: Uint8Array): LinkAction[];
  /** The connection is closed. */
  close(): LinkAction[];
  /** Bytes of memory that an unfinished message takes. Links without it never hold more than 2 MiB. */
  readonly heldBytes?: number;
  /** No message or reply is pending: a fresh link that resumes from `memory` would continue equally. */
  readonly isIdle: boolean;
  /**
   * Position of the link between two messages; null while a message arrives. Bytes from one position back to the same one are
   * noise, unless the link delivered a message: a replay without them delivers the same. Links without it report no noise.
   */
  readonly between?: string | null;
  /** Link state to restore after a session is split; null or undefined for none. */
  readonly memory?: Uint8Array | null;
  /**
   * Restores the state of `memory`. A long session is split while the link is at rest; each part starts with this call.
   */
  restore?(memory: Uint8Array): void;
}

import type { OutgoingTopics } from "./outgoing-topics.ts";

// States of a POCT1-A dialogue, from the agent's (data manager's) side, and its timers.
//
//   new --data--> await-hello --HELLO--> await-status --STATUS--> running --continuous mode accepted--> continuous
//
//   HELLO in any open state: await-status. The agent sends END: ending, until its ACK, a refusal or a timeout: ended.
//   END of the device, or a reply that stays out: ended. The connection closes: closed.

/** Max time from connecting to HELLO; then the connection is closed. */
export const HELLO_TIMEOUT_MS = 60_000;
/** Timeout of a device that reports no application_timeout. */
export const RESPONSE_TIMEOUT_MS = 60_000;
/** After this silence in continuous mode the agent sends a keep-alive. */
export const IDLE_TIMEOUT_MS = 600_000;
/** Delay before a topic that a busy device escaped is sent again. */
export const BUSY_MS = 30_000;

export type DialogueState =
  /** Nothing was received yet. */
  | "new"
  | "await-hello"
  | "await-status"
  /** Basic profile: the agent requests observations and events. */
  | "running"
  /** The device sends observations by itself. */
  | "continuous"
  /** The agent's END waits for its ACK. */
  | "ending"
  /** The dialogue has ended; the connection is being closed. */
  | "ended"
  | "closed";

/** Reason of the running timer. The timer restarts when the reason changes, or when data of the device extends it. */
export type PendingReply =
  | "hello"
  | "status"
  | "patient"
  | `response to ${number}`
  | `data of ${number}`
  | "retry"
  | "observations"
  | "idle";

/** Returns the reason to keep a timer in this state; null without one. */
export function pendingReply(state: DialogueState, topics: OutgoingTopics): PendingReply | null {
  switch (state) {
    case "new":
    case "ended":
    case "closed":
      return null;
    case "await-hello":
      return "hello";
    case "await-status":
      return "status";
    case "running":
    case "continuous":
    case "ending":
      if (topics.awaiting !== null) {
        const { accepted, controlId } = topics.awaiting;
        return accepted ? `data of ${controlId}` : `response to ${controlId}`;
      }
      if (topics.owesPatient) return "patient";
      if (topics.hasPostponed) return "retry";
      return topics.announced > 0 ? "observations" : "idle";
  }
}

/** @param responseMs application timeout of the device */
export function timeoutMsOf(pending: PendingReply, responseMs: number): number {
  switch (pending) {
    case "hello":
      return HELLO_TIMEOUT_MS;
    case "retry":
      return BUSY_MS;
    case "idle":
      return IDLE_TIMEOUT_MS;
    default:
      // Between the data of a topic the device may be idle for twice its timeout.
      return pending.startsWith("data") ? 2 * responseMs : responseMs;
  }
}

import type { Logger } from "pino";
import type { Profile } from "../../devices/profile.ts";
import type { NoiseRun } from "../../protocols/link.ts";
import type { OperatorBook } from "../../protocols/poct1/topics.ts";
import type { StoredMessage } from "../../spool/queries/messages/message-row.ts";
import type { LineState } from "../../states/line-state.ts";

// The interfaces between a device's connection and the rest of the agent.

export interface ConnectionEvents {
  connected(peer: string): void;
  disconnected(): void;
  /** The transport's state while no wire is open. */
  lineChanged(state: LineState): void;
  bytes(count: number): void;
  /** Reports a fault of the device or its line. `noise` is the run of bytes outside any message, sent by `peer`. */
  warning(reason: string, noise?: NoiseRun, peer?: string): void;
  /** Reports that the spool or the disk refused something. A device repeats what was refused, so the log has one line of it. */
  refusal(reason: string): void;
  /** Counts a connection from an address that `allow` lacks. */
  refused(address: string): void;
}

/** One device of the running agent: takes the reports of its connection and keeps its status, counters and log. */
export interface DeviceSession extends ConnectionEvents {
  readonly log: Logger;
  /** Counts a stored message or image; `at` in milliseconds since 1970. */
  received(at: number): void;
}

/** Takes the messages of a device once they are committed. */
export interface MessageHandler {
  /** Replies to a message through `send`. If it returns a promise, a half-closed wire stays open until that settles. */
  message(message: StoredMessage, send: SendMessage): unknown;
  /** Files a message. @returns a promise that settles once the message is filed */
  file?(message: StoredMessage): Promise<void>;
}

/**
 * Queues a message for the device on the wire of its query. A closed wire discards the message, because the device repeats its
 * query. `sent` is called once the device has accepted the complete message.
 */
export type SendMessage = (message: Uint8Array, sent: () => void) => void;

export interface ConnectedDevice {
  readonly id: string;
  readonly profile: Profile;
  /** IANA time zone of the device's clock. */
  readonly timeZone: string;
  /** The operators of the device, if agent.yaml names a list. */
  readonly operators?: OperatorBook;
}

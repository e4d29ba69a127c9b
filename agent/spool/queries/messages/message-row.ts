import { rowChecksum } from "../../../../shared/runtime/row-checksum.ts";
import { BYTES_COLUMNS, type ByteRange } from "../events/event-log.ts";

// Messages, and the tuple in which one is posted to the worker. Structured clone copies a tuple faster than an object.

export interface StoredMessage {
  readonly id: string;
  readonly device: string;
  readonly profile: string;
  readonly receivedAt: number;
  readonly bytes: Uint8Array;
  readonly incomplete: string | null;
  /** Present if the message is not as it was stored. */
  readonly damage?: string;
}

export interface NewMessage extends StoredMessage {
  readonly session: number;
  readonly ordinal: number;
  /** The range of its bytes in the event log, so that `bytes` is empty. Null or absent if `bytes` holds them. */
  readonly range?: ByteRange | null;
  /** See messageChecksum(). Absent if `bytes` holds the message. */
  readonly checksum?: number;
}

/** Computes the checksum of a message over its own bytes, so that it holds wherever they are stored. */
export function messageChecksum({ id, device, profile, receivedAt, incomplete, bytes }: StoredMessage): number {
  return rowChecksum([id, device, profile, receivedAt, incomplete], bytes);
}

/** The columns of a StoredMessage, with its checksum. */
export const MESSAGE_COLUMNS = `id, device, profile, received_at AS receivedAt, truncation_reason AS incomplete, ${BYTES_COLUMNS}`;

/** Marks a message whose bytes or device are not as they were stored. An image has none: its file has a SHA-256. */
export function withDamage<Message extends StoredMessage>(message: Message, checksum: number | null): Message {
  if (checksum === null || checksum === messageChecksum(message)) return message;
  return { ...message, damage: "its stored bytes are damaged: send it again at the device, or restore a backup" };
}

/** The columns of a new message, in the order of the INSERT. `bytes` is null if the event log holds them. */
export type MessageRow = readonly [
  id: string,
  session: number,
  ordinal: number,
  device: string,
  profile: string,
  receivedAt: number,
  incomplete: string | null,
  duplicateKey: string | null,
  bytes: Uint8Array | null,
  firstEvent: number | null,
  lastEvent: number | null,
  start: number | null,
  length: number | null,
  checksum: number | null,
];

/** `duplicateKey` is equal for a message and its resend. Null if the protocol cannot identify a resend. */
export function messageRow(message: NewMessage, duplicateKey: string | null): MessageRow {
  const { id, session, ordinal, device, profile, receivedAt, incomplete, bytes, range } = message;
  const { firstEvent, lastEvent, start, length } = range ?? NO_RANGE;
  const own = firstEvent === null ? bytes : null;
  const identity = [id, session, ordinal, device, profile, receivedAt, incomplete, duplicateKey] as const;
  const checksum = message.checksum ?? (own === null ? null : messageChecksum(message));
  return [...identity, own, firstEvent, lastEvent, start, length, checksum];
}

const NO_RANGE = { firstEvent: null, lastEvent: null, start: null, length: null } as const;

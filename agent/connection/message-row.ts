import type { Profile } from "../devices/profile.ts";
import type { RecentChunks } from "../spool/queries/events/event-log.ts";
import {
  messageChecksum,
  type MessageRow,
  messageRow,
  type StoredMessage,
} from "../spool/queries/messages/message-row.ts";
import { fileKey } from "../protocols/file/file-message.ts";
import { duplicateKey } from "../protocols/hl7/message/duplicate-key.ts";

const NO_BYTES = new Uint8Array(0);

/** The place of a message among the others of its session. */
export interface MessagePosition {
  readonly session: number;
  /** Counts the messages of the session from 0. */
  readonly ordinal: number;
  /** Bytes that the link received before the message; undefined if the chunks do not hold its bytes in one run. */
  readonly from: number | undefined;
}

/** @returns the row of a message, as a byte range if the stored chunks hold its bytes */
export function messageRowAt(
  message: StoredMessage,
  { session, ordinal, from }: MessagePosition,
  chunks: RecentChunks,
  profile: Profile,
): MessageRow {
  const range = from === undefined ? null : chunks.find(from, message.bytes.length);
  const bytes = range === null ? message.bytes : NO_BYTES;
  const checksum = messageChecksum(message);
  return messageRow({ ...message, session, ordinal, bytes, range, checksum }, keyOf(message, profile));
}

function keyOf(message: StoredMessage, profile: Profile): string | null {
  return profile.protocol === "file" ? fileKey(message.bytes) : duplicateKey(message, profile);
}

import type { MessagePort } from "node:worker_threads";
import { EVENT_KINDS, type EventKind } from "../queries/events/event-log.ts";
import type { MessageRow } from "../queries/messages/message-row.ts";
import type { Operations } from "../queries/operations.ts";

// The messages between the spool and its worker. Events are packed into two arrays, because structured clone is slow for
// many small objects and fast for one large buffer.

export interface WorkerOptions {
  readonly folder: string;
  readonly bytesMax: number;
}

/** The events of a batch. Their ids count up from `firstEvent`. */
export interface PackedEvents {
  readonly firstEvent: number;
  /** Four numbers per event: session, index in EVENT_KINDS, time in ms, and length in bytes (-1 for no bytes). */
  readonly numbers: Float64Array;
  readonly bytes: Uint8Array;
}

export interface OpenedSession {
  readonly id: number;
  readonly device: string;
  readonly profile: string;
  readonly firstEvent: number;
  readonly at: number;
}

export interface OperationCall {
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}

/** Work for one transaction. The worker stores the events, then the messages, then runs the calls. */
export interface Batch {
  readonly opened: readonly OpenedSession[];
  readonly events: PackedEvents;
  /** One of the events must survive a power cut. */
  readonly durable: boolean;
  /** Messages whose events are stored already or are in this batch. */
  readonly messages: readonly MessageRow[];
  readonly calls: readonly OperationCall[];
}

/**
 * A batch, a checkpoint, or the port of another thread. "checkpoint" keeps the size of the WAL file, because growing it makes
 * commits slower. "empty log" truncates it, so that damage to the file loses no rows.
 */
export type WorkerRequest = Batch | "checkpoint" | "empty log" | { readonly remote: MessagePort };

/** The reply to that many batches, which were committed in one group. Its lists are in the order of the requests. */
export interface CommitReply {
  readonly batches: number;
  readonly error: null;
  /** The result of addMessages() for each message, or the error that kept it from being stored. */
  readonly ids: readonly MessageResult[];
  readonly results: readonly CallResult[];
  /** The events that were not stored, by their index in the group, with the reason. */
  readonly refused: readonly (readonly [index: number, reason: string])[];
  /** The devices whose settled rows should make room. Empty if there is enough. */
  readonly shortDevices: readonly string[];
  readonly commitMs: number;
  /** The group was fsynced. */
  readonly durable: boolean;
  /** The WAL has passed the checkpoint threshold; schedule a checkpoint while no device is waiting. */
  readonly isLogLong: boolean;
}

/** The reply to that many batches of which nothing was stored. */
interface FailedReply {
  readonly batches: number;
  readonly error: string;
}

export interface SpoolStart {
  readonly session: number;
  readonly event: number;
}

export type WorkerReply = { readonly ready: SpoolStart } | { readonly fatal: string } | CommitReply | FailedReply;
export type MessageResult = string | null | { readonly error: string };
export type CallResult = { readonly value: unknown } | { readonly error: string };
/** The reply to each call of another thread, in order. `refused` means that nothing of its group was stored. */
export type RemoteReply = CallResult | { readonly refused: string };

const NUMBERS_PER_EVENT = 4;

/** Collects the events of a batch. */
export class EventPacker {
  readonly #firstEvent: number;
  #numbers: number[] = [];
  #parts: Uint8Array[] = [];

  constructor(firstEvent: number) {
    this.#firstEvent = firstEvent;
  }

  add(session: number, kind: EventKind, at: number, bytes: Uint8Array | null): void {
    this.#numbers.push(session, EVENT_KINDS.indexOf(kind), at, bytes === null ? -1 : bytes.length);
    if (bytes !== null) this.#parts.push(bytes);
  }

  /** Packs the events and releases their bytes. */
  pack(): PackedEvents {
    const packed = {
      firstEvent: this.#firstEvent,
      numbers: Float64Array.from(this.#numbers),
      bytes: concat(this.#parts),
    };
    this.#numbers = [];
    this.#parts = [];
    return packed;
  }
}

type EventVisitor = (id: number, session: number, kind: EventKind, at: number, bytes: Uint8Array | null) => void;

/** Calls `visit` for each event, in order. */
export function unpackEvents({ firstEvent, numbers, bytes }: PackedEvents, visit: EventVisitor): void {
  let offset = 0;
  for (let at = 0; at < numbers.length; at += NUMBERS_PER_EVENT) {
    const length = numbers[at + 3]!;
    const own = length < 0 ? null : bytes.subarray(offset, offset + length);
    if (length > 0) offset += length;
    visit(firstEvent + at / NUMBERS_PER_EVENT, numbers[at]!, EVENT_KINDS[numbers[at + 1]!]!, numbers[at + 2]!, own);
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

import type { CallbackQueue } from "./callback-queue.ts";
import type { MessageRow } from "./queries/messages/message-row.ts";
import { StorageError } from "./thread/storage-error.ts";
import {
  type Batch,
  type CallResult,
  type CommitReply,
  EventPacker,
  type MessageResult,
  type OpenedSession,
  type OperationCall,
} from "./thread/wire-format.ts";

/** Gets null once the event is stored, or the error that kept it from being stored. */
export type EventCallback = (error: StorageError | null) => void;

export interface PendingCall {
  readonly call: OperationCall;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface PendingMessage {
  readonly make: () => MessageRow;
  /** The row, made while the worker commits; null before. */
  row: MessageRow | null;
  readonly resolve: (id: string | null) => void;
  readonly reject: (error: Error) => void;
}

/** The content of the next batch, with the callbacks of its callers. */
export class PendingBatch {
  readonly opened: OpenedSession[] = [];
  readonly events: EventPacker;
  durable = false;
  readonly eventCallbacks: EventCallback[] = [];
  readonly messages: PendingMessage[] = [];
  readonly calls: PendingCall[] = [];

  constructor(firstEvent: number) {
    this.events = new EventPacker(firstEvent);
  }

  get isEmpty(): boolean {
    return this.eventCallbacks.length === 0 && this.messages.length === 0 && this.calls.length === 0;
  }

  pack(): Batch {
    return {
      opened: this.opened,
      events: this.events.pack(),
      durable: this.durable,
      messages: this.messages.map((message) => (message.row ??= message.make())),
      calls: this.calls.map(({ call }) => call),
    };
  }
}

/** Queues the callbacks of a committed group, in the order of the requests. */
export function notifyCommitted(batches: readonly PendingBatch[], reply: CommitReply, callbacks: CallbackQueue): void {
  const refused = new Map(reply.refused);
  let [event, message, call] = [0, 0, 0];
  for (const { eventCallbacks, messages, calls } of batches) {
    for (const callback of eventCallbacks) {
      const reason = refused.size === 0 ? undefined : refused.get(event++);
      callbacks.push(reason === undefined ? callback : () => callback(new StorageError(reason)));
    }
    for (const pending of messages) {
      const result = reply.ids[message++] ?? null;
      callbacks.push(() => resolveMessage(pending, result));
    }
    for (const pending of calls) {
      const result = reply.results[call++]!;
      callbacks.push(() => resolveCall(pending, result));
    }
  }
}

/** Queues the callbacks of a refused group. Its messages are tried again. */
export function notifyFailed(batches: readonly PendingBatch[], error: StorageError, callbacks: CallbackQueue): void {
  for (const { eventCallbacks, calls } of batches) {
    for (const callback of eventCallbacks) callbacks.push(() => callback(error));
    for (const { reject } of calls) callbacks.push(() => reject(error));
  }
}

function resolveMessage({ resolve, reject }: PendingMessage, result: MessageResult): void {
  if (result === null || typeof result === "string") resolve(result);
  else reject(new Error(result.error));
}

function resolveCall({ resolve, reject }: PendingCall, result: CallResult): void {
  if ("error" in result) reject(new Error(result.error));
  else resolve(result.value);
}

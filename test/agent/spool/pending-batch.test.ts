import { expect, test } from "vitest";
import { CallbackQueue } from "../../../agent/spool/callback-queue.ts";
import { notifyCommitted, notifyFailed, PendingBatch } from "../../../agent/spool/pending-batch.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import type { CommitReply } from "../../../agent/spool/thread/wire-format.ts";

const row = messageRow(
  {
    id: "M1",
    session: 1,
    ordinal: 1,
    device: "chem-1",
    profile: "generic-astm",
    receivedAt: 1,
    bytes: Uint8Array.of(1),
    incomplete: null,
  },
  null,
);

/** A batch of one event, one message and one call, each of which logs its outcome. */
function fullBatch(name: string, log: string[]): PendingBatch {
  const outcome = (part: string) => ({
    resolve: (value: unknown) => void log.push(`${name} ${part} ${String(value)}`),
    reject: (error: Error) => void log.push(`${name} ${part} ${error.constructor.name}: ${error.message}`),
  });
  const batch = new PendingBatch(1);
  batch.events.add(1, "chunk", 5, Uint8Array.of(1));
  batch.eventCallbacks.push((error) => void log.push(`${name} event ${error?.message ?? "stored"}`));
  batch.messages.push({ make: () => row, row: null, ...outcome("message") });
  batch.calls.push({ call: { name: "getMeta", args: ["key"] }, ...outcome("call") });
  return batch;
}

function committed(reply: Pick<CommitReply, "ids" | "results" | "refused">): CommitReply {
  return { batches: 2, error: null, shortDevices: [], commitMs: 1, durable: true, isLogLong: false, ...reply };
}

function deliver(notify: (callbacks: CallbackQueue) => void): Promise<void> {
  return new Promise((resolve) => {
    const callbacks = new CallbackQueue(() => undefined, resolve);
    notify(callbacks);
    callbacks.run();
  });
}

test("each caller of a committed group gets its own result, in the order of the batches", async () => {
  const log: string[] = [];
  const batches = [fullBatch("first", log), fullBatch("second", log)];
  const reply = committed({
    ids: ["M1", { error: "no bytes" }],
    results: [{ error: "unknown key" }, { value: "value" }],
    refused: [[1, "the disk is full"]],
  });
  await deliver((callbacks) => notifyCommitted(batches, reply, callbacks));
  expect(log).toEqual([
    "first event stored",
    "first message M1",
    "first call Error: unknown key",
    "second event the disk is full",
    "second message Error: no bytes",
    "second call value",
  ]);
});

test("every caller of a failed group gets the storage error, but for its messages, which the spool tries again", async () => {
  const log: string[] = [];
  const error = new StorageError("disk I/O error");
  await deliver((callbacks) => notifyFailed([fullBatch("only", log)], error, callbacks));
  expect(log).toEqual(["only event disk I/O error", "only call StorageError: disk I/O error"]);
});

test("a batch is empty until it has an event, a message or a call", () => {
  const batch = new PendingBatch(1);
  batch.opened.push({ id: 1, device: "chem-1", profile: "generic-astm", firstEvent: 1, at: 5 });
  expect(batch.isEmpty).toBe(true);
  expect(fullBatch("full", []).isEmpty).toBe(false);
});

test("a message that is made already is not made again when its batch is packed", () => {
  const batch = fullBatch("full", []);
  batch.messages[0]!.row = row.with(0, "M2") as unknown as typeof row;
  expect(batch.pack().messages.map(([id]) => id)).toEqual(["M2"]);
});

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { Spool, type SpoolThread } from "../../../agent/spool/spool.ts";
import type { Batch, CommitReply, WorkerReply, WorkerRequest } from "../../../agent/spool/thread/wire-format.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: the messages of a device are stored in the order in which they were acknowledged, also after a refusal of the disk.
// Method: the test takes the place of the thread that owns the database.

class Thread extends EventEmitter {
  readonly batches: Batch[] = [];

  postMessage(request: WorkerRequest): void {
    if (typeof request === "object" && "events" in request) this.batches.push(request);
  }

  terminate(): Promise<number> {
    return Promise.resolve(0);
  }

  get messages(): string[][] {
    return this.batches.map(({ messages }) => messages.map(([id]) => id));
  }

  /** Replies to the oldest batch. */
  commit(): void {
    const { messages, calls } = this.batches.shift()!;
    const ids = messages.map(([id]) => id);
    const results = calls.map(() => ({ value: null }));
    const sizes = { shortDevices: [], commitMs: 1, durable: true, isLogLong: false };
    this.#reply({ batches: 1, error: null, ids, results, refused: [], ...sizes } satisfies CommitReply);
  }

  refuse(): void {
    this.batches.shift();
    this.#reply({ batches: 1, error: "database or disk is full" });
  }

  ready(): void {
    this.#reply({ ready: { session: 1, event: 1 } });
  }

  #reply(reply: WorkerReply): void {
    this.emit("message", reply);
  }
}

async function openSpool(): Promise<{ thread: Thread; spool: Spool; save: (id: string) => Promise<string | null> }> {
  const thread = new Thread();
  setImmediate(() => thread.ready());
  const startThread = () => thread as unknown as SpoolThread;
  const spool = await Spool.open(temporaryFolder(), { startThread });
  const common = { session: 1, ordinal: 1, device: "chem-1", profile: "generic-hl7", receivedAt: 1, incomplete: null };
  const save = (id: string) => spool.saveMessage(() => messageRow({ ...common, id, bytes: Uint8Array.of(1) }, null));
  return { thread, spool, save };
}

test("a message that the disk refused is stored before the later messages", async () => {
  const { thread, spool, save } = await openSpool();
  const first = save("M1");
  await until("the first batch", () => thread.batches.length === 1);
  const second = save("M2");
  // Another call posts a batch, which the second message does not join.
  const call = spool.call("getMeta", "key");
  await until("the batch of the call", () => thread.batches.length === 2);
  expect(thread.messages).toEqual([["M1"], []]);
  thread.refuse();
  thread.commit();
  await call;
  await until("the second attempt", () => thread.batches.length === 1);
  expect(thread.messages).toEqual([["M1", "M2"]]);
  thread.commit();
  expect([await first, await second]).toEqual(["M1", "M2"]);
});

test("messages that wait for the commit of earlier ones follow it immediately", async () => {
  const { thread, save } = await openSpool();
  const saved = [save("M1")];
  await until("the first batch", () => thread.batches.length === 1);
  saved.push(save("M2"), save("M3"));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(thread.messages).toEqual([["M1"]]);
  thread.commit();
  await until("the second batch", () => thread.batches.length === 1);
  expect(thread.messages).toEqual([["M2", "M3"]]);
  thread.commit();
  expect(await Promise.all(saved)).toEqual(["M1", "M2", "M3"]);
});

test("a closing spool gives up the messages that the disk refuses, for the next start to replay", async () => {
  const { thread, spool, save } = await openSpool();
  let isStored = false;
  void save("M1").then(() => (isStored = true));
  await until("the first batch", () => thread.batches.length === 1);
  const closed = spool.close();
  void save("M2");
  thread.refuse();
  void save("M3");
  await closed;
  expect([thread.batches, isStored]).toEqual([[], false]);
});

import path from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { makePrivateFolder } from "../../shared/files/private-folder.ts";
import { moduleFile } from "../../shared/files/program-files.ts";
import { CallbackQueue } from "./callback-queue.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitBatcher } from "./commit-batcher.ts";
import { DeviceActivity } from "./device-activity.ts";
import {
  type EventCallback,
  notifyCommitted,
  notifyFailed,
  PendingBatch,
  type PendingCall,
  type PendingMessage,
} from "./pending-batch.ts";
import type { EventKind } from "./queries/events/event-log.ts";
import type { MessageRow } from "./queries/messages/message-row.ts";
import type { Operations } from "./queries/operations.ts";
import { RESERVE_FILE } from "./thread/reserve.ts";
import { SessionsToFinish } from "./sessions-to-finish.ts";
import { StorageError } from "./thread/storage-error.ts";
import type { SpoolStart, WorkerOptions, WorkerReply, WorkerRequest } from "./thread/wire-format.ts";

export interface SpoolOptions {
  /** Max bytes of the database; beyond it the spool refuses events. Default 8 GiB. */
  readonly bytesMax?: number;
  /** The time of what is stored, in ms since 1970. Default: this machine's clock. */
  readonly now?: () => number;
  /** Callback with the duration of each group commit in ms. */
  readonly onCommit?: (ms: number) => void;
  /** Starts the thread that owns the database. */
  readonly startThread?: (options: WorkerOptions) => SpoolThread;
}

/** The thread that owns the database. */
export type SpoolThread = Pick<Worker, "on" | "once" | "removeAllListeners" | "postMessage" | "terminate">;

/** Interval between attempts to store messages that the disk refuses. */
const SAVE_RETRY_MS = 1_000;

/** The files of the spool in the data folder. */
export const SPOOL_FILES = ["spool.db", "spool.db-wal", "spool.db-shm", "lock.db", "lock.db-journal", RESERVE_FILE];

const BYTES_MAX = 8 * 1024 ** 3;

/** An input of a link. */
export interface SpoolEvent {
  readonly device: string;
  readonly session: number;
  readonly kind: EventKind;
  readonly bytes: Uint8Array | null;
  /** The event must survive a power cut, because a reply depends on it. */
  readonly durable: boolean;
}

/** The operations of a spool, for callers that store no events. */
export type SpoolCalls = Pick<Spool, "call" | "callLater">;

/**
 * The durable log of all inputs, written before any reply leaves. Callbacks of append() and results of call() arrive after the
 * commit of their group, in call order. A group with a durable event or operation is fsynced, with all groups before it.
 */
export class Spool {
  /** The time of what is stored, in ms since 1970. */
  readonly now: () => number;
  readonly #worker: SpoolThread;
  readonly #onCommit: (ms: number) => void;
  readonly #activity = new DeviceActivity();
  readonly #batcher: CommitBatcher;
  readonly #undeliveredCallbacks: CallbackQueue;
  readonly #inFlight: PendingBatch[] = [];
  #pending: PendingBatch;
  #uncommittedEvents = 0;
  #nextSession: number;
  #nextEvent: number;
  #onClosed: (() => void) | undefined;
  /** The reason why the last group failed; null if it was committed. */
  #fault: string | null = null;
  /** The reason why the last group with events refused one; null if it refused none. */
  #refusal: string | null = null;
  #shortDevices: readonly string[] = [];
  readonly #checkpointer: Checkpointer;
  readonly #sessionsToFinish = new SessionsToFinish((ids) => this.callLater("finishSessions", ids, this.now()));
  /** Messages whose events are already posted, in the order of their calls. */
  readonly #delayedMessages: PendingMessage[] = [];
  #isClosing = false;
  /** The disk refused messages while the spool closes. The next start stores them and all later ones, from their sessions. */
  #leavesMessages = false;

  /** @throws if another agent uses the folder, or its database is newer than this program */
  static async open(folder: string, options: SpoolOptions = {}): Promise<Spool> {
    const { worker, next } = await startSpoolWorker(folder, options);
    return new Spool(worker, next, options);
  }

  private constructor(worker: SpoolThread, next: SpoolStart, options: SpoolOptions) {
    this.now = options.now ?? Date.now;
    this.#worker = worker;
    this.#nextSession = next.session;
    this.#nextEvent = next.event;
    this.#pending = new PendingBatch(next.event);
    this.#onCommit = options.onCommit ?? (() => undefined);
    this.#batcher = new CommitBatcher(
      {
        uncommittedEvents: () => this.#uncommittedEvents,
        isCommitting: () => this.#inFlight.length > 0,
        addMessages: () => this.#addMessages(),
        post: () => this.#post(),
      },
      this.#activity,
    );
    this.#undeliveredCallbacks = new CallbackQueue(
      () => this.#flushIfIdle(),
      () => this.#notifyClosed(),
    );
    worker.removeAllListeners("error");
    // The agent cannot run without its spool. An unhandled error ends the process, and the service manager restarts it.
    worker.on("error", (error) => {
      throw error;
    });
    worker.on("message", (reply: WorkerReply) => this.#receive(reply));
    this.#checkpointer = new Checkpointer(this.#activity, (request) =>
      worker.postMessage(request satisfies WorkerRequest),
    );
  }

  /** The reason why the last group failed or a device was refused; null if everything is stored. */
  get problem(): string | null {
    return this.#fault ?? this.#refusal;
  }

  /** The devices whose settled rows should make room, because they were refused or little is left. */
  get shortDevices(): readonly string[] {
    return this.#shortDevices;
  }

  /** Opens a session of a device. It is stored with its first event. */
  openSession(device: string, profile: string): number {
    const id = this.#nextSession++;
    this.#pending.opened.push({ id, device, profile, firstEvent: this.#nextEvent, at: this.now() });
    return id;
  }

  /**
   * Stores one event of a session and returns its id. After a refusal every later event of that session is refused until a
   * "gap" is stored, so that no replay reads the session as if nothing were missing.
   */
  append({ device, session, kind, bytes, durable }: SpoolEvent, done: EventCallback): number {
    const pending = this.#pending;
    pending.durable ||= durable;
    pending.events.add(session, kind, this.now(), bytes);
    pending.eventCallbacks.push(done);
    this.#uncommittedEvents += 1;
    this.#activity.note(device);
    this.#batcher.flushSoon();
    return this.#nextEvent++;
  }

  /** Finishes a session soon, unless it is resumed before. If the disk refuses, the next start replays the session. */
  finishLater(session: number): void {
    this.#sessionsToFinish.add(session);
  }

  /** Keeps a session open that finishLater() was called for. @returns false if it is finished already */
  resumeSession(session: number): boolean {
    return this.#sessionsToFinish.resume(session);
  }

  /** Runs one operation in the next group, after all earlier calls. @throws StorageError if the disk refuses the group */
  call<Name extends keyof Operations>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    this.#batcher.flushSoon();
    return new Promise((resolve, reject) => {
      this.#pending.calls.push({ call: { name, args }, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Queues an operation for the next batch; it never triggers an fsync. If the commit fails, the operation is dropped. */
  callLater<Name extends keyof Operations>(name: Name, ...args: Parameters<Operations[Name]>): void {
    this.#pending.calls.push({ call: { name, args }, ...NO_CALLER });
    this.#batcher.flushLater();
  }

  /**
   * Stores a message whose events are posted already. No device waits for it, so messages are batched for some ms. One row
   * touches nearly as many pages as fifty. While the disk refuses messages, they are tried again in their order; what a closing
   * spool could not store, the next start replays. @returns the result of addMessages()
   */
  saveMessage(make: () => MessageRow): Promise<string | null> {
    if (this.#delayedMessages.length === 0) this.#batcher.saveMessages();
    return new Promise((resolve, reject) => {
      this.#delayedMessages.push({ make, row: null, resolve, reject });
    });
  }

  /** Resolves when no device is likely to send data in the next ms. Longer work of this process waits for it first. */
  pause(): Promise<void> {
    return this.#activity.pause();
  }

  /** Opens a port for a RemoteSpool in another thread. Its calls join the same group commits. */
  openPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ remote: port2 } satisfies WorkerRequest, [port2]);
    return port1;
  }

  /** Commits all pending work, then ends the worker. */
  async close(): Promise<void> {
    this.#isClosing = true;
    do {
      this.#sessionsToFinish.finishNow();
      this.#batcher.flushAll();
      if (this.#inFlight.length > 0 || this.#undeliveredCallbacks.isRunning) {
        await new Promise<void>((resolve) => (this.#onClosed = resolve));
      }
      // The callback of its last message finishes a session.
    } while (this.#delayedMessages.length > 0 || !this.#sessionsToFinish.isEmpty || !this.#pending.isEmpty);
    this.#checkpointer.stop();
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
  }

  /** One batch of messages is under way at a time, so that no message overtakes a refused batch. */
  #addMessages(): void {
    if (this.#leavesMessages) this.#delayedMessages.length = 0;
    if (this.#inFlight.some(({ messages }) => messages.length > 0)) return;
    this.#pending.messages.push(...this.#delayedMessages.splice(0));
  }

  #post(): void {
    const pending = this.#pending;
    if (pending.isEmpty) return;
    const batch = pending.pack();
    this.#inFlight.push(pending);
    this.#pending = new PendingBatch(this.#nextEvent);
    this.#worker.postMessage(batch satisfies WorkerRequest, [batch.events.bytes.buffer as ArrayBuffer]);
    // This thread has time, because the worker commits now.
    for (const message of this.#delayedMessages) message.row ??= message.make();
  }

  #receive(reply: WorkerReply): void {
    if (!("batches" in reply)) return;
    const batches = this.#inFlight.splice(0, reply.batches);
    this.#fault = reply.error;
    for (const { eventCallbacks } of batches) this.#uncommittedEvents -= eventCallbacks.length;
    if (reply.error === null) {
      this.#onCommit(reply.commitMs);
      this.#checkpointer.noteCommit(reply);
      this.#shortDevices = reply.shortDevices;
      const hasEvents = batches.some(({ eventCallbacks }) => eventCallbacks.length > 0);
      if (hasEvents) this.#refusal = reply.refused[0]?.[1] ?? null;
      notifyCommitted(batches, reply, this.#undeliveredCallbacks);
    } else {
      // Later events of these sessions may be stored, so the next batch must open them again.
      for (const { opened } of batches) this.#pending.opened.push(...opened);
      const refused = batches.flatMap(({ messages }) => messages);
      this.#delayedMessages.unshift(...refused);
      if (this.#isClosing && refused.length > 0) this.#leavesMessages = true;
      notifyFailed(batches, new StorageError(reply.error), this.#undeliveredCallbacks);
    }
    const hadMessages = batches.some(({ messages }) => messages.length > 0);
    if (hadMessages && this.#delayedMessages.length > 0)
      this.#batcher.saveMessages(reply.error === null ? 0 : SAVE_RETRY_MS);
    this.#undeliveredCallbacks.run();
  }

  #flushIfIdle(): void {
    if (this.#batcher.isImmediate && this.#inFlight.length === 0) this.#batcher.flush();
  }

  #notifyClosed(): void {
    if (this.#inFlight.length === 0) this.#onClosed?.();
  }
}

const NO_CALLER: Omit<PendingCall, "call"> = { resolve: () => undefined, reject: () => undefined };

function startWorkerThread(workerData: WorkerOptions): SpoolThread {
  return new Worker(moduleFile("agent/spool/thread/worker"), { workerData });
}

/** Starts the worker and waits until it has opened the database. */
async function startSpoolWorker(
  folder: string,
  { bytesMax = BYTES_MAX, startThread = startWorkerThread }: SpoolOptions,
): Promise<{ worker: SpoolThread; next: SpoolStart }> {
  makePrivateFolder(folder);
  const workerData: WorkerOptions = { folder: path.resolve(folder), bytesMax };
  const worker = startThread(workerData);
  const first = await new Promise<WorkerReply>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  if ("ready" in first) return { worker, next: first.ready };
  await worker.terminate();
  throw new Error("fatal" in first ? first.fatal : "the spool did not start");
}

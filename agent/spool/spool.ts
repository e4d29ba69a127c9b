import path from "node:path";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { makePrivateFolder } from "../../shared/runtime/private-folder.ts";
import { EVENT_KINDS, type EventKind } from "./queries/event-log.ts";
import type { MessageRow } from "./queries/message-row.ts";
import type { Operations } from "./queries/operations.ts";
import { RESERVE_FILE } from "./reserve.ts";
import type { Answer, Call, OpenedSession, Post, Request, WorkerOptions } from "./worker.ts";
import { StorageError } from "./storage-error.ts";
import { startWorker } from "../runtime/start-worker.ts";

export interface SpoolOptions {
  /** Bytes of the database beyond which the spool refuses; default 8 GiB. */
  readonly bytesMax?: number;
  /** Called with the milliseconds each group commit took. */
  readonly onCommit?: (ms: number) => void;
}

/** Its files in the data folder. */
export const SPOOL_FILES = [
  ...["spool.db", "spool.db-wal", "spool.db-shm", "spool.mark", "lock.db", "lock.db-journal", RESERVE_FILE],
];

/** How long an operation that nobody waits for may wait for company. */
const LATER_MS_MAX = 200;
/** How long a message may: `max` where the thread always has something else to do. */
const SAVE_MS = { min: 2, max: 10 };
/** How long those who wait are told of commits, until the sockets are looked after again. */
const TELL_MS = 0.25;
/** Devices that spoke within that time are about to speak again; after so much silence they have said it. */
const PAUSE = { withinMs: 25, silenceMs: 2 };
/** After that time without a durable commit the log is emptied: while it lasts, damage to one file loses rows. */
const IDLE_MS = 5_000;
const BYTES_MAX = 8 * 1024 ** 3;
/**
 * When that many devices spoke within a period, an event waits that long for those of the others, for a commit and the way to
 * the thread and back cost more than what is in them: without it 32 lines at 115 200 baud take nearly twice the processor time.
 * It does not wait once half of the devices have an event on its way: devices as fast as the disk share their commits anyhow,
 * and waiting for all of them would leave the disk idle.
 */
const GATHER = { devicesMin: 16, periodMs: 100, ms: 8 };

/**
 * The truth on disk: what came in, before any reply leaves. Everything after it can be computed again.
 * append() and call() are settled after the commit of the transaction that holds them, in the order they were made; one that
 * holds a durable event, or takes studies for the server, is fsynced first, with all that was committed before it.
 */
export class Spool {
  readonly #worker: Worker;
  readonly #onCommit: (ms: number) => void;
  readonly #inFlight: { opened: OpenedSession[]; events: Done[]; messages: WaitingMessage[]; calls: Waiting[] }[] = [];
  #pending: Pending;
  #flushing = false;
  #gathering: NodeJS.Timeout | null = null;
  /** The devices with an event since then, and how many had one in the period before. */
  #periodFrom = 0;
  readonly #speaking = new Set<string>();
  #busyDevices = 0;
  #spokenAt = Number.NEGATIVE_INFINITY;
  /** Events that are pending or in flight. */
  #unsettled = 0;
  #nextSession: number;
  #nextEvent: number;
  /** Of what is settled, what nobody was told of yet. */
  readonly #untold: Done[] = [];
  #telling = false;
  #checkpointing = false;
  #closed: (() => void) | undefined;
  /** Why the last group was refused, and why an event was in the last group that had some; null: it was not. */
  #fault: string | null = null;
  #refusal: string | null = null;
  #isShort = false;
  #later: NodeJS.Timeout | null = null;
  #saving: NodeJS.Timeout | null = null;
  #ending: NodeJS.Timeout | null = null;
  readonly #idle: NodeJS.Timeout;
  /** Sessions that are to be ended. */
  readonly #resting = new Set<number>();
  /** Of those whose record is on the disk. */
  readonly #messages: WaitingMessage[] = [];
  readonly #meanwhile: (() => void)[] = [];

  /** @throws when the folder is in use by another agent or its database is newer than this program */
  static async open(folder: string, options: SpoolOptions = {}): Promise<Spool> {
    makePrivateFolder(folder);
    const workerData: WorkerOptions = { folder: path.resolve(folder), bytesMax: options.bytesMax ?? BYTES_MAX };
    const worker = startWorker(import.meta.url, "./worker", { workerData });
    const first = await new Promise<Answer>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    if ("ready" in first) return new Spool(worker, first.ready, options);
    await worker.terminate();
    throw new Error("fatal" in first ? first.fatal : "the spool did not start");
  }

  private constructor(worker: Worker, next: { session: number; event: number }, options: SpoolOptions) {
    this.#worker = worker;
    this.#nextSession = next.session;
    this.#nextEvent = next.event;
    this.#pending = new Pending(next.event);
    this.#onCommit = options.onCommit ?? (() => undefined);
    worker.removeAllListeners("error");
    // Without its spool the agent must not go on: an unhandled error ends the process, and the service manager restarts it.
    worker.on("error", (error) => {
      throw error;
    });
    worker.on("message", (answer: Answer) => this.#settle(answer));
    this.#idle = setTimeout(() => this.#checkpointInPause("empty log"), IDLE_MS);
  }

  /** Why nothing is stored, or a device is refused; null: all is stored. */
  get problem(): string | null {
    return this.#fault ?? this.#refusal;
  }

  /** There is little room left, or none: what is old should go. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** A new session of a device; it is stored with its first event. */
  openSession(device: string, profile: string): number {
    const id = this.#nextSession++;
    this.#pending.opened.push({ id, device, profile, firstEvent: this.#nextEvent, at: Date.now() });
    return id;
  }

  /**
   * Stores one event of a session and answers its id; `done` gets null once it is on disk, or why it is not. After a refusal
   * every event of that session is refused until a "gap" is stored, so that no record reads as if nothing were missing.
   */
  append({ device, session, kind, bytes, durable, meanwhile }: SpoolEvent, done: Done): number {
    const pending = this.#pending;
    pending.durable ||= durable;
    pending.events.push(session, EVENT_KINDS.indexOf(kind), Date.now(), bytes === null ? -1 : bytes.length);
    if (bytes !== null) pending.bytes.push(bytes);
    pending.done.push(done);
    if (meanwhile) this.#meanwhile.push(meanwhile);
    this.#unsettled += 1;
    this.#noteSpeaking(device);
    this.#schedule();
    return this.#nextEvent++;
  }

  /** Ends a session soon, unless it is resumed before. Should the disk refuse it, the session is replayed by the next start. */
  endLater(session: number): void {
    this.#resting.add(session);
    this.#ending ??= setTimeout(() => this.#endResting(), LATER_MS_MAX);
  }

  /** Whether a session that was to be ended goes on; false: it has ended. */
  resume(session: number): boolean {
    return this.#resting.delete(session);
  }

  #endResting(): void {
    if (this.#ending !== null) clearTimeout(this.#ending);
    this.#ending = null;
    if (this.#resting.size === 0) return;
    this.callLater("finishSessions", [...this.#resting], Date.now());
    this.#resting.clear();
  }

  /** Runs one operation in the next group, behind all that were asked for before it. @throws StorageError when the disk refuses it */
  call<Name extends keyof Operations>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    this.#schedule();
    return this.#run(name, args);
  }

  /**
   * Stores a message of which the record is on the disk: see addMessages(). Nobody waits for that as devices wait for their
   * answers, so messages go together where the thread has nothing else to do, or with a group once the oldest has waited for
   * some milliseconds: a row alone touches nearly as many pages as fifty. @throws StorageError when the disk refuses it
   */
  saveMessage(make: () => MessageRow): Promise<string | null> {
    if (this.#messages.length === 0) this.#saveIn(SAVE_MS.min, performance.now() + SAVE_MS.max);
    return new Promise((resolve, reject) => {
      this.#messages.push({ make, row: null, resolve, reject });
    });
  }

  #saveIn(ms: number, deadline: number): void {
    this.#saving = setTimeout(() => {
      if (this.#inFlight.length > 0 && performance.now() + ms < deadline) return this.#saveIn(ms, deadline);
      this.#pending.messages.push(...this.#messages.splice(0));
      this.#schedule();
    }, ms);
  }

  /** What there is to do while the thread commits. */
  #useTheTime(): void {
    if (this.#meanwhile.length > 0) for (const work of this.#meanwhile.splice(0)) work();
    for (const message of this.#messages) message.row ??= message.make();
  }

  /**
   * Runs one operation with the next group, whatever that is for: nobody waits for it, and it is worth no fsync of its own.
   * Should the disk refuse it, it has not happened.
   */
  callLater<Name extends keyof Operations>(name: Name, ...args: Parameters<Operations[Name]>): void {
    this.#pending.calls.push({ call: { name, args }, ...NOBODY });
    this.#later ??= setTimeout(() => this.#schedule(), LATER_MS_MAX);
  }

  #run<Name extends keyof Operations>(
    name: Name,
    args: Parameters<Operations[Name]>,
  ): Promise<ReturnType<Operations[Name]>> {
    return new Promise((resolve, reject) => {
      this.#pending.calls.push({ call: { name, args }, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /**
   * Settled when no device is likely to speak in the next milliseconds: just behind the words of one, or at once where none has
   * spoken lately. For what takes the processor or the disk for some milliseconds, so that no acknowledgement waits for it.
   */
  async pause(): Promise<void> {
    const since = this.#spokenAt;
    const until = performance.now() + PAUSE.withinMs;
    if (since < performance.now() - PAUSE.withinMs) return;
    for (let now = performance.now(); now < until; now = performance.now()) {
      if (this.#spokenAt !== since && now - this.#spokenAt >= PAUSE.silenceMs) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  /** For a SpoolLine in another thread: what it asks for waits for nobody here, and is in the same commits. */
  line(): MessagePort {
    const { port1: theirs, port2: ours } = new MessageChannel();
    this.#worker.postMessage({ line: ours } satisfies Request, [ours]);
    return theirs;
  }

  /** Settles what is under way, then ends the thread. */
  async close(): Promise<void> {
    do {
      if (this.#saving !== null) clearTimeout(this.#saving);
      this.#pending.messages.push(...this.#messages.splice(0));
      this.#endResting();
      this.#flush();
      if (this.#inFlight.length > 0 || this.#telling) await new Promise<void>((resolve) => (this.#closed = resolve));
      // Sessions end with their last message.
    } while (this.#messages.length > 0 || this.#resting.size > 0);
    clearTimeout(this.#idle);
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
  }

  #noteSpeaking(device: string): void {
    const now = performance.now();
    this.#spokenAt = now;
    const age = now - this.#periodFrom;
    if (age >= GATHER.periodMs) {
      this.#busyDevices = age < 2 * GATHER.periodMs ? this.#speaking.size : 0;
      this.#speaking.clear();
      this.#periodFrom = now;
    }
    this.#speaking.add(device);
  }

  #schedule(): void {
    if (this.#flushing) return;
    if (this.#busyDevices >= GATHER.devicesMin && this.#unsettled < this.#busyDevices / 2) {
      this.#gathering ??= setTimeout(() => this.#flush(), GATHER.ms);
      return;
    }
    this.#flushing = true;
    // After this round's sockets were read: what arrived together is posted together.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    if (this.#later !== null) clearTimeout(this.#later);
    this.#gathering = this.#later = null;
    const { opened, firstEvent, durable, done, messages, calls } = this.#pending;
    if (done.length === 0 && messages.length === 0 && calls.length === 0) return;
    const events = Float64Array.from(this.#pending.events);
    const bytes = concat(this.#pending.bytes);
    const post: Post = {
      ...{ opened, firstEvent, durable, events, bytes },
      messages: messages.map(({ row, make }) => row ?? make()),
      calls: calls.map(({ call }) => call),
    };
    this.#inFlight.push({ opened, events: done, messages, calls });
    this.#pending = new Pending(this.#nextEvent);
    this.#worker.postMessage(post satisfies Request, [bytes.buffer as ArrayBuffer]);
    this.#useTheTime();
  }

  #settle(answer: Answer): void {
    if (!("posts" in answer)) return;
    const settled = this.#inFlight.splice(0, answer.posts);
    this.#fault = answer.error;
    for (const { events } of settled) this.#unsettled -= events.length;
    if (answer.error !== null) {
      const error = new StorageError(answer.error);
      for (const { opened, events, messages, calls } of settled) {
        // Their later events may be stored: the session itself must come before them.
        this.#pending.opened.push(...opened);
        for (const done of events) this.#untold.push(() => done(error));
        for (const { reject } of [...messages, ...calls]) this.#untold.push(() => reject(error));
      }
    } else {
      this.#onCommit(answer.commitMs);
      if (answer.isLogLong) this.#checkpointInPause("checkpoint");
      if (answer.durable) this.#idle.refresh();
      const refused = new Map(answer.refused);
      this.#isShort = answer.isShort;
      if (settled.some(({ events }) => events.length > 0)) this.#refusal = answer.refused[0]?.[1] ?? null;
      let place = 0;
      let saved = 0;
      let next = 0;
      for (const { events, messages, calls } of settled) {
        for (const done of events) {
          const reason = refused.size === 0 ? undefined : refused.get(place++);
          this.#untold.push(reason === undefined ? done : () => done(new StorageError(reason)));
        }
        for (const { resolve, reject } of messages) {
          const id = answer.ids[saved++] ?? null;
          this.#untold.push(() => (isId(id) ? resolve(id) : reject(new Error(id.error))));
        }
        for (const { resolve, reject } of calls) {
          const result = answer.results[next++]!;
          this.#untold.push(() => ("error" in result ? reject(new Error(result.error)) : resolve(result.value)));
        }
      }
    }
    if (!this.#telling) this.#tell();
  }

  /** Puts the log into the database when no device is likely to wait for the thread. */
  #checkpointInPause(request: "checkpoint" | "empty log"): void {
    if (this.#checkpointing) return;
    this.#checkpointing = true;
    void this.pause().then(() => {
      this.#checkpointing = false;
      this.#worker.postMessage(request satisfies Request);
    });
  }

  /** Tells what was settled a little at a time: what comes in between is on its way to the disk while the rest is told. */
  #tell(): void {
    if (this.#flushing && this.#inFlight.length === 0) this.#flush();
    const until = performance.now() + TELL_MS;
    let told = 0;
    while (told < this.#untold.length && (told === 0 || performance.now() < until)) this.#untold[told++]!(null);
    this.#untold.splice(0, told);
    this.#telling = this.#untold.length > 0;
    if (this.#telling) setImmediate(() => this.#tell());
    else if (this.#inFlight.length === 0) this.#closed?.();
  }
}

/** What reads and writes the spool through its operations needs of it. */
export type SpoolCalls = Pick<Spool, "call" | "callLater">;

/** Something that moved a link; `durable`: what is done about it is a promise that has to survive a power cut. */
export interface SpoolEvent {
  readonly device: string;
  readonly session: number;
  readonly kind: EventKind;
  readonly bytes: Uint8Array | null;
  readonly durable: boolean;
  /** What is done when the event is on its way; absent or null: nothing. */
  readonly meanwhile?: (() => void) | null;
}

type Done = (error: StorageError | null) => void;

const NOBODY = { resolve: () => undefined, reject: () => undefined };

interface Waiting {
  readonly call: Call;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

function isId(answer: string | null | { readonly error: string }): answer is string | null {
  return answer === null || typeof answer === "string";
}

interface WaitingMessage {
  readonly make: () => MessageRow;
  row: MessageRow | null;
  readonly resolve: (id: string | null) => void;
  readonly reject: (error: Error) => void;
}

/** What the next post will hold. */
class Pending {
  readonly firstEvent: number;
  readonly opened: OpenedSession[] = [];
  /** As in a post. */
  readonly events: number[] = [];
  durable = false;
  readonly bytes: Uint8Array[] = [];
  readonly done: Done[] = [];
  readonly messages: WaitingMessage[] = [];
  readonly calls: Waiting[] = [];

  constructor(firstEvent: number) {
    this.firstEvent = firstEvent;
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

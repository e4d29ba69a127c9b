import fs from "node:fs";
import path from "node:path";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { type Loss, recentLoss } from "../shared/commit-mark.ts";
import { makePrivateFolder } from "../shared/private-folder.ts";
import { damageTold } from "../shared/damaged-file.ts";
import type { Standing } from "./device-state.ts";
import { EVENT_KINDS, type EventKind } from "./record.ts";
import { type MessageRow, type MessageState, type Operations, operationsOn } from "./spool-operations.ts";
import { RESERVE_FILE } from "./reserve.ts";
import type { ServerState } from "./server-state.ts";
import { isCurrent } from "./spool-schema.ts";
import type { Answer, Call, OpenedSession, Post, Request, WorkerOptions } from "./spool-worker.ts";
import { StorageError } from "./storage-error.ts";
import { startWorker } from "./worker.ts";

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
    const worker = startWorker("spool-worker", { workerData });
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

export interface MessageSummary {
  readonly id: string;
  readonly device: string;
  readonly received_at: string;
  readonly state: MessageState;
  readonly reason: string | null;
  readonly study_fps: readonly string[];
}

/** A device as it describes itself. */
export interface Instrument {
  readonly name: string;
  readonly said_at: string;
  /** Its last status, in its own words. */
  readonly status: object;
  /** The latest first. */
  readonly events: readonly object[];
}

/** Of an instrument, `status` tells no more; the others stay in the spool for as long as messages do. */
const EVENTS_SHOWN = 5;

/** The key of the meta table under which the running agent keeps the state of its server. */
export const SERVER_META = "server";

/** The key under which it keeps this machine's clock less the server's, in seconds. */
export const CLOCK_META = "clock";

/** The word for a device of an agent that does not run, or that is not in its configuration any more. */
export const NOT_SERVED = "not served";

export interface DeviceStatus {
  readonly id: string;
  readonly connected: boolean;
  readonly last_message_at: string | null;
  readonly counts: Readonly<Record<MessageState, number>>;
  readonly state: Standing["is"] | typeof NOT_SERVED;
  /** Why it cannot be reached, and what to do. */
  readonly reason: string | null;
  readonly since: string | null;
  readonly last_bytes_at: string | null;
  readonly last_warning: { readonly at: string; readonly reason: string } | null;
  /** Silent connections closed for new ones since the agent started. Absent if there were none. */
  readonly gave_way?: { readonly connections: number; readonly last_address: string };
  /** Since the agent started; null while it is not served. */
  readonly counters: {
    readonly bytes: number;
    readonly messages: number;
    readonly warnings: number;
    readonly noise_bytes: number;
  } | null;
  /** Those that speak on its connection, where they say how they are (POCT1-A). */
  readonly instruments?: readonly Instrument[];
}

export interface SpoolStatus {
  readonly running: boolean;
  readonly devices: readonly DeviceStatus[];
  /** null: the agent does not run. */
  readonly server: { readonly state: ServerState["is"]; readonly reason: string | null; readonly since: string } | null;
  /** This machine's clock less the server's; null until an answer with a Date came. */
  readonly clock: { readonly offset_s: number } | null;
  readonly outbox: { readonly depth: number; readonly oldest_at: string | null };
  /** Found within the last 30 days; null: none was. */
  readonly loss: Loss | null;
  /** The clinic's patients as they are stored here. `fetched_at`: when the last full list was fetched; null: never. */
  readonly directory: {
    readonly patients: number;
    readonly fetched_at: string | null;
    readonly synced_at: string | null;
  };
}

/** Reads a data folder beside the agent that writes it. @throws when there is no spool in it */
export function readSpool<Result>(folder: string, read: (db: Database.Database) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } catch (error) {
    throw damageTold(error, file);
  } finally {
    db.close();
  }
}

/** The same for what takes more than one step. @throws also when the spool is of another version of this program */
export async function searchSpool<Result>(
  folder: string,
  search: (db: Database.Database) => Promise<Result>,
): Promise<Result> {
  const file = spoolFile(folder);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    if (!isCurrent(db)) throw new Error(otherVersion(folder));
    return await search(db);
  } catch (error) {
    throw damageTold(error, file);
  } finally {
    db.close();
  }
}

/** How long a command waits for the running agent's commit, which takes some milliseconds. */
const BUSY_MS = 5_000;

/**
 * Writes to a data folder beside the agent that owns it, in one transaction, on the disk when this returns. SQLite lets one
 * writer in at a time: whichever of the two comes second waits.
 * @throws when there is no spool in it, or one that the agent of this version has not opened yet
 */
export function writeSpool<Result>(folder: string, write: (operations: Operations) => Result): Result {
  const file = spoolFile(folder);
  const db = new Database(file, { fileMustExist: true, timeout: BUSY_MS });
  try {
    if (!isCurrent(db)) throw new Error(otherVersion(folder));
    db.pragma("synchronous = FULL");
    const operations = operationsOn(db);
    return db.transaction(() => write(operations)).immediate();
  } catch (error) {
    throw damageTold(error, file);
  } finally {
    db.close();
  }
}

function otherVersion(folder: string): string {
  return `the spool in ${folder} is of another version: run this version's agent first`;
}

function spoolFile(folder: string): string {
  const file = path.join(folder, "spool.db");
  if (!fs.existsSync(file)) throw new Error(`there is no spool in ${folder}: the agent has not run with it yet`);
  return file;
}

/**
 * Every message, the oldest first. One that was cut short is where the message that completed it is. `behind`: only those that
 * were stored after that row, and those of these ids.
 */
export function listMessages(
  db: Database.Database,
  behind: { row: number; ids: readonly string[] } = EVERY_ROW,
): MessageSummary[] {
  const rows = db
    .prepare(
      `SELECT m.id, m.device, m.received_at, COALESCE(c.state, m.state) AS state,
         CASE WHEN c.id IS NULL THEN m.reason ELSE 'incomplete, completed by ' || c.id END AS reason,
         (SELECT json_group_array(DISTINCT COALESCE(s.existing_fp, s.fp)) FROM message_study l
            JOIN study s ON s.fp = l.fp AND s.revision = l.revision WHERE l.message = COALESCE(c.id, m.id)) AS fps
       FROM message m LEFT JOIN message c ON c.id = m.completed_by
       WHERE m.rowid > @row OR m.id IN (SELECT value FROM json_each(@ids)) ORDER BY m.received_at, m.rowid`,
    )
    .all({ row: behind.row, ids: JSON.stringify(behind.ids) }) as {
    id: string;
    device: string;
    received_at: number;
    state: MessageState;
    reason: string | null;
    fps: string;
  }[];
  return rows.map(({ id, device, received_at, state, reason, fps }) => ({
    id,
    device,
    received_at: new Date(received_at).toISOString(),
    state,
    reason,
    study_fps: JSON.parse(fps) as string[],
  }));
}

const EVERY_ROW = { row: 0, ids: [] };

/** Devices, counts and the outbox; a device of an agent that is not running is not connected. */
export function readStatus(db: Database.Database, folder: string): SpoolStatus {
  const running = isRunning(folder);
  const devices = db
    .prepare("SELECT id, connected, last_message_at, last_bytes_at, standing FROM device ORDER BY id")
    .all() as {
    id: string;
    connected: number;
    last_message_at: number | null;
    last_bytes_at: number | null;
    standing: string | null;
  }[];
  const count = db.prepare("SELECT state, COUNT(*) AS count FROM message WHERE device = ? GROUP BY state");
  const outbox = db
    .prepare("SELECT COUNT(*) AS depth, MIN(created_at) AS oldest FROM study WHERE state = 'queued'")
    .get() as {
    depth: number;
    oldest: number | null;
  };
  return {
    running,
    devices: devices.map(({ id, connected, last_message_at, last_bytes_at, standing }) => {
      const counts = { pending: 0, filed: 0, unmatched: 0, "not-for-patients": 0, quarantined: 0 };
      for (const row of count.all(id) as { state: MessageState; count: number }[]) counts[row.state] = row.count;
      const device = {
        ...{ id, connected: running && connected === 1, last_message_at: isoOrNull(last_message_at), counts },
        ...readStanding(running ? standing : null),
        last_bytes_at: isoOrNull(last_bytes_at),
      };
      const instruments = readInstruments(db, id);
      return instruments.length === 0 ? device : { ...device, instruments };
    }),
    outbox: { depth: outbox.depth, oldest_at: isoOrNull(outbox.oldest) },
    directory: readDirectory(db),
    server: running ? readServer(db) : null,
    clock: readClock(db),
    loss: recentLoss(db),
  };
}

function readServer(db: Database.Database): SpoolStatus["server"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(SERVER_META) as string | undefined;
  if (text === undefined) return null;
  const { is: state, reason, since } = JSON.parse(text) as ServerState;
  return { state, reason, since: new Date(since).toISOString() };
}

function readClock(db: Database.Database): SpoolStatus["clock"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(CLOCK_META) as string | undefined;
  return text === undefined ? null : { offset_s: Number(text) };
}

function readStanding(
  standing: string | null,
): Pick<DeviceStatus, "state" | "reason" | "since" | "last_warning" | "gave_way" | "counters"> {
  if (standing === null) return { state: NOT_SERVED, reason: null, since: null, last_warning: null, counters: null };
  const { is: state, reason, since, lastWarning, gaveWay, counters } = JSON.parse(standing) as Standing;
  const { noiseBytes: noise_bytes, ...counted } = counters;
  return {
    ...{ state, reason, since: isoOrNull(since) },
    last_warning: lastWarning && { at: new Date(lastWarning.at).toISOString(), reason: lastWarning.reason },
    ...(gaveWay === undefined
      ? {}
      : { gave_way: { connections: gaveWay.connections, last_address: gaveWay.lastAddress } }),
    counters: { ...counted, noise_bytes },
  };
}

function readDirectory(db: Database.Database): SpoolStatus["directory"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = 'directory'").pluck().get() as string | undefined;
  const { walkedAt = null, syncedAt = null } = JSON.parse(text ?? "{}") as { walkedAt?: number; syncedAt?: number };
  const patients = db.prepare("SELECT COUNT(*) FROM patient").pluck().get() as number;
  return { patients, fetched_at: isoOrNull(walkedAt), synced_at: isoOrNull(syncedAt) };
}

function readInstruments(db: Database.Database, device: string): Instrument[] {
  const statuses = db
    .prepare("SELECT name, content, at FROM news WHERE device = ? AND topic = 'status' ORDER BY name")
    .all(device) as { name: string; content: string; at: number }[];
  const events = db
    .prepare(
      `SELECT content FROM news WHERE device = ? AND name = ? AND topic = 'event' ORDER BY at DESC, content DESC LIMIT ${EVENTS_SHOWN}`,
    )
    .pluck();
  return statuses.map(({ name, content, at }) => ({
    name,
    said_at: new Date(at).toISOString(),
    status: JSON.parse(content) as object,
    events: (events.all(device, name) as string[]).map((event) => JSON.parse(event) as object),
  }));
}

function isRunning(folder: string): boolean {
  const file = path.join(folder, "lock.db");
  if (!fs.existsSync(file)) return false;
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec("BEGIN IMMEDIATE; ROLLBACK");
    return false;
  } catch (error) {
    const told = damageTold(error, file);
    if (told !== error) throw told;
    return true;
  } finally {
    db.close();
  }
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

import path from "node:path";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { CommitMark } from "../../shared/runtime/commit-mark.ts";
import { damageTold } from "../../shared/runtime/damaged-file.ts";
import { lockFolder } from "../../shared/runtime/folder-lock.ts";
import { makePrivateFile } from "../../shared/runtime/private-folder.ts";
import { reasonOf } from "../../shared/runtime/error-message.ts";
import { EVENT_KINDS } from "./queries/event-log.ts";
import { Reserve } from "./reserve.ts";
import { RESERVE_BYTES, Room } from "./room.ts";
import type { MessageRow } from "./queries/message-row.ts";
import { type Operations, operationsOn } from "./queries/operations.ts";
import { migrate } from "./schema.ts";

// The thread that owns the spool's database, so that the event loop never waits for the disk. All posts that arrived
// while the last commit ran go into the next transaction: one fsync pays for all of them (group commit).

/** Many events, packed: structured clone is slow for many small things and fast for one that is large. */
export interface Post {
  readonly opened: readonly OpenedSession[];
  /** The id of the first event; those of the others follow. */
  readonly firstEvent: number;
  /** Of each event its session, the place of its kind in EVENT_KINDS, its time, and its length; -1: it has no bytes. */
  readonly events: Float64Array;
  /** One of the events has to survive a power cut. */
  readonly durable: boolean;
  readonly bytes: Uint8Array;
  /** Of events that are on the disk already, or are in this post. */
  readonly messages: readonly MessageRow[];
  readonly calls: readonly Call[];
}
export interface OpenedSession {
  readonly id: number;
  readonly device: string;
  readonly profile: string;
  readonly firstEvent: number;
  readonly at: number;
}
export interface Call {
  readonly name: keyof Operations;
  readonly args: readonly unknown[];
}
/** `error`: nothing of these posts was stored. */
export type Answer =
  | { readonly ready: { readonly session: number; readonly event: number } }
  | {
      readonly posts: number;
      /** Of each message the id by which it is to be read: see addMessages(); or why it could not be stored. */
      readonly ids: readonly (string | null | { readonly error: string })[];
      readonly results: readonly CallResult[];
      /** Events that were not stored, by their place in all of the group, and why: see `refusing`. */
      readonly refused: readonly (readonly [place: number, reason: string])[];
      /** There is little room, or none. */
      readonly isShort: boolean;
      readonly error: null;
      readonly commitMs: number;
      /** The group was fsynced. */
      readonly durable: boolean;
      /** It is time to put the log into the database: a moment should be chosen at which nobody waits for the disk. */
      readonly isLogLong: boolean;
    }
  | { readonly posts: number; readonly error: string }
  | { readonly fatal: string };
/**
 * A post to store, a checkpoint, or another thread's line to listen to. "checkpoint" keeps the file of the log, because a file
 * that grows makes commits slower. "empty log" leaves nothing in it that damage could reach.
 */
export type Request = Post | "checkpoint" | "empty log" | { readonly line: MessagePort };
export type CallResult = { readonly value: unknown } | { readonly error: string };
/** To each call on a line, in order. `refused`: nothing of its group was stored. */
export type LineAnswer = CallResult | { readonly refused: string };

export interface WorkerOptions {
  readonly folder: string;
  readonly bytesMax: number;
}

const NUMBERS_PER_EVENT = 4;
const PAGE_BYTES = 4096;
/** Of the log. A checkpoint stops every device for some milliseconds: one in 16 MB, in a pause, or where none comes in 64 MB. */
const LOG_PAGES = { long: 4_000, max: 16_000 };
/** What a commit writes besides the bytes that came in: measured, a dozen pages of tables and indexes. */
const PAGES_PER_COMMIT = 12;
/** Operations whose outcome somebody outside is told. */
const PROMISES: ReadonlySet<keyof Operations> = new Set([
  ...(["takeQueued", "addInstance"] as const),
  ...(["scheduledSteps", "createStep", "updateStep", "addCommitment", "promiseInstances", "removeInstances"] as const),
]);

/** How long a commit waits for that of a command. */
const BUSY_MS = 5_000;

function open({ folder, bytesMax }: WorkerOptions): { db: Database.Database; mark: CommitMark } {
  makePrivateFile(path.join(folder, "spool.db"));
  const db = new Database(path.join(folder, "spool.db"), { timeout: BUSY_MS });
  db.pragma(`page_size = ${PAGE_BYTES}`);
  db.pragma("cache_size = -16000"); // KiB
  db.pragma("journal_mode = WAL");
  db.pragma(`wal_autocheckpoint = ${LOG_PAGES.max}`);
  // The file is kept, for growing it costs too.
  db.pragma(`journal_size_limit = ${LOG_PAGES.max * PAGE_BYTES}`);
  migrate(db);
  const mark = new CommitMark(db, path.join(folder, "spool.mark"));
  // Devices are refused before: see Room. A disk is never filled to the brim.
  db.pragma(`max_page_count = ${Math.ceil((bytesMax + RESERVE_BYTES) / PAGE_BYTES)}`);
  return { db, mark };
}

/** Takes a step of the start. On a disk without room the reserve is given up for it. */
function withReserve<Result>(reserve: Reserve, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    const isFull = isStorageFault(error) || (error as NodeJS.ErrnoException).code === "ENOSPC";
    if (!isFull || !reserve.giveUp()) throw error;
    return step();
  }
}

function serve(): void {
  const port = parentPort;
  if (port === null) throw new Error("spool-worker runs as a worker thread");
  const answer = (value: Answer) => port.postMessage(value);
  const options = workerData as WorkerOptions;
  const { folder } = options;
  // An error of SQLite does not cross threads whole: its sentence does.
  const told = (error: unknown) => reasonOf(damageTold(error, path.join(folder, "spool.db")));
  const reserve = new Reserve(folder);
  let files: ReturnType<typeof open>;
  let room: Room;
  let operations: Operations;
  let ready: ReturnType<Operations["nextIds"]>;
  try {
    withReserve(reserve, () => lockFolder(folder, `another agent is running with the data folder ${folder}`));
    files = withReserve(reserve, () => open(options));
    room = new Room(files.db, options.bytesMax);
    operations = operationsOn(files.db, room.sizes);
    ready = operations.nextIds();
  } catch (error) {
    answer({ fatal: told(error) });
    return;
  }
  const { db, mark } = files;
  const insertSession = db.prepare(
    "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (@id, @device, @profile, @firstEvent, @at)",
  );
  const insertEvent = db.prepare("INSERT INTO event (id, session, kind, at, bytes) VALUES (?, ?, ?, ?, ?)");

  // Sessions of which an event was refused. What was posted right behind it must not be stored as if nothing were missing:
  // it is refused too, until the session says with a gap that it knows.
  let refusing = new Set<number>();
  /** Sessions without a stored event. A device that is refused takes no room, however often it comes. */
  const unstored = new Map<number, OpenedSession>();

  /** Stores the events of all posts. Returns what it stored, what it refused, and the sessions that are not whole since. */
  const storeEvents = (posts: readonly Post[]): StoredEvents => {
    const refusal = reserve.isGivenUp ? () => "the disk is full" : room.refusal();
    const refused: [number, string][] = [];
    const broken = new Set(refusing);
    const stored: [number, number][] = [];
    const begun = new Set<number>();
    let place = 0;
    for (const post of posts) {
      let offset = 0;
      let id = post.firstEvent;
      for (let at = 0; at < post.events.length; at += NUMBERS_PER_EVENT) {
        const session = post.events[at]!;
        const kind = EVENT_KINDS[post.events[at + 1]!]!;
        const time = post.events[at + 2]!;
        const length = post.events[at + 3]!;
        const bytes = length < 0 ? null : post.bytes.subarray(offset, offset + length);
        if (length > 0) offset += length;
        const isBehind = broken.has(session) && kind !== "gap";
        const reason = isBehind ? "an event before it was refused" : refusal(session, bytes?.length ?? 0);
        if (reason === null) {
          const opened = begun.has(session) ? undefined : unstored.get(session);
          if (opened !== undefined) insertSession.run(opened);
          begun.add(session);
          insertEvent.run(id, session, kind, time, bytes);
          broken.delete(session);
          stored.push([session, bytes?.length ?? 0]);
        } else {
          broken.add(session);
          refused.push([place, reason]);
        }
        id += 1;
        place += 1;
      }
    }
    return { refused, broken, stored };
  };
  const runCall = db.transaction((call: Call): unknown => {
    const operation = operations[call.name] as (...args: readonly unknown[]) => unknown;
    return operation(...call.args);
  });
  const addMessages = db.transaction(operations.addMessages);
  /** All at once; one that our own fault keeps from being stored is found by itself, and stops none of the others. */
  const saveMessages = (rows: readonly MessageRow[]): (string | null | { error: string })[] => {
    if (rows.length === 0) return [];
    try {
      return addMessages(rows);
    } catch (error) {
      if (isStorageFault(error)) throw error;
      return rows.length === 1 ? [{ error: reasonOf(error) }] : rows.flatMap((row) => saveMessages([row]));
    }
  };
  const commit = db.transaction((posts: readonly Post[], durable: boolean) => {
    const events = storeEvents(posts);
    const ids = saveMessages(posts.flatMap(({ messages }) => messages));
    const results = posts.flatMap(({ calls }) =>
      calls.map((call): CallResult => {
        try {
          return { value: runCall(call) };
        } catch (error) {
          if (isStorageFault(error)) throw error;
          return { error: reasonOf(error) };
        }
      }),
    );
    return { ...events, ids, results, counted: durable ? mark.count(operations.nextIds()) : null };
  });

  let synchronous = "";
  const synchronize = (level: "FULL" | "NORMAL") => {
    if (level !== synchronous) db.pragma(`synchronous = ${level}`);
    synchronous = level;
  };

  let logPages = 0;
  const checkpoint = (mode: "PASSIVE" | "TRUNCATE") => {
    logPages = 0;
    try {
      // Devices must not wait until a command has read: then the log is emptied another time.
      db.pragma("busy_timeout = 0");
      db.pragma(`wal_checkpoint(${mode})`);
    } catch {
      // The disk's fault: the log grows on, and the next commit tells.
    } finally {
      db.pragma(`busy_timeout = ${BUSY_MS}`);
    }
  };

  /** A full disk gets room for all but the events of devices. */
  const commitWithReserve = (group: readonly Post[], durable: boolean) => {
    try {
      return commit.immediate(group, durable);
    } catch (error) {
      if (!isStorageFault(error) || !reserve.giveUp()) throw error;
      checkpoint("PASSIVE");
      return commit.immediate(group, durable);
    }
  };

  const forget = ([sessions]: readonly unknown[]) => {
    room.finish(sessions as readonly number[]);
    for (const session of sessions as readonly number[]) unstored.delete(session);
  };

  const commitAll = (posts: readonly Post[], asked: readonly Asked[]) => {
    const from = performance.now();
    const group = asked.length === 0 ? posts : [...posts, { ...NO_EVENTS, calls: asked.map(({ call }) => call) }];
    // The device will be told that we have its bytes, the server which study has which fp: both must survive a power cut.
    // What is computed from the bytes can be computed again, and is on the disk with the next commit that has to be.
    const durable = group.some((post) => post.durable || post.calls.some(({ name }) => PROMISES.has(name)));
    synchronize(durable ? "FULL" : "NORMAL");
    for (const session of posts.flatMap(({ opened }) => opened)) {
      unstored.set(session.id, session);
      room.open(session.id, session.device);
    }
    try {
      const { ids, results, refused, broken, stored, counted } = commitWithReserve(group, durable);
      const theirs = results.splice(results.length - asked.length);
      for (const [place, { line }] of asked.entries()) line.postMessage(theirs[place] satisfies LineAnswer | undefined);
      refusing = broken;
      for (const [session, bytes] of stored) {
        unstored.delete(session);
        room.add(session, bytes);
      }
      for (const { name, args } of group.flatMap(({ calls }) => calls)) if (name === "finishSessions") forget(args);
      logPages += PAGES_PER_COMMIT;
      for (const { bytes } of posts) logPages += bytes.length / PAGE_BYTES;
      const [commitMs, isLogLong] = [performance.now() - from, logPages >= LOG_PAGES.long];
      const isShort = reserve.isGivenUp || room.isShort;
      answer({ posts: posts.length, ids, results, refused, isShort, error: null, commitMs, durable, isLogLong });
      if (counted !== null) mark.save(counted);
    } catch (error) {
      for (const { line } of asked) line.postMessage({ refused: told(error) } satisfies LineAnswer);
      for (const { events } of posts) {
        for (let at = 0; at < events.length; at += NUMBERS_PER_EVENT) refusing.add(events[at]!);
      }
      answer({ posts: posts.length, error: told(error) });
    }
  };

  /** Other threads that have operations run. */
  const lines: MessagePort[] = [];

  /** Takes what is there by now, from whomever. */
  const serveAll = (requests: Request[], asked: Asked[]) => {
    requests.push(...(waitingOn(port) as Request[]));
    for (const line of lines) asked.push(...(waitingOn(line) as Call[]).map((call) => ({ line, call })));
    const posts = requests.filter((request) => typeof request === "object" && "events" in request);
    if (posts.length > 0 || asked.length > 0) commitAll(posts, asked);
    for (const request of requests) {
      if (request === "checkpoint") checkpoint("PASSIVE");
      else if (request === "empty log") checkpoint("TRUNCATE");
      else if ("line" in request) listen(request.line);
    }
  };
  const listen = (line: MessagePort) => {
    lines.push(line);
    line.on("message", (call: Call) => serveAll([], [{ line, call }]));
  };

  port.on("message", (first: Request) => serveAll([first], []));
  answer({ ready });
  reserve.keep();
}

interface StoredEvents {
  readonly refused: (readonly [place: number, reason: string])[];
  readonly broken: Set<number>;
  /** Sessions and lengths. */
  readonly stored: (readonly [session: number, bytes: number])[];
}

/** What another thread asks for. */
interface Asked {
  readonly line: MessagePort;
  readonly call: Call;
}

const NO_EVENTS: Omit<Post, "calls"> = {
  ...{ opened: [], firstEvent: 0, durable: false },
  ...{ events: new Float64Array(0), bytes: new Uint8Array(0), messages: [] },
};

function waitingOn(port: MessagePort): unknown[] {
  const messages: unknown[] = [];
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    messages.push(next.message);
  }
  return messages;
}

/** The disk's fault (full, read-only, I/O): nothing of the group may be believed. Anything else concerns one call. */
function isStorageFault(error: unknown): boolean {
  return (
    error instanceof Database.SqliteError &&
    !error.code.startsWith("SQLITE_CONSTRAINT") &&
    error.code !== "SQLITE_ERROR"
  );
}

serve();

import path from "node:path";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type Database from "better-sqlite3";
import { finishRestore } from "../../shared/care/restore-steps.ts";
import { storageAdvice } from "../../shared/care/storage-advice.ts";
import type { CommitMark } from "../../shared/runtime/commit-mark.ts";
import { describeDamage } from "../../shared/runtime/damaged-file.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { watchFiles } from "../../shared/runtime/file-watch.ts";
import { lockFolder } from "../../shared/runtime/folder-lock.ts";
import { EventStore, type StoredEvents } from "./event-store.ts";
import type { MessageRow } from "./queries/messages/message-row.ts";
import { type Operations, operationsOn } from "./queries/operations.ts";
import { Reserve } from "./reserve.ts";
import { Room } from "./room.ts";
import type {
  Batch,
  CallResult,
  MessageResult,
  OperationCall,
  RemoteReply,
  WorkerOptions,
  WorkerReply,
  WorkerRequest,
} from "./wire-format.ts";
import { isStorageFault, openDatabase, WriteAheadLog } from "./database.ts";

// The worker thread that owns the spool's database, so that the event loop never waits for the disk. The batches that arrive
// during a commit share the next transaction and its fsync (group commit).

/** Operations whose outcome is reported to a device or the server. Their commits are fsynced. */
const DURABLE_OPERATIONS: ReadonlySet<keyof Operations> = new Set([
  "takeQueued",
  "addInstance",
  "scheduledSteps",
  "createStep",
  "updateStep",
  "addCommitment",
  "markCommitted",
  "removeInstances",
] as const);

/** Interval between two looks for the files, in ms. Every commit looks too. */
const FILES_LOOK_MS = 1_000;

/** A call of another thread, with the port for its reply. */
interface RemoteCall {
  readonly port: MessagePort;
  readonly call: OperationCall;
}

interface CommittedGroup extends StoredEvents {
  readonly ids: readonly MessageResult[];
  readonly results: readonly CallResult[];
  /** The text of the commit mark. Null if the group is not durable. */
  readonly mark: ReturnType<CommitMark["count"]> | null;
}

interface OpenSpool {
  readonly db: Database.Database;
  readonly mark: CommitMark;
  readonly room: Room;
  readonly reserve: Reserve;
  readonly operations: Operations;
}

class FilesMissing extends Error {}

class SpoolWorker {
  readonly #port: MessagePort;
  readonly #spool: OpenSpool;
  readonly #describe: (error: unknown) => string;
  readonly #findMissing: () => string | null;
  readonly #events: EventStore;
  readonly #log: WriteAheadLog;
  /** The ports of other threads that call operations. */
  readonly #remotes: MessagePort[] = [];
  readonly #runCall: (call: OperationCall) => unknown;
  readonly #addMessages: Operations["addMessages"];
  readonly #runGroup: (batches: readonly Batch[], durable: boolean) => CommittedGroup;

  constructor(port: MessagePort, spool: OpenSpool, describe: (error: unknown) => string) {
    const { db, room, reserve, operations } = spool;
    this.#port = port;
    this.#spool = spool;
    this.#describe = describe;
    this.#findMissing = watchFiles([db.name, `${db.name}-wal`]);
    this.#events = new EventStore(db, room, reserve);
    this.#log = new WriteAheadLog(db);
    this.#runCall = db.transaction(({ name, args }: OperationCall): unknown => {
      const operation = operations[name] as (...values: readonly unknown[]) => unknown;
      return operation(...args);
    });
    this.#addMessages = db.transaction(operations.addMessages);
    const runGroup = db.transaction(this.#storeGroup.bind(this));
    this.#runGroup = (batches, durable) => runGroup.immediate(batches, durable);
  }

  run(): void {
    this.#port.on("message", (first: WorkerRequest) => this.#serve([first], []));
    setInterval(() => this.#requireFiles(), FILES_LOOK_MS).unref();
  }

  /** Serves the requests that have arrived by now, from all threads. */
  #serve(requests: WorkerRequest[], remoteCalls: RemoteCall[]): void {
    requests.push(...(receiveAll(this.#port) as WorkerRequest[]));
    for (const port of this.#remotes) {
      for (const call of receiveAll(port) as OperationCall[]) remoteCalls.push({ port, call });
    }
    const batches = requests.filter((request) => typeof request === "object" && "events" in request);
    if (batches.length > 0 || remoteCalls.length > 0) this.#commitBatches(batches, remoteCalls);
    for (const request of requests) {
      if (request === "checkpoint") this.#log.checkpoint("PASSIVE");
      else if (request === "empty log") this.#log.checkpoint("TRUNCATE");
      else if ("remote" in request) this.#serveRemote(request.remote);
    }
  }

  #serveRemote(port: MessagePort): void {
    this.#remotes.push(port);
    port.on("message", (call: OperationCall) => this.#serve([], [{ port, call }]));
  }

  #commitBatches(batches: readonly Batch[], remoteCalls: readonly RemoteCall[]): void {
    const from = performance.now();
    const remoteBatch = { ...NO_EVENTS, calls: remoteCalls.map(({ call }) => call) };
    const group = remoteCalls.length === 0 ? batches : [...batches, remoteBatch];
    const calls = group.flatMap((batch) => batch.calls);
    // Acknowledged bytes and assigned fps must survive a power cut. Everything else can be computed again from the bytes.
    const durable = group.some((batch) => batch.durable) || calls.some(({ name }) => DURABLE_OPERATIONS.has(name));
    this.#log.synchronize(durable ? "FULL" : "NORMAL");
    this.#events.open(batches);
    try {
      const committed = this.#commitWithReserve(group, durable);
      // Looked for last: a commit into a removed file is not acknowledged.
      this.#requireFiles();
      const { ids, refused, mark } = committed;
      const results = committed.results.slice(0, committed.results.length - remoteCalls.length);
      for (const [index, { port }] of remoteCalls.entries()) {
        port.postMessage(committed.results[results.length + index] satisfies RemoteReply | undefined);
      }
      this.#events.committed(committed);
      for (const { name, args } of calls) if (name === "finishSessions") this.#events.finish(args[0] as number[]);
      this.#log.addCommit(batches.reduce((sum, { events }) => sum + events.bytes.length, 0));
      const commitMs = performance.now() - from;
      const isShort = this.#spool.reserve.isGivenUp || this.#spool.room.isShort;
      const isLogLong = this.#log.isLong;
      this.#reply({
        batches: batches.length,
        error: null,
        ids,
        results,
        refused,
        isShort,
        commitMs,
        durable,
        isLogLong,
      });
      if (mark !== null) this.#spool.mark.save(mark);
    } catch (error) {
      if (error instanceof FilesMissing) throw error;
      const reason = this.#describe(error);
      for (const { port } of remoteCalls) port.postMessage({ refused: reason } satisfies RemoteReply);
      this.#events.failed(batches);
      this.#reply({ batches: batches.length, error: reason });
    }
  }

  /** @throws FilesMissing, which ends the agent: the next start makes a new spool */
  #requireFiles(): void {
    const missing = this.#findMissing();
    if (missing !== null) throw new FilesMissing(`${missing} was removed or replaced: the agent stops`);
  }

  /** Commits a group. On a full disk it gives up the reserve, which leaves room for all but the events of devices. */
  #commitWithReserve(group: readonly Batch[], durable: boolean): CommittedGroup {
    try {
      return this.#runGroup(group, durable);
    } catch (error) {
      if (!isStorageFault(error) || !this.#spool.reserve.giveUp()) throw error;
      this.#log.checkpoint("PASSIVE");
      return this.#runGroup(group, durable);
    }
  }

  /** Runs inside the transaction of the group. */
  #storeGroup(batches: readonly Batch[], durable: boolean): CommittedGroup {
    const { mark, operations } = this.#spool;
    const events = this.#events.store(batches);
    const ids = this.#storeMessages(batches.flatMap(({ messages }) => messages));
    const results = batches.flatMap(({ calls }) => calls).map((call) => this.#callResult(call));
    return { ...events, ids, results, mark: durable ? mark.count(operations.nextIds()) : null };
  }

  /** Stores all messages at once. After an error it stores them one by one, so that an invalid one blocks no other. */
  #storeMessages(rows: readonly MessageRow[]): MessageResult[] {
    if (rows.length === 0) return [];
    try {
      return this.#addMessages(rows);
    } catch (error) {
      if (isStorageFault(error)) throw error;
      return rows.length === 1 ? [{ error: errorMessage(error) }] : rows.flatMap((row) => this.#storeMessages([row]));
    }
  }

  #callResult(call: OperationCall): CallResult {
    try {
      return { value: this.#runCall(call) };
    } catch (error) {
      if (isStorageFault(error)) throw error;
      return { error: errorMessage(error) };
    }
  }

  #reply(reply: WorkerReply): void {
    this.#port.postMessage(reply);
  }
}

const NO_EVENTS: Omit<Batch, "calls"> = {
  opened: [],
  events: { firstEvent: 0, numbers: new Float64Array(0), bytes: new Uint8Array(0) },
  durable: false,
  messages: [],
};

function receiveAll(port: MessagePort): unknown[] {
  const messages: unknown[] = [];
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    messages.push(next.message);
  }
  return messages;
}

/** Runs a step of the start. On a full disk it gives up the reserve and tries again. */
function withReserve<Result>(reserve: Reserve, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    const isFull = isStorageFault(error) || (error as NodeJS.ErrnoException).code === "ENOSPC";
    if (!isFull || !reserve.giveUp()) throw error;
    return step();
  }
}

function openSpool(options: WorkerOptions, reserve: Reserve): OpenSpool {
  const { folder, bytesMax } = options;
  withReserve(reserve, () => lockFolder(folder, `another agent is running with the data folder ${folder}`));
  finishRestore(folder);
  const { db, mark } = withReserve(reserve, () => openDatabase(options));
  const room = new Room(db, bytesMax);
  return { db, mark, room, reserve, operations: operationsOn(db, room.sizes) };
}

function start(): void {
  const port = parentPort;
  if (port === null) throw new Error("the spool's worker must run as a worker thread");
  const options = workerData as WorkerOptions;
  // An error of SQLite does not cross threads whole; its message does.
  const file = path.join(options.folder, "spool.db");
  const describe = (error: unknown) => errorMessage(describeDamage(error, file));
  const reserve = new Reserve(options.folder);
  let reply: WorkerReply;
  try {
    const spool = openSpool(options, reserve);
    reply = { ready: spool.operations.nextIds() };
    new SpoolWorker(port, spool, describe).run();
  } catch (error) {
    reply = { fatal: describe(storageAdvice(error, file)) };
  }
  port.postMessage(reply);
  if ("ready" in reply) reserve.keep();
}

start();

import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type Database from "better-sqlite3";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { EventStore, type StoredEvents } from "./event-store.ts";
import type { MessageRow } from "../queries/messages/message-row.ts";
import type { Operations } from "../queries/operations.ts";
import type { Reserve } from "./reserve.ts";
import type { Room } from "./room.ts";
import type {
  Batch,
  CallResult,
  MessageResult,
  OperationCall,
  RemoteReply,
  WorkerReply,
  WorkerRequest,
} from "./wire-format.ts";
import { isStorageFault, WriteAheadLog } from "./database.ts";

// Group commit: the batches that arrive during a commit share the next transaction and its fsync.

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
  "settleDelivery",
] as const);

/** A call of another thread, with the port for its reply. */
interface RemoteCall {
  readonly port: MessagePort;
  readonly call: OperationCall;
}

interface CommittedGroup extends StoredEvents {
  readonly ids: readonly MessageResult[];
  readonly results: readonly CallResult[];
}

/** The database of a spool, with what decides about its room. */
export interface OpenSpool {
  readonly db: Database.Database;
  /** The file of the database that was removed or replaced. Null while all are in place. */
  readonly findMissing: () => string | null;
  readonly room: Room;
  readonly reserve: Reserve;
  readonly operations: Operations;
}

/** The way to the thread of the callers. */
export interface CallerPort {
  /** Takes the requests that have arrived by now. */
  take(): WorkerRequest[];
  reply(reply: WorkerReply): void;
}

class FilesMissing extends Error {}

export class GroupCommit {
  readonly #port: CallerPort;
  readonly #spool: OpenSpool;
  readonly #describe: (error: unknown) => string;
  readonly #events: EventStore;
  readonly #log: WriteAheadLog;
  /** The ports of other threads that call operations. */
  readonly #remotes: MessagePort[] = [];
  readonly #runCall: (call: OperationCall) => unknown;
  readonly #addMessages: Operations["addMessages"];
  readonly #runGroup: (batches: readonly Batch[]) => CommittedGroup;

  constructor(port: CallerPort, spool: OpenSpool, describe: (error: unknown) => string) {
    const { db, room, reserve, operations } = spool;
    this.#port = port;
    this.#spool = spool;
    this.#describe = describe;
    this.#events = new EventStore(db, room, reserve);
    this.#log = new WriteAheadLog(db);
    this.#runCall = db.transaction(({ name, args }: OperationCall): unknown => {
      const operation = operations[name] as (...values: readonly unknown[]) => unknown;
      return operation(...args);
    });
    this.#addMessages = db.transaction(operations.addMessages);
    const runGroup = db.transaction(this.#storeGroup.bind(this));
    this.#runGroup = (batches) => runGroup.immediate(batches);
  }

  /** Serves the first request, and all others that have arrived by now, from all threads. */
  serve(first: WorkerRequest): void {
    this.#serve([first], []);
  }

  /** @throws FilesMissing, which ends the agent: the next start makes a new spool */
  requireFiles(): void {
    const missing = this.#spool.findMissing();
    if (missing !== null) throw new FilesMissing(`${missing} was removed or replaced: the agent stops`);
  }

  #serve(requests: WorkerRequest[], remoteCalls: RemoteCall[]): void {
    requests.push(...this.#port.take());
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
      const committed = this.#commitWithReserve(group);
      // Looked for last: a commit into a removed file is not acknowledged.
      this.requireFiles();
      const { ids, refused } = committed;
      const results = committed.results.slice(0, committed.results.length - remoteCalls.length);
      for (const [index, { port }] of remoteCalls.entries()) {
        port.postMessage(committed.results[results.length + index] satisfies RemoteReply | undefined);
      }
      this.#events.committed(committed);
      for (const { name, args } of calls) if (name === "finishSessions") this.#events.finish(args[0] as number[]);
      this.#log.addCommit(batches.reduce((sum, { events }) => sum + events.bytes.length, 0));
      const commitMs = performance.now() - from;
      const shortDevices = this.#spool.room.shortDevices(this.#spool.reserve.isGivenUp);
      const isLogLong = this.#log.isLong;
      this.#port.reply({
        batches: batches.length,
        error: null,
        ids,
        results,
        refused,
        shortDevices,
        commitMs,
        durable,
        isLogLong,
      });
    } catch (error) {
      if (error instanceof FilesMissing) throw error;
      const reason = this.#describe(error);
      for (const { port } of remoteCalls) port.postMessage({ refused: reason } satisfies RemoteReply);
      this.#events.failed(batches);
      this.#port.reply({ batches: batches.length, error: reason });
    }
  }

  /** Commits a group. On a full disk it gives up the reserve, which leaves room for all but the events of devices. */
  #commitWithReserve(group: readonly Batch[]): CommittedGroup {
    try {
      return this.#runGroup(group);
    } catch (error) {
      if (!isStorageFault(error) || !this.#spool.reserve.giveUp()) throw error;
      this.#log.checkpoint("PASSIVE");
      return this.#runGroup(group);
    }
  }

  /** Runs inside the transaction of the group. */
  #storeGroup(batches: readonly Batch[]): CommittedGroup {
    const events = this.#events.store(batches);
    const ids = this.#storeMessages(batches.flatMap(({ messages }) => messages));
    const results = batches.flatMap(({ calls }) => calls).map((call) => this.#callResult(call));
    return { ...events, ids, results };
  }

  /** Stores all messages together. After an error it stores them one by one, so that an invalid one blocks no other. */
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
}

const NO_EVENTS: Omit<Batch, "calls"> = {
  opened: [],
  events: { firstEvent: 0, numbers: new Float64Array(0), bytes: new Uint8Array(0) },
  durable: false,
  messages: [],
};

/** Takes the messages that have arrived at a port by now. */
export function receiveAll(port: MessagePort): unknown[] {
  const messages: unknown[] = [];
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    messages.push(next.message);
  }
  return messages;
}

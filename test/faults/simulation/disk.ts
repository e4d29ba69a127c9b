import { EventEmitter } from "node:events";
import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Deserializer, Serializer } from "node:v8";
import type Database from "better-sqlite3";
import { imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { openDatabase } from "../../../agent/spool/thread/database.ts";
import { GroupCommit } from "../../../agent/spool/thread/group-commit.ts";
import { operationsOn } from "../../../agent/spool/queries/operations.ts";
import { Reserve } from "../../../agent/spool/thread/reserve.ts";
import { Room } from "../../../agent/spool/thread/room.ts";
import type { SpoolThread } from "../../../agent/spool/spool.ts";
import type { WorkerOptions, WorkerReply, WorkerRequest } from "../../../agent/spool/thread/wire-format.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { Clock, Process } from "./clock.ts";
import type { Chance } from "./chance.ts";

// The disk of the clinic's PC, with the thread of the spool on it. The real group commit writes a real database. A committed
// group is durable, unless the power is cut: then the groups since the last fsynced one are lost too.

/** The value of SQLite's `synchronous` with which a commit is fsynced. */
const FULL = 2;

export type DiskFault = "full" | "read-only";

export class Disk {
  readonly folder: string;
  fault: DiskFault | null = null;
  /** Longest commit, in ms. */
  commitMs = 30;
  refusedGroups = 0;
  /** Whether a cut of the power may follow. It costs a copy of the database now and then. */
  readonly keepsFsynced: boolean;
  readonly #clock: Clock;
  readonly #chance: Chance;
  #open: Database.Database | null = null;
  /** The database as of the last fsync, if later groups were committed. */
  #fsynced: Buffer | null = null;

  constructor(folder: string, template: string, clock: Clock, chance: Chance, keepsFsynced: boolean) {
    cpSync(template, folder, { recursive: true });
    this.folder = folder;
    this.#clock = clock;
    this.#chance = chance;
    this.keepsFsynced = keepsFsynced;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  get db(): Database.Database {
    if (this.#open === null) throw new Error("the database is closed");
    return this.#open;
  }

  /** Starts the thread of the spool for a process. */
  startThread(process: Process, options: WorkerOptions): SpoolThread {
    const thread = new EventEmitter();
    const db = (this.#open = openDatabase(options));
    const room = new Room(db, options.bytesMax);
    const operations = operationsOn(db, room.sizes);
    const inbox: WorkerRequest[] = [];
    let replies: WorkerReply[] = [];
    const commit = new GroupCommit(
      { take: () => inbox.splice(0), reply: (reply) => replies.push(reply) },
      { db, findMissing: () => null, room, reserve: new Reserve(options.folder), operations },
      errorMessage,
    );
    let isBusy = false;
    const serve = () => {
      const first = inbox.shift();
      if (first === undefined) return;
      this.#serve(first, inbox, (request) => commit.serve(request));
      const [answers, ms] = [replies, this.#chance.ms(this.commitMs)];
      replies = [];
      // A crash may come between the commit and its reply.
      this.#clock.schedule(process, ms, () => {
        isBusy = false;
        if (inbox.length > 0) begin();
        for (const answer of answers) thread.emit("message", copyOf(answer));
      });
    };
    const begin = () => {
      isBusy = true;
      this.#clock.schedule(process, this.#chance.ms(this.commitMs), serve);
    };
    const ready = { ready: operations.nextIds() } satisfies WorkerReply;
    this.#clock.schedule(process, 1, () => thread.emit("message", ready));
    return Object.assign(thread, {
      postMessage(request: WorkerRequest) {
        inbox.push(copyOf(request));
        if (!isBusy) begin();
      },
      terminate: async () => {
        this.close();
        return 0;
      },
    }) as unknown as SpoolThread;
  }

  /** Closes the database, as the end of a process does. Everything committed stays. */
  close(): void {
    this.#open?.close();
    this.#open = null;
  }

  /** Ends the process and loses what was not fsynced. */
  cutPower(): void {
    this.close();
    this.#undoRename();
    if (this.#fsynced === null) return;
    const file = path.join(this.folder, "spool.db");
    writeFileSync(file, this.#fsynced);
    for (const part of ["-wal", "-shm"]) rmSync(file + part, { force: true });
    this.#fsynced = null;
  }

  /** Nothing syncs the final name of the newest image: the next one, or the next start, makes it durable. */
  #undoRename(): void {
    const folder = imageFolder(this.folder);
    const newest = existsSync(folder) ? readdirSync(folder).toSorted().at(-1) : undefined;
    if (newest?.endsWith(".dcm") !== true || this.#chance.happens(0.5)) return;
    renameSync(path.join(folder, newest), path.join(folder, newest.replace(/dcm$/, "part")));
  }

  #serve(first: WorkerRequest, others: readonly WorkerRequest[], serve: (request: WorkerRequest) => void): void {
    const { db } = this;
    const isCommit = [first, ...others].every((request) => typeof request === "object" && "events" in request);
    if (this.keepsFsynced) this.#fsynced ??= db.serialize();
    const restore = this.fault === null ? null : this.#refuseWrites(this.fault);
    serve(first);
    restore?.();
    // A checkpoint fsyncs the log.
    if (this.#fsynced !== null && (!isCommit || db.pragma("synchronous", { simple: true }) === FULL))
      this.#fsynced = null;
  }

  /** @returns a function that lets the database write again */
  #refuseWrites(fault: DiskFault): () => void {
    const { db } = this;
    this.refusedGroups += 1;
    const pages = db.pragma("max_page_count", { simple: true }) as number;
    if (fault === "full") db.pragma(`max_page_count = ${String(db.pragma("page_count", { simple: true }))}`);
    else db.pragma("query_only = ON");
    return () => {
      db.pragma("query_only = OFF");
      db.pragma(`max_page_count = ${pages}`);
    };
  }
}

/** Copies a message as a port does. structuredClone() makes a port for each call, which is slow. */
function copyOf<T>(message: T): T {
  const serializer = new Serializer();
  serializer.writeHeader();
  serializer.writeValue(message);
  const deserializer = new Deserializer(serializer.releaseBuffer());
  deserializer.readHeader();
  return deserializer.readValue() as T;
}

import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { copyToOwnSchema, isRolledBack } from "../../../shared/platform/care/older-schema.ts";
import { finishRestore } from "../../../shared/platform/care/restore-steps.ts";
import { storageAdvice } from "../../../shared/platform/care/storage-advice.ts";
import { describeDamage } from "../../../shared/files/damaged-file.ts";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { watchFiles } from "../../../shared/files/file-watch.ts";
import { lockFolder } from "../../../shared/files/folder-lock.ts";
import { isStorageFault, openDatabase } from "./database.ts";
import { GroupCommit, type OpenSpool, receiveAll } from "./group-commit.ts";
import { MIGRATIONS } from "./migrations.ts";
import { operationsOn } from "../queries/operations.ts";
import { Reserve } from "./reserve.ts";
import { Room } from "./room.ts";
import type { WorkerOptions, WorkerReply, WorkerRequest } from "./wire-format.ts";

// The worker thread that owns the spool's database, so that the event loop never waits for the disk.

/** Interval between two looks for the files, in ms. Every commit looks too. */
const FILES_LOOK_MS = 1_000;

/** Runs a step of the start. On a full disk it gives up the reserve and tries again. */
function withReserve<Result>(reserve: Reserve, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    const isFull = isStorageFault(error) || errorCode(error) === "ENOSPC";
    if (!isFull || !reserve.giveUp()) throw error;
    return step();
  }
}

function openSpool(options: WorkerOptions, reserve: Reserve): OpenSpool {
  const { folder, bytesMax } = options;
  withReserve(reserve, () => lockFolder(folder, `another agent is running with the data folder ${folder}`));
  finishRestore(folder);
  if (isRolledBack()) withReserve(reserve, () => copyToOwnSchema(path.join(folder, "spool.db"), MIGRATIONS));
  const db = withReserve(reserve, () => openDatabase(options));
  const room = new Room(db, bytesMax);
  const findMissing = watchFiles([db.name, `${db.name}-wal`]);
  return { db, findMissing, room, reserve, operations: operationsOn(db, room.sizes) };
}

function start(): void {
  const port = parentPort;
  if (port === null) throw new Error("the spool's worker must run as a worker thread");
  const options = workerData as WorkerOptions;
  // An error of SQLite loses its class between threads; its message remains.
  const file = path.join(options.folder, "spool.db");
  const describe = (error: unknown) => errorMessage(describeDamage(error, file));
  const reserve = new Reserve(options.folder);
  let reply: WorkerReply;
  try {
    const spool = openSpool(options, reserve);
    reply = { ready: spool.operations.nextIds() };
    const take = () => receiveAll(port) as WorkerRequest[];
    const commit = new GroupCommit({ take, reply: (answer) => port.postMessage(answer) }, spool, describe);
    port.on("message", (first: WorkerRequest) => commit.serve(first));
    setInterval(() => commit.requireFiles(), FILES_LOOK_MS).unref();
  } catch (error) {
    reply = { fatal: describe(storageAdvice(error, file)) };
  }
  port.postMessage(reply);
  if ("ready" in reply) reserve.keep();
}

start();

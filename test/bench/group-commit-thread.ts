import path from "node:path";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";

/** Chunks in one buffer, as in the spool, since structured clone is slow for many small arrays. */
export interface Group {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

function serve(folder: string): void {
  const port = parentPort;
  if (port === null) throw new Error("expected to run in a worker thread");
  const db = new Database(path.join(folder, "bare.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT");
  const insert = db.prepare("INSERT INTO chunk (bytes) VALUES (?)");
  const commit = db.transaction((groups: readonly Group[]) => {
    for (const { bytes, lengths } of groups) {
      let at = 0;
      for (const length of lengths) insert.run(bytes.subarray(at, (at += length)));
    }
  });
  port.on("message", (first: Group) => {
    const groups = [first];
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      groups.push(next.message as Group);
    }
    commit(groups);
    port.postMessage(groups.length);
  });
}

serve(workerData as string);

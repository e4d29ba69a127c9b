import fs from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { storageAdvice } from "../care/storage-advice.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import type { CopyOrder } from "./database-copy.ts";

// The thread that copies a database, so that no device and no request waits for the disk.

const { database, copy } = workerData as CopyOrder;

function makeCopy(): string | null {
  try {
    const db = new Database(database, { readonly: true, fileMustExist: true });
    try {
      db.prepare("VACUUM INTO ?").run(copy);
    } finally {
      db.close();
    }
    const file = fs.openSync(copy, "r+");
    fs.fsyncSync(file);
    fs.closeSync(file);
    return null;
  } catch (error) {
    return errorMessage(storageAdvice(error, copy));
  }
}

parentPort?.postMessage(makeCopy());

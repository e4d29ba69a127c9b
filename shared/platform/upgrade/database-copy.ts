import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { makePrivateFile, syncFolder } from "../../files/private-folder.ts";
import { moduleFile } from "../../files/program-files.ts";

// Copies a database of SQLite before an upgrade, while its program runs. A rollback never uses the copy, because it lacks what was
// stored after it: it is for a person, if all else fails.

/** The work of the thread. Its reply is null, or the reason of the failure. */
export interface CopyOrder {
  readonly database: string;
  readonly copy: string;
}

export function copyName(database: string): string {
  return `${database}.before-upgrade`;
}

/** Makes the copy in a thread, in place of the last one. @throws Error with the reason */
export async function copyDatabase(database: string): Promise<void> {
  const copy = copyName(database);
  const part = `${copy}.part`;
  fs.rmSync(part, { force: true });
  makePrivateFile(part);
  try {
    const reason = await inThread({ database, copy: part });
    if (reason !== null) throw new Error(`${database} cannot be copied: ${reason}`);
    fs.renameSync(part, copy);
    syncFolder(path.dirname(copy));
  } finally {
    fs.rmSync(part, { force: true });
  }
}

export function copyBytes(database: string): number {
  return [database, `${database}-wal`].reduce(
    (sum, file) => sum + (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function inThread(workerData: CopyOrder): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(moduleFile("shared/platform/upgrade/copy-worker"), { workerData });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => resolve("its thread ended"));
  });
}

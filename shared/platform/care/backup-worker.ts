import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../../runtime/error-message.ts";
import { makeBackup } from "./backup.ts";
import type { BackupOrder, BackupReply } from "./scheduled-backup.ts";

// The thread of a scheduled backup, so that no device and no request waits for the disk.

const { source, file } = workerData as BackupOrder;
const reply = await makeBackup(source, file).then(
  ({ bytes }): BackupReply => ({ bytes }),
  (error: unknown): BackupReply => ({ error: errorMessage(error) }),
);
parentPort?.postMessage(reply);

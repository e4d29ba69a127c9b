import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { watchFiles } from "../../../shared/files/file-watch.ts";
import { makePrivateFolder } from "../../../shared/files/private-folder.ts";
import type { InstanceContent } from "../../spool/queries/images/instance-file.ts";
import type { Spool } from "../../spool/spool.ts";

// The folder of the instance files. A file is named for its message id and never for a text of the device. It ends in
// .part until its row is committed. If a power failure undoes the rename, the next start repeats it.

/** Suffix of a file between the removal of its row and its deletion. */
export const REMOVED_SUFFIX = ".gone";

/** Name of the image folder in the data folder. */
export const IMAGES_FOLDER = "images";

export const READ_BYTES = 256 * 1024;

/** Returns the folder of the instances in an agent's data folder. */
export function imageFolder(data: string): string {
  return path.join(data, IMAGES_FOLDER);
}

/** Returns the file of a message's instance. */
export function imageFile(data: string, message: string): string {
  return path.join(imageFolder(data), `${message}.dcm`);
}

export function partFile(data: string, message: string): string {
  return path.join(imageFolder(data), `${message}.part`);
}

/** Returns whether an instance may have its row but not yet its final name. */
export function isPartial(data: string, message: string): boolean {
  return fs.existsSync(partFile(data, message)) && !fs.existsSync(imageFile(data, message));
}

/** Returns whether the file of an instance exists with every byte of its content. */
export async function isWhole(data: string, { message, head, sha256 }: InstanceContent): Promise<boolean> {
  const digest = createHash("sha256");
  try {
    const file = await fs.promises.open(imageFile(data, message));
    try {
      const start = Buffer.alloc(head.length);
      await file.read(start);
      if (!start.equals(head)) return false;
      const dataset = file.createReadStream({ start: head.length, autoClose: false, highWaterMark: READ_BYTES });
      for await (const chunk of dataset) digest.update(chunk as Buffer);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
  return digest.digest("hex") === sha256;
}

/** Creates the folder, and finishes or removes the files that an earlier process left incomplete. */
export async function recoverImageFolder(data: string, spool: Pick<Spool, "call">): Promise<void> {
  const folder = imageFolder(data);
  makePrivateFolder(folder);
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(REMOVED_SUFFIX)) fs.unlinkSync(path.join(folder, name));
    if (!name.endsWith(".part")) continue;
    const part = path.join(folder, name);
    const message = path.basename(name, ".part");
    // A file with a row is complete. A file without one was never acknowledged.
    if (await spool.call("hasInstance", message)) fs.renameSync(part, imageFile(data, message));
    else fs.unlinkSync(part);
  }
}

/** The open image folder. */
export interface SyncedFolder {
  /** Makes the names in the folder durable. */
  sync(): Promise<void>;
  /** @throws if the folder was removed or replaced */
  requireInPlace(): void;
  close(): void;
}

export function openFolder(folder: string): SyncedFolder {
  // Windows cannot open a folder, and NTFS keeps a journal of names.
  const handle = process.platform === "win32" ? null : fs.openSync(folder, "r");
  const findMissing = watchFiles([folder]);
  return {
    sync: async () => void (handle !== null && (await promisify(fs.fsync)(handle))),
    requireInPlace() {
      const missing = findMissing();
      if (missing !== null) throw new Error(`${missing} was removed or replaced: the agent stops`);
    },
    close: () => void (handle !== null && fs.closeSync(handle)),
  };
}

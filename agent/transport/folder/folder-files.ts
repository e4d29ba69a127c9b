import { constants } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";
import { isWanted, type Sighting } from "./ready-files.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// The files of a watched folder on the disk. Only regular files of the folder itself count: a link may lead anywhere.

/** The folder beside the files to which those that are taken move. */
const DONE = "done";

/** Lists the wanted files of the folder. @throws an error of the disk if the folder cannot be read */
export async function lookAt(folder: string, extensions: readonly string[]): Promise<Sighting[]> {
  const found: Sighting[] = [];
  for (const name of await fs.readdir(folder)) {
    if (!isWanted(name, extensions)) continue;
    // A file that is gone by now was renamed by its program.
    const stat = await fs.lstat(path.join(folder, name)).catch(() => null);
    if (stat?.isFile() === true) found.push({ name, bytes: stat.size, modifiedMs: stat.mtimeMs });
  }
  return found;
}

/** Programs that have the file open, or a scanner that looks at it, refuse others for a while. */
const BUSY = new Set(["EBUSY", "EPERM", "EACCES", "EAGAIN"]);

export type ReadFile =
  | { readonly is: "read"; readonly bytes: Uint8Array }
  /** It is another file by now, or has changed: the next looks decide again. */
  | { readonly is: "changed" }
  | { readonly is: "busy"; readonly code: string };

/** Reads a file as a look found it. @throws an error of the disk */
export async function readSeen(folder: string, { name, bytes, modifiedMs }: Sighting): Promise<ReadFile> {
  let file;
  try {
    // Windows has no such flag, and lstat has seen no link.
    file = await fs.open(path.join(folder, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ELOOP") return { is: "changed" };
    if (BUSY.has(code)) return { is: "busy", code };
    throw error;
  }
  try {
    const isAsSeen = async () => {
      const stat = await file.stat();
      return stat.isFile() && stat.size === bytes && stat.mtimeMs === modifiedMs;
    };
    if (!(await isAsSeen())) return { is: "changed" };
    const content = await file.readFile();
    return content.length === bytes && (await isAsSeen()) ? { is: "read", bytes: content } : { is: "changed" };
  } catch (error) {
    const code = errorCode(error);
    if (BUSY.has(code)) return { is: "busy", code };
    throw error;
  } finally {
    await file.close();
  }
}

/** Names that are tried for a file whose name is in use. */
const NAMES_MAX = 1000;

/**
 * Moves a file that is stored elsewhere to `done` beside it, under another name if an earlier one has its own. One that has changed
 * since stays. @throws an error of the disk
 */
export async function moveToDone(folder: string, { name, bytes, modifiedMs }: Sighting): Promise<void> {
  const from = path.join(folder, name);
  const stat = await fs.lstat(from).catch(() => null);
  if (stat?.isFile() !== true || stat.size !== bytes || stat.mtimeMs !== modifiedMs) return;
  await fs.mkdir(path.join(folder, DONE), { recursive: true });
  const { name: stem, ext } = path.parse(name);
  for (let number = 1; number < NAMES_MAX; number += 1) {
    const to = path.join(folder, DONE, number === 1 ? name : `${stem} (${number})${ext}`);
    // A rename replaces what is there.
    if ((await fs.lstat(to).catch(() => null)) !== null) continue;
    await fs.rename(from, to);
    return;
  }
}

import fs from "node:fs";
import path from "node:path";
import { errorMessage } from "./error-message.ts";

// Data folders hold results, owners' names and secrets: nobody but the user of the program reads them. Windows keeps rights
// by other means, which the folder inherits.

const OTHERS = 0o077;

export interface Rights {
  /** Files that others could use until now. */
  readonly tightened: readonly string[];
  /** Reasons why others can still use a file. */
  readonly failed: readonly string[];
}

/** Makes the folder if it is missing, and takes the rights of others from it and from those of its files and folders of files. */
export function makePrivate(folder: string, files: readonly string[], folders: readonly string[] = []): Rights {
  makePrivateFolder(folder);
  const rights = { tightened: [] as string[], failed: [] as string[] };
  if (process.platform === "win32") return rights;
  tighten(folder, 0o700, rights);
  for (const name of files) tighten(path.join(folder, name), 0o600, rights);
  for (const name of folders) {
    const inner = path.join(folder, name);
    // One that is private was made so, with its files: there may be a hundred thousand.
    if (!isOpenToOthers(inner)) continue;
    for (const file of fs.readdirSync(inner)) tighten(path.join(inner, file), 0o600, rights);
    tighten(inner, 0o700, rights);
  }
  return rights;
}

/** Makes a folder with its missing parents. Each new name is on the disk when this returns. */
export function makePrivateFolder(folder: string): void {
  const first = fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const top = path.dirname(path.resolve(first));
  for (let parent = path.resolve(folder); parent !== top; ) {
    parent = path.dirname(parent);
    syncFolder(parent);
  }
}

/** Makes an empty file of which SQLite takes the rights over for all that it puts beside; one that is there stays as it is. */
export function makePrivateFile(file: string): void {
  // On a disk that is read-only SQLite says so itself.
  if (fs.existsSync(file)) return;
  fs.closeSync(fs.openSync(file, "a", 0o600));
  syncFolder(path.dirname(file));
}

/** Brings the names in a folder to the disk. The fsync of a file does not bring its name there (POSIX.1-2024, fsync). */
export function syncFolder(folder: string): void {
  // Windows opens no folder, and NTFS keeps a journal of names.
  if (process.platform === "win32") return;
  try {
    const handle = fs.openSync(folder, "r");
    try {
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  } catch (error) {
    // A folder may be writable and not readable, and some file systems sync no folders: a program must start there, too.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EINVAL") throw error;
  }
}

/** False for what is missing. */
export function isOpenToOthers(file: string): boolean {
  const mode = fs.statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  return process.platform !== "win32" && (mode & OTHERS) !== 0;
}

function tighten(file: string, mode: number, rights: { tightened: string[]; failed: string[] }): void {
  if (!isOpenToOthers(file)) return;
  try {
    fs.chmodSync(file, mode);
    rights.tightened.push(file);
  } catch (error) {
    rights.failed.push(errorMessage(error));
  }
}

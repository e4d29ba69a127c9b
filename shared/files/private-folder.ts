import fs from "node:fs";
import path from "node:path";
import { errorCode, errorMessage } from "../runtime/error-message.ts";
import { asOwner } from "./folder-owner.ts";

// Data folders hold results, owners' names and secrets, so only the program's user may read them. On Windows the folder
// inherits its rights, and nothing is changed.

const OTHERS = 0o077;

export interface Rights {
  /** Files whose rights were taken from other users. */
  readonly tightened: readonly string[];
  /** Reasons why other users still have rights to a file. */
  readonly failed: readonly string[];
}

/** Creates a folder if it is missing. Takes the rights of other users from it and from these files and folders in it. */
export function makePrivate(folder: string, files: readonly string[], folders: readonly string[] = []): Rights {
  makePrivateFolder(folder);
  const rights = { tightened: [] as string[], failed: [] as string[] };
  if (process.platform === "win32") return rights;
  tighten(folder, 0o700, rights);
  for (const name of files) tighten(path.join(folder, name), 0o600, rights);
  for (const name of folders) {
    const inner = path.join(folder, name);
    // A private folder has private files, so its files, up to a hundred thousand, are not checked.
    if (!isOpenToOthers(inner)) continue;
    for (const file of fs.readdirSync(inner)) tighten(path.join(inner, file), 0o600, rights);
    tighten(inner, 0o700, rights);
  }
  return rights;
}

/**
 * Creates a folder with its missing parents, and syncs their names to the disk. The names of existing folders are synced too:
 * a process that was killed may have made them without a sync.
 */
export function makePrivateFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let name = path.resolve(folder); ; name = path.dirname(name)) {
    const parent = path.dirname(name);
    // This program cannot have made a name in a folder that its user cannot write.
    if (parent === name || !isWritable(parent)) return;
    syncFolder(parent);
  }
}

/**
 * Creates an empty private file if there is none. SQLite copies its rights to the files next to it. Root gives the file to the
 * owner of the folder, whose service has to open it.
 */
export function makePrivateFile(file: string): void {
  const folder = path.dirname(file);
  // SQLite itself reports a read-only disk.
  const handle = fs.existsSync(file) ? null : openNew(file);
  if (handle === null) requireRights(file);
  try {
    const { uid, gid } = fs.statSync(folder);
    if (handle !== null && process.geteuid?.() === 0 && uid !== 0) fs.fchownSync(handle, uid, gid);
  } finally {
    if (handle !== null) fs.closeSync(handle);
  }
  // The process that made the file may have been killed before its sync.
  syncFolder(folder);
}

/**
 * A command that root ran may have left files to root. SQLite reports only that it cannot open them. @throws Error of the system
 */
function requireRights(file: string): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      fs.accessSync(part, fs.constants.R_OK | fs.constants.W_OK);
    } catch (error) {
      if (errorCode(error) === "EACCES") throw error;
    }
  }
}

/** @returns null if another process has made the file. @throws Error for a link to a missing file, which is not followed */
function openNew(file: string): number | null {
  try {
    return fs.openSync(file, "wx", 0o600);
  } catch (error) {
    if (fs.existsSync(file)) return null;
    throw error;
  }
}

/** Writes a private file in place of another one, durably: at each moment the complete old or new text is there. */
export function writePrivateFile(file: string, text: string): void {
  const folder = path.dirname(file);
  makePrivateFolder(folder);
  asOwner(folder, (here) => {
    const name = path.join(here, path.basename(file));
    const part = `${name}.part`;
    fs.rmSync(part, { force: true });
    // A new file alone, so that a link in its place is not followed.
    fs.writeFileSync(part, text, { mode: 0o600, flag: "wx", flush: true });
    fs.renameSync(part, name);
    syncFolder(here);
  });
}

/** Syncs the names in a folder to the disk. The fsync of a file does not sync its name (POSIX.1-2024, fsync). */
export function syncFolder(folder: string): void {
  // Windows cannot open a folder, and NTFS has a journal of names.
  if (process.platform === "win32") return;
  try {
    const handle = fs.openSync(folder, "r");
    try {
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  } catch (error) {
    // A folder may be writable but not readable, and some file systems cannot sync folders. The program starts there too.
    const code = errorCode(error);
    if (code !== "EACCES" && code !== "EINVAL") throw error;
  }
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether other users have rights to a file. False for a missing file. */
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

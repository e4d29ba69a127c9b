import fs from "node:fs";
import path from "node:path";

// An administrator runs commands as root on the data folder of a service. The service's user can plant links in it.

/**
 * Works on files of a folder with the rights of its owner, if root calls it for another user's folder. New files are the owner's,
 * and a planted link leads only where the owner may write. Not for a worker thread, which cannot change its user.
 * @param work gets the path of the folder. The owner may not reach the full path (/var/lib/private), so that is "." then.
 */
export function asOwner<Result>(folder: string, work: (folder: string) => Result): Result {
  if (!isOfService(folder)) return work(folder);
  const [before, ownGid, ownGroups] = [process.cwd(), process.getegid?.() ?? 0, process.getgroups?.() ?? []];
  process.chdir(folder);
  try {
    const { uid, gid } = fs.statSync(".");
    process.setgroups?.([gid]);
    process.setegid?.(gid);
    process.seteuid?.(uid);
    return work(".");
  } finally {
    process.seteuid?.(0);
    process.setegid?.(ownGid);
    process.setgroups?.(ownGroups);
    process.chdir(before);
  }
}

/**
 * Makes the owner of a folder the user of this process for good, if root calls it for another user's folder. For work that takes
 * time, in which that user could put a link in the place of any name.
 * @returns the path of the folder, as for `asOwner`
 */
export function becomeOwner(folder: string): string {
  if (!isOfService(folder)) return folder;
  process.chdir(folder);
  const { uid, gid } = fs.statSync(".");
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  return ".";
}

/** Gives a folder that root has made to the owner of the folder around it. A link is not followed. */
export function giveToOwner(folder: string): void {
  const parent = path.dirname(folder);
  if (!isOfService(parent)) return;
  const { uid, gid } = fs.statSync(parent);
  const handle = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_DIRECTORY);
  try {
    if (fs.fstatSync(handle).uid === 0) fs.fchownSync(handle, uid, gid);
  } finally {
    fs.closeSync(handle);
  }
}

/**
 * Checks a database of SQLite that root is about to open in the folder of a service. SQLite needs the complete path, so it cannot
 * be opened with the rights of the owner there.
 * @returns the file. @throws Error for a link, a file of somebody else, and a rollback journal that names another one
 */
export function trustedDatabase(file: string): string {
  // SQLite reports only that it cannot open the file.
  if (fs.existsSync(file)) fs.accessSync(file, fs.constants.R_OK);
  const folder = path.dirname(file);
  if (!isOfService(folder)) return file;
  const { uid } = fs.statSync(folder);
  for (const part of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    const found = fs.lstatSync(part, { throwIfNoEntry: false });
    if (found === undefined) continue;
    const isPlain = found.isFile() && found.nlink === 1 && (found.uid === uid || found.uid === 0);
    if (isPlain && !(part.endsWith("-journal") && namesAnotherJournal(part, found.size))) continue;
    throw new Error(
      `${part} is not of the service, and root does not open it: look at it, and run this as the user of the service`,
    );
  }
  return file;
}

/** SQLite removes the file that a rollback journal names. The name ends the journal, with these bytes after it (pager.c). */
const JOURNAL_MAGIC = Buffer.from("d9d505f920a163d7", "hex");

function namesAnotherJournal(file: string, size: number): boolean {
  const last = Buffer.alloc(JOURNAL_MAGIC.length);
  const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    fs.readSync(handle, last, 0, last.length, Math.max(0, size - last.length));
  } finally {
    fs.closeSync(handle);
  }
  return last.equals(JOURNAL_MAGIC);
}

/** Whether this process is root and the folder belongs to another user. */
function isOfService(folder: string): boolean {
  return process.geteuid?.() === 0 && fs.statSync(folder).uid !== 0;
}

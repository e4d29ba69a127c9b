import fs from "node:fs";

// An administrator runs commands as root on the data folder of a service. The service's user can plant links in it.

/**
 * Works on files of a folder with the rights of its owner if root calls it for the folder of another user: new files are the
 * owner's, and a planted link leads nowhere where the owner may not write. Not for a worker thread, which cannot change its user.
 * @param work gets the path of the folder. The owner may not reach the full path (/var/lib/private), so that is "." then.
 */
export function asOwner<Result>(folder: string, work: (folder: string) => Result): Result {
  if (process.geteuid?.() !== 0) return work(folder);
  const { uid, gid } = fs.statSync(folder);
  if (uid === 0) return work(folder);
  const [before, ownGid, ownGroups] = [process.cwd(), process.getegid?.() ?? 0, process.getgroups?.() ?? []];
  process.chdir(folder);
  try {
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

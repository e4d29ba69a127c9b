import fs from "node:fs";
import path from "node:path";

/**
 * Changes a folder with the rights of its owner alone. Root works in a folder of a service here, and the service may put a link in
 * the place of any name at any moment. `change` gets the folder's path, which holds until it returns.
 * @throws Error if the folder is a link, or belongs to another user than the folder around it
 */
export function asOwner<Result>(folder: string, change: (place: string) => Result): Result {
  const place = path.resolve(folder);
  const named = fs.lstatSync(place, { throwIfNoEntry: false });
  if (named?.isDirectory() !== true) throw new Error(`${place} is no folder: remove it, and start the service again`);
  if (process.getuid?.() !== 0) return change(place);
  const before = { folder: process.cwd(), groups: process.getgroups?.() ?? [], gid: process.getegid?.() ?? 0 };
  // The owner may be unable to come here by the path: systemd keeps a service's folder in a private one of root.
  process.chdir(place);
  try {
    const { dev, ino, uid, gid } = fs.statSync(".");
    const isSame = dev === named.dev && ino === named.ino;
    if (!isSame || fs.statSync(path.dirname(place)).uid !== uid) {
      throw new Error(`${place} has another owner than the folder around it: give both to the user of the service`);
    }
    process.setgroups?.([]);
    process.setegid?.(gid);
    process.seteuid?.(uid);
    return change(".");
  } finally {
    process.seteuid?.(0);
    process.setegid?.(before.gid);
    process.setgroups?.(before.groups);
    process.chdir(before.folder);
  }
}

import { statSync } from "node:fs";
import { errorCode } from "../runtime/error-message.ts";

// A program keeps using its open files after their names are removed. After `rm spool.db` every commit would succeed, and
// the data would vanish with the process.

/**
 * Records files and folders that stay open. @returns a function that names the first one that is no longer at its path, or null.
 * Only an absent name or another inode counts; any other error of the file system proves nothing about the name.
 */
export function watchFiles(
  paths: readonly string[],
  platform: NodeJS.Platform = process.platform,
): () => string | null {
  const opened = paths.map((path) => ({ path, inode: inodeAt(path, platform) }));
  return () => {
    for (const { path, inode } of opened) {
      const now = inodeAt(path, platform);
      if (now === "absent" || (inode !== "unknown" && now !== "unknown" && now !== inode)) return path;
    }
    return null;
  };
}

/**
 * No other file gets the inode number of an open file, removed or not. Windows lets no one remove an open file, and some of its
 * file systems have no stable numbers.
 */
function inodeAt(path: string, platform: NodeJS.Platform): string {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return ino === 0n || platform === "win32" ? "unknown" : `${dev} ${ino}`;
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "absent" : "unknown";
  }
}

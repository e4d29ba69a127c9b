import { statSync } from "node:fs";

// SQLite goes on with the files that it has open whatever becomes of their names: after `rm vetwire.db` every commit
// would succeed, and be gone with the process.

/** Remembers the files of an open database; the returned function tells whether they still stand at their paths. */
export function watchFiles(path: string): () => boolean {
  const parts = [path, `${path}-wal`];
  const opened = parts.map(identity);
  return () => parts.every((part, index) => identity(part) === opened[index]);
}

// An open file keeps its inode number to itself, removed or not.
function identity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

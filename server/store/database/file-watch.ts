import { statSync } from "node:fs";

// SQLite keeps using its open files after their names are removed. After `rm vetwire.db` every commit would succeed, and
// the data would vanish with the process.

/** Records the files of an open database. @returns a function that tells whether they are still at their paths */
export function watchFiles(path: string): () => boolean {
  const parts = [path, `${path}-wal`];
  const opened = parts.map(identity);
  return () => parts.every((part, index) => identity(part) === opened[index]);
}

// No other file gets the inode number of an open file, removed or not.
function identity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

import { lstatSync, type Stats } from "node:fs";

/** @throws Error if the path exists and is not a regular file, since a rename would replace it */
export function requireRegularFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new Error(`${path} is ${kindOf(found)}, expected a regular file or a path without one`);
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a directory";
  if (found.isSymbolicLink()) return "a symbolic link";
  if (found.isFIFO()) return "a FIFO";
  if (found.isSocket()) return "a socket";
  return found.isCharacterDevice() ? "a character device" : "a block device";
}

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { asOwner } from "../../shared/files/folder-owner.ts";
import { readTextFile } from "../../shared/files/text-file.ts";
import { makePrivateFolder, syncFolder } from "../../shared/files/private-folder.ts";

// The file of the configuration, which this process reads and replaces.

/** Suffix of the text that the last change replaced. */
const PREVIOUS = ".previous";

/** Returns the folder where relative paths of the file start. */
export function folderOf(file: string): string {
  return path.dirname(path.resolve(file));
}

/** @returns the text; null if there is no file */
export function readText(file: string): string | null {
  return fs.existsSync(file) ? readTextFile(file) : null;
}

/** @returns the text that the last change replaced, or null */
export function previousText(file: string): string | null {
  return readText(`${file}${PREVIOUS}`);
}

/** Returns a short mark of a text, by which an editor knows that it edits the current one. */
export function markOf(text: string | null): string {
  return createHash("sha256")
    .update(text ?? "")
    .digest("hex")
    .slice(0, 16);
}

/** Replaces the file atomically and durably. The earlier text stays as `.previous`. */
export function writeText(file: string, text: string, before: string | null): void {
  const folder = folderOf(file);
  makePrivateFolder(folder);
  // The service of the folder has to read a file that an administrator changed.
  asOwner(folder, (here) => {
    const name = path.join(here, path.basename(file));
    if (before !== null) replace(`${name}${PREVIOUS}`, before);
    replace(name, text);
  });
}

/** A process that is killed leaves the old file or the new one, never a part. */
function replace(file: string, text: string): void {
  const next = `${file}.next`;
  const mode = fs.existsSync(file) ? fs.statSync(file).mode & 0o777 : 0o600;
  // A new file alone, so that a link in its place is not followed.
  fs.rmSync(next, { force: true });
  const written = fs.openSync(next, "wx", mode);
  try {
    // writeSync may write only a part on a disk that is almost full.
    fs.writeFileSync(written, text);
    fs.fsyncSync(written);
  } finally {
    fs.closeSync(written);
  }
  fs.renameSync(next, file);
  syncFolder(path.dirname(file));
}

import { lstatSync, readdirSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { readArchiveName, type Release } from "../../shared/api/upgrade.ts";

// The folder with the releases of the agent, which agents fetch from this server: archives, each with its signature beside it. A
// file is there whole or not at all.

/** Its name in the data folder. */
export const RELEASES = "releases";

const SIGNATURE = ".minisig";

/** Lists the releases that have an archive and a signature. A server without a folder has none. */
export function listReleases(folder: string | null): Release[] {
  const names = new Set(folder === null ? [] : namesIn(folder));
  return [...names].flatMap((name) => {
    const release = names.has(`${name}${SIGNATURE}`) ? readArchiveName(name) : undefined;
    return release === undefined ? [] : [release];
  });
}

/** Opens an archive or a signature for an agent. @returns undefined for any other name, and for a file that is not there */
export async function openReleaseFile(
  folder: string | null,
  name: string,
): Promise<{ file: FileHandle; bytes: number } | undefined> {
  const archive = name.endsWith(SIGNATURE) ? name.slice(0, -SIGNATURE.length) : name;
  if (folder === null || readArchiveName(archive) === undefined) return undefined;
  const path = join(folder, name);
  // A link could lead out of the folder.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const file = await open(path, "r");
  return { file, bytes: (await file.stat()).size };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

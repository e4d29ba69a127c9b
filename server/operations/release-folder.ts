import { createReadStream, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { archiveName, readArchiveName, type Release } from "../../shared/api/upgrade.ts";
import { storageAdvice } from "../../shared/platform/care/storage-advice.ts";
import { lockFolder } from "../../shared/files/folder-lock.ts";
import { giveToOwner } from "../../shared/files/folder-owner.ts";
import { syncFolder } from "../../shared/files/private-folder.ts";
import { SIGNATURE_BYTES_MAX, verifyFile } from "../../shared/platform/upgrade/minisign.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// The folder with the releases of the agent, which agents fetch from this server: archives, each with its signature. A file is
// complete or absent.

/** Its name in the data folder. */
export const RELEASES = "releases";

const SIGNATURE = ".minisig";
/** Ends the name of an incomplete file. */
const PART = ".part";

export const ARCHIVE_BYTES_MAX = 500 * 1024 ** 2;
const RELEASES_MAX = 50;

/** Lists the releases that have an archive and a signature. A server without a folder has none. */
export function listReleases(folder: string | null): Release[] {
  const names = new Set(folder === null ? [] : namesIn(folder));
  return [...names].flatMap((name) => {
    const release = names.has(`${name}${SIGNATURE}`) ? readArchiveName(name) : undefined;
    return release === undefined ? [] : [release];
  });
}

/**
 * Adds an archive and its signature, if the key's owner signed it under this name.
 * @throws Error with the reason and what to do
 */
export async function addRelease(folder: string, file: string, publicKey: string): Promise<Release> {
  const name = basename(file);
  const release = readArchiveName(name);
  if (release === undefined) {
    throw new Error(`${file} has no name of a release, expected one such as vetwire-agent-0.2.0-linux-x64.tar.gz`);
  }
  requireFile(file, ARCHIVE_BYTES_MAX, "make the package again");
  requireFile(`${file}${SIGNATURE}`, SIGNATURE_BYTES_MAX, "copy the signature that minisign made next to the archive");
  const signature = await readFile(`${file}${SIGNATURE}`);
  // A release never changes. An agent may have fetched the one file already, and would fetch another one with it.
  const stored = await readFile(join(folder, `${name}${SIGNATURE}`)).catch(() => null);
  const isThere = listReleases(folder).some((one) => archiveName(one) === name);
  if (isThere && stored?.equals(signature) !== true) {
    throw new Error(`${name} is here with another signature: run releases remove ${release.version} first`);
  }
  if (!isThere && listReleases(folder).length >= RELEASES_MAX) {
    throw new Error(`${folder} holds ${RELEASES_MAX} releases, the most: remove an old version with releases remove`);
  }
  await takeFiles(folder, file, (copy) => verifyFile(copy, name, signature.toString("utf8"), publicKey));
  return release;
}

/** Removes a version with all its platforms. @returns the removed archives; none if the folder lacks the version */
export function removeRelease(folder: string, version: string): string[] {
  if (!isFolder(folder)) return [];
  const names = listReleases(folder).flatMap((one) => (one.version === version ? [archiveName(one)] : []));
  for (const name of names) {
    // A signature without its archive is not a release.
    for (const file of [name, `${name}${SIGNATURE}`]) rmSync(join(folder, file), { force: true });
  }
  syncFolder(folder);
  return names;
}

/** Copies archive and signature under other names, verifies the copy, and only then gives them their names. */
async function takeFiles(folder: string, file: string, verify: (copy: string) => Promise<void>): Promise<void> {
  const archive = join(folder, basename(file));
  makeFolder(folder);
  // The archive comes last, because a signature alone is not a release.
  const copies = [
    { from: `${file}${SIGNATURE}`, to: `${archive}${SIGNATURE}` },
    { from: file, to: archive },
  ].map((copy) => ({ ...copy, part: `${copy.to}${PART}` }));
  try {
    for (const { from, part } of copies) await copyDurably(from, part);
    await verify(`${archive}${PART}`);
    for (const { part, to } of copies) await rename(part, to);
    syncFolder(folder);
  } catch (error) {
    throw storageAdvice(error, folder);
  } finally {
    for (const { part } of copies) rmSync(part, { force: true });
  }
}

/** @returns false for a missing folder. @throws Error for a link, which root does not follow */
function isFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw new Error(`${folder} is not a folder: remove it, then add the release again`);
}

/**
 * Makes the folder for the user of the data folder, if it is missing. Root runs this for the server's user, who may put a link there.
 * The server itself fetches releases too, so a folder that is root's becomes that user's.
 */
function makeFolder(folder: string): void {
  if (isFolder(folder)) {
    giveToOwner(folder);
    return;
  }
  // The data folder around it is private. The server may run as another user than the command that adds a release.
  const mask = process.umask(0o022);
  try {
    mkdirSync(folder);
  } finally {
    process.umask(mask);
  }
  giveToOwner(folder);
  syncFolder(dirname(folder));
}

/** Keeps other processes from adding releases until the returned function is called. @throws Error if one does */
export function lockReleases(folder: string): () => void {
  makeFolder(folder);
  return lockFolder(folder, `another process adds releases to ${folder}: wait for its end`);
}

async function copyDurably(from: string, part: string): Promise<void> {
  rmSync(part, { force: true });
  // A new file alone, so that a link in its place is not followed.
  const copy = await open(part, "wx");
  try {
    await writeFile(copy, createReadStream(from));
    await copy.chmod(0o644);
    await copy.sync();
  } finally {
    await copy.close();
  }
}

function requireFile(file: string, bytesMax: number, advice: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) throw new Error(`${file} is missing, or is not a regular file: ${advice}`);
  if (found.size > bytesMax) throw new Error(`${file} has ${found.size} bytes, at most ${bytesMax}: ${advice}`);
}

/** Opens an archive or a signature for an agent. @returns undefined for any other name, and for a file that is not there */
export async function openReleaseFile(
  folder: string | null,
  name: string,
): Promise<{ file: FileHandle; bytes: number } | undefined> {
  const archive = name.endsWith(SIGNATURE) ? name.slice(0, -SIGNATURE.length) : name;
  if (folder === null || readArchiveName(archive) === undefined) return undefined;
  const path = join(folder, name);
  // Only regular files: a link could lead out of the folder.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const file = await open(path, "r");
  return { file, bytes: (await file.stat()).size };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

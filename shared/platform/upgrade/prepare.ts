import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { storageAdvice } from "../care/storage-advice.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { PROGRAM_FOLDER, releaseName } from "../../files/program-files.ts";
import { syncFolder } from "../../files/private-folder.ts";
import { LastWords } from "./last-words.ts";
import { SIGNATURE_BYTES_MAX, verifyFile } from "./minisign.ts";
import { unpack } from "./unpack.ts";
import { draftsFolder, programOf, unpackedVersions, versionFolder } from "./version-store.ts";

// Brings a release into the versions folder: fetched, verified, unpacked, and started once for its version.

/** Writes a file of a release, of at most `bytesMax`. @throws Error with the reason */
export type FetchFile = (name: string, file: string, bytesMax: number) => Promise<void>;

export interface ReleaseOrder {
  readonly program: "agent" | "server";
  readonly version: string;
  readonly folder: string;
  readonly fetch: FetchFile;
  /** Bytes that the upgrade needs on this disk in addition to the release, for the copy of the database. */
  readonly spareBytes: number;
}

export const ARCHIVE_BYTES_MAX = 500 * 1024 ** 2;
/** Room that a release needs, packed and unpacked: Node alone is 120 MB. */
const RELEASE_BYTES = 400 * 1024 ** 2;
const CHECK_MS = 60_000;

/**
 * Unpacks a release next to the running version. With `keep` false it is checked, even if it was there, and removed again.
 * @throws Error with the reason
 */
export async function prepareRelease(order: ReleaseOrder, keep = true): Promise<void> {
  const { folder, version } = order;
  if (keep && unpackedVersions(folder).includes(version)) return;
  const name = releaseName(order.program, version);
  const drafts = draftsFolder(folder);
  requireRoom(folder, RELEASE_BYTES + order.spareBytes);
  const draft = path.join(drafts, version);
  try {
    const archive = await fetchVerified(order, drafts, `${name}.tar.gz`);
    await unpack(archive, name, draft);
    await checkVersion(draft, version);
    if (!keep) return;
    // Root runs no file that the service could have changed since, but unpacks the archive again: verified-copy.ts.
    for (const file of [archive, `${archive}.minisig`]) await keepIn(draft, file);
    syncFolder(draft);
    fs.renameSync(draft, versionFolder(folder, version));
    syncFolder(folder);
  } catch (error) {
    throw storageAdvice(error, folder);
  } finally {
    fs.rmSync(drafts, { recursive: true, force: true });
  }
}

async function keepIn(folder: string, file: string): Promise<void> {
  const handle = await fs.promises.open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  fs.renameSync(file, path.join(folder, path.basename(file)));
}

/** Fetches archive and signature. */
async function fetchVerified({ fetch }: ReleaseOrder, drafts: string, name: string): Promise<string> {
  const publicKey = releaseKey();
  const [archive, signature] = [path.join(drafts, name), path.join(drafts, `${name}.minisig`)];
  await fetch(`${name}.minisig`, signature, SIGNATURE_BYTES_MAX);
  await fetch(name, archive, ARCHIVE_BYTES_MAX);
  await verifyFile(archive, name, fs.readFileSync(signature, "utf8"), publicKey);
  return archive;
}

/** Returns the key that this version trusts. @throws Error for a program that was built without one */
export function releaseKey(): string {
  const file = path.join(PROGRAM_FOLDER, "release.pub");
  if (fs.existsSync(file)) return fs.readFileSync(file, "utf8");
  throw new Error("this program was built without a release key: install the new package by hand");
}

/** Starts an unpacked version for its number alone. @throws Error for a damaged one, or one for another machine */
export async function checkVersion(draft: string, version: string): Promise<void> {
  const [node, main] = programOf(draft);
  const found = await promisify(execFile)(node, [main, "--version"], { timeout: CHECK_MS, windowsHide: true }).then(
    ({ stdout }) => stdout.trim(),
    (error: unknown) => {
      const lastWords = new LastWords();
      lastWords.add(error instanceof Error && "stderr" in error ? String(error.stderr) : "");
      throw new Error(
        `version ${version} does not start on this machine: ${lastWords.sentence ?? errorMessage(error)}`,
      );
    },
  );
  if (found !== version) throw new Error(`the program of version ${version} prints "${found}" as its version`);
}

function requireRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder);
  if (bavail * bsize >= bytes) return;
  const [free, needed] = [bavail * bsize, bytes].map((size) => `${Math.ceil(size / 1e6)} MB`);
  throw new Error(`${folder} has ${free} free and the upgrade needs ${needed}: make room there`);
}

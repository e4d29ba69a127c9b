import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { archiveName, compareVersions, LATEST, LatestRelease, type Release } from "../../shared/api/upgrade.ts";
import { storageAdvice } from "../../shared/platform/care/storage-advice.ts";
import { verifyFile, SIGNATURE_BYTES_MAX } from "../../shared/platform/upgrade/minisign.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { problems } from "../../shared/schema/problems.ts";
import { download, FeedRefusal } from "./release-download.ts";
import { addRelease, ARCHIVE_BYTES_MAX, listReleases, lockReleases } from "./release-folder.ts";

// Fetches the newest release of the agent from a static host into the folder of releases. The host is not trusted: `latest.json`
// and each archive carry a signature. All files are next to `latest.json`, so a mirror is a copy of the folder.

export interface Feed {
  /** The address of `latest.json`. */
  readonly from: URL;
  /** The folder of releases. */
  readonly folder: string;
  /** The text of the minisign key that signed the release. */
  readonly publicKey: string;
  /** The version of this program. An older release is refused. */
  readonly version: string;
  /** The platforms to fetch; null for all of the release. */
  readonly platforms: readonly string[] | null;
}

interface Fetched {
  readonly version: string;
  /** The releases that were not here before. */
  readonly added: readonly Release[];
}

type File = LatestRelease["files"][number];

const LATEST_BYTES_MAX = 256 * 1024;
/** A folder in the folder of releases for incomplete files. */
const SCRATCH = "fetch";

const latestForm = compileLater(LatestRelease);

/** Fetches what is missing. An archive is in the folder completely or not at all. @throws FeedRefusal */
export async function fetchReleases(feed: Feed, signal: AbortSignal): Promise<Fetched> {
  const unlock = orRefuse(feed.folder, () => lockReleases(feed.folder));
  try {
    return await fetchLocked(feed, signal);
  } finally {
    unlock();
  }
}

/** Fetches what is missing, for a caller that has locked the folder. @throws FeedRefusal */
export async function fetchLocked(feed: Feed, signal: AbortSignal): Promise<Fetched> {
  const scratch = join(feed.folder, SCRATCH);
  orRefuse(feed.folder, () => {
    // An earlier run may have been killed. A link in its place is removed, not followed.
    rmSync(scratch, { recursive: true, force: true });
    mkdirSync(scratch, { mode: 0o700 });
  });
  try {
    const latest = await readLatest(feed, scratch, signal);
    const here = new Set(listReleases(feed.folder).map(archiveName));
    const added: Release[] = [];
    for (const { file, release } of wantedFiles(feed, latest)) {
      if (here.has(file.name)) continue;
      await fetchArchive(feed, file, scratch, signal);
      added.push(release);
    }
    return { version: latest.version, added };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function orRefuse<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new FeedRefusal("NOT_STORED", LATEST, errorMessage(storageAdvice(error, folder)));
  }
}

/** @returns the list, verified @throws FeedRefusal also for a list that is older than what is here */
async function readLatest(feed: Feed, scratch: string, signal: AbortSignal): Promise<LatestRelease> {
  const file = join(scratch, LATEST);
  const source = { url: feed.from, name: LATEST, file, bytesMax: LATEST_BYTES_MAX, bytes: null };
  await download(source, signal);
  await fetchSignature(feed, LATEST, file, signal);
  await verifyFile(file, LATEST, readFileSync(`${file}.minisig`, "utf8"), feed.publicKey).catch((error: unknown) => {
    throw new FeedRefusal("SIGNATURE", LATEST, errorMessage(error));
  });
  const value = readJson(readFileSync(file, "utf8"));
  if (!latestForm.Check(value)) {
    throw new FeedRefusal("UNREADABLE", LATEST, problems(latestForm, value, 3).join("; "));
  }
  const newest = [feed.version, ...listReleases(feed.folder).map(({ version }) => version)]
    .toSorted(compareVersions)
    .at(-1);
  if (newest !== undefined && compareVersions(value.version, newest) < 0) {
    throw new FeedRefusal("OLDER", LATEST, `${value.version}, and ${newest} is here`);
  }
  return value;
}

/** @returns the archives to fetch @throws FeedRefusal if one has the name of another release, or a platform is absent */
function wantedFiles({ platforms }: Feed, { version, files }: LatestRelease): { file: File; release: Release }[] {
  const archives = files.filter(({ kind, program }) => kind === "archive" && program === "agent");
  const wanted = archives.filter(({ platform }) => platforms === null || platforms.includes(platform));
  const absent = (platforms ?? []).filter((platform) => archives.every((file) => file.platform !== platform));
  if (absent.length > 0) {
    const there = archives.map(({ platform }) => platform).join(", ");
    throw new FeedRefusal("PLATFORM", LATEST, `${absent.join(", ")}, and the release has ${there || "none"}`);
  }
  return wanted.map((file) => {
    const release = { version, platform: file.platform };
    if (file.name !== archiveName(release)) {
      throw new FeedRefusal("PLATFORM", file.name, `listed as ${archiveName(release)}`);
    }
    return { file, release };
  });
}

async function fetchArchive(feed: Feed, { name, size, sha256 }: File, scratch: string, signal: AbortSignal) {
  const { from, folder, publicKey } = feed;
  if (size > ARCHIVE_BYTES_MAX) {
    throw new FeedRefusal("TOO_LARGE", name, `${size} bytes, at most ${ARCHIVE_BYTES_MAX}`);
  }
  const file = join(scratch, name);
  await fetchSignature(feed, name, file, signal);
  await download({ url: new URL(name, from), name, file, bytesMax: size, bytes: size }, signal);
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  if (hash.digest("hex") !== sha256) throw new FeedRefusal("TAMPERED", name, "its SHA-256 differs from the list's");
  const signature = readFileSync(`${file}.minisig`, "utf8");
  await verifyFile(file, name, signature, publicKey).catch((error: unknown) => {
    throw new FeedRefusal("SIGNATURE", name, errorMessage(error));
  });
  await addRelease(folder, file, publicKey).catch((error: unknown) => {
    throw new FeedRefusal("NOT_STORED", name, errorMessage(error));
  });
  // Room for the next one.
  rmSync(file, { force: true });
}

async function fetchSignature({ from }: Feed, name: string, file: string, signal: AbortSignal): Promise<void> {
  const signed = `${name}.minisig`;
  // The query of an address is often the right to read: it belongs to latest.json alone.
  const url = name === LATEST ? withSuffix(from) : new URL(signed, from);
  await download({ url, name: signed, file: `${file}.minisig`, bytesMax: SIGNATURE_BYTES_MAX, bytes: null }, signal);
}

function withSuffix(from: URL): URL {
  const url = new URL(from);
  url.pathname += ".minisig";
  return url;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

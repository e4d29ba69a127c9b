import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { archiveName, type Release } from "../../shared/api/upgrade.ts";
import { printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { becomeOwner } from "../../shared/files/folder-owner.ts";
import { VERSION } from "../../shared/files/program-files.ts";
import { type FeedCode, FeedRefusal } from "../operations/release-download.ts";
import { fetchLocked } from "../operations/release-feed.ts";
import { addRelease, listReleases, lockReleases, RELEASES, removeRelease } from "../operations/release-folder.ts";
import { isPostgresUrl } from "../database/open.ts";
import { hasSqliteFile } from "../database/sqlite.ts";
import { parseFeedUrl, readPublicKey } from "./common/release-options.ts";
import { storeLocation } from "./common/with-store.ts";
import { type DataOption, dataOption } from "./common/options.ts";

const addCommand = new Command("add")
  .argument("<files...>", "archives, such as vetwire-agent-0.2.0-linux-x64.tar.gz, each next to its .minisig")
  .description("offer releases to the agents, after a check of their signatures")
  .option("--public-key <file>", "minisign key that signed them; by default the one of this program")
  .addOption(dataOption())
  .action(add);

const fetchCommand = new Command("fetch")
  .description("fetch the newest release from a static host, after a check of its signatures")
  .requiredOption("--from <url>", "address of latest.json, with its files next to it", parseFeedUrl)
  .option("--platform <names...>", "fetch these alone, such as win-x64")
  .option("--public-key <file>", "minisign key that signed it; by default the one of this program")
  .addOption(dataOption())
  .action(fetch);

const listCommand = new Command("list")
  .description("list the releases")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(list);

const removeCommand = new Command("remove")
  .argument("<version>", "version that releases list shows")
  .description("remove a version with all its platforms; no agent changes its version by that")
  .addOption(dataOption())
  .action(remove);

export const releasesCommand = new Command("releases")
  .description("versions of the agent that the dashboard can bring to the clinic PCs, under Devices")
  .addCommand(addCommand)
  .addCommand(fetchCommand)
  .addCommand(listCommand)
  .addCommand(removeCommand);

async function add(files: string[], { data, publicKey }: DataOption & { publicKey?: string }): Promise<void> {
  requireServerFolder(data);
  const key = readPublicKey(publicKey);
  const folder = join(data, RELEASES);
  const unlock = lockReleases(folder);
  try {
    for (const file of files) {
      const release = await addRelease(folder, file, key);
      printLine(`${archiveName(release)} can be installed from the dashboard, under Devices`);
    }
  } finally {
    unlock();
  }
}

interface FetchOptions extends DataOption {
  readonly from: URL;
  readonly platform?: string[];
  readonly publicKey?: string;
}

async function fetch({ data, from, platform, publicKey }: FetchOptions): Promise<void> {
  requireServerFolder(data);
  const key = readPublicKey(publicKey);
  // SQLite opens the lock by its complete path, which the user of a service cannot reach below /var/lib/private.
  const unlock = lockReleases(join(data, RELEASES));
  try {
    const feed = {
      ...{ from, folder: join(becomeOwner(data), RELEASES), publicKey: key, version: VERSION },
      platforms: platform ?? null,
    };
    const { version, added } = await fetchLocked(feed, new AbortController().signal);
    if (added.length === 0) printLine(`${version} is the newest release, and it is here`);
    for (const release of added) {
      printLine(`${archiveName(release)} can be installed from the dashboard, under Devices`);
    }
  } catch (error) {
    throw error instanceof FeedRefusal ? new Error(feedWords(error), { cause: error }) : error;
  } finally {
    unlock();
  }
}

const FEED_WORDS: Readonly<Record<FeedCode, readonly [fault: string, remedy: string]>> = {
  UNREACHABLE: ["cannot be fetched", "check the address, and the proxy of this machine"],
  MISSING: ["is not on that host", "name the address of latest.json, with all files of the release next to it"],
  TOO_LARGE: ["is larger than it may be", "copy the release to the host again"],
  TRUNCATED: ["is cut off", "try again; if it stays, copy the release to the host again"],
  TAMPERED: ["is not the file of the release", "copy the release to the host again, and look who can write there"],
  SIGNATURE: ["is not signed by the owner of the releases", "check the key, and look who can write on that host"],
  UNREADABLE: ["has no list of a release", "upgrade this server first if the release is newer"],
  OLDER: ["has an older release than this server", "copy the newest release to the host"],
  PLATFORM: ["has no archive of that platform", "name one that the release has, or none for all"],
  NOT_STORED: ["cannot be stored", "mend what is named, then try again"],
};

function feedWords({ code, file, detail }: FeedRefusal): string {
  const [fault, remedy] = FEED_WORDS[code];
  return `${file} ${fault} (${code}; ${detail}): ${remedy}`;
}

async function list({ data, json }: DataOption & { json?: true }): Promise<void> {
  requireServerFolder(data);
  const releases = listReleases(join(data, RELEASES));
  if (json) printJson(releases);
  else await printTable(releaseTable, releases);
}

function remove(version: string, { data }: DataOption): void {
  const removed = removeRelease(join(data, RELEASES), version);
  if (removed.length === 0) {
    throw new Error(`version ${version} is not here, expected one of releases list`);
  }
  for (const name of removed) printLine(`${name} is removed`);
}

/** @throws Error for a folder that no server has used, since its name may be mistyped */
function requireServerFolder(data: string): void {
  const isUsed = isPostgresUrl(storeLocation(data)) ? existsSync(data) : hasSqliteFile(data);
  if (!isUsed) throw new Error(`there is no server in ${data}, expected the --data folder that the server has used`);
}

const releaseTable: Table<Release> = {
  head: ["VERSION", "PLATFORM", "FILE"],
  cells: (release) => [release.version, release.platform, archiveName(release)],
};

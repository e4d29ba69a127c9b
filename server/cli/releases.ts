import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { archiveName, type Release } from "../../shared/api/upgrade.ts";
import { printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { PROGRAM_FOLDER } from "../../shared/files/program-files.ts";
import { addRelease, listReleases, RELEASES, removeRelease } from "../operations/release-folder.ts";
import { isPostgresUrl } from "../database/open.ts";
import { hasSqliteFile } from "../database/sqlite.ts";
import { storeLocation } from "./common/with-store.ts";
import { type DataOption, dataOption } from "./common/options.ts";

const addCommand = new Command("add")
  .argument("<files...>", "archives, such as vetwire-agent-0.2.0-linux-x64.tar.gz, each next to its .minisig")
  .description("offer releases to the agents, after a check of their signatures")
  .option("--public-key <file>", "minisign key that signed them; by default the one of this program")
  .addOption(dataOption())
  .action(add);

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
  .addCommand(listCommand)
  .addCommand(removeCommand);

async function add(files: string[], { data, publicKey }: DataOption & { publicKey?: string }): Promise<void> {
  requireServerFolder(data);
  const key = readPublicKey(publicKey);
  for (const file of files) {
    const release = await addRelease(join(data, RELEASES), file, key);
    printLine(`${archiveName(release)} can be installed from the dashboard, under Devices`);
  }
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

function readPublicKey(file: string | undefined): string {
  const own = join(PROGRAM_FOLDER, "release.pub");
  if (file === undefined && !existsSync(own)) {
    throw new Error("this program has no release key of its own: name the file with the key by --public-key");
  }
  return readFileSync(file ?? own, "utf8");
}

const releaseTable: Table<Release> = {
  head: ["VERSION", "PLATFORM", "FILE"],
  cells: (release) => [release.version, release.platform, archiveName(release)],
};

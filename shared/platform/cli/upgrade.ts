import fs from "node:fs";
import path from "node:path";
import { Argument, Command } from "commander";
import { versionsFolder } from "../service/description.ts";
import { ownService, thisMachine } from "../service/manage.ts";
import { readArchiveName } from "../../api/upgrade.ts";
import { askService, type UpgradeAnswer } from "../upgrade/requests.ts";
import { readRunning, readUpgrades } from "../upgrade/version-store.ts";
import { printLine } from "./output.ts";

/** Time in which a running service takes a request. */
const TAKEN_MS = 15_000;
/** Time of the preparation: a download of 500 MB by a slow line, the copy of the database, and a moment without messages. */
const PREPARED_MS = 2 * 60 * 60_000;
/** Time after the preparation in which an upgrade ends: a stop, the probation, and the stop of a version that failed. */
const END_MS = 5 * 60_000;
const POLL_MS = 500;

interface UpgradeOptions {
  readonly version?: string;
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly name?: string;
  readonly versions?: string;
}

export const upgradeCommand = new Command("upgrade")
  .description("bring the service of this machine to a later version; a failed one goes back by itself")
  .addArgument(new Argument("[program]", "agent or server").choices(["agent", "server"]).default("agent"))
  .option("--version <version>", "version to fetch from the agent's server, if not the one wanted by it")
  .option("--from <file>", "archive of a release on this machine, next to its .minisig")
  .option("--dry-run", "fetch and check the release, and change nothing")
  .option("--name <name>", "name of the service, if it is not vetwire-agent or vetwire-server")
  .option("--versions <folder>", "folder of the versions, for a program that no service manager started")
  .action(upgrade);

async function upgrade(program: "agent" | "server", options: UpgradeOptions): Promise<void> {
  const { from, dryRun = false } = options;
  const folder = options.versions ?? (await folderOf(options.name ?? `vetwire-${program}`));
  const version = from === undefined ? (options.version ?? null) : versionOf(program, from);
  if (from === undefined && program === "server") throw new Error("name the release of the server with --from");
  const endedBefore = readUpgrades(folder).at(-1)?.at ?? "";
  const to = await prepare(folder, version, from ?? null, dryRun);
  if (dryRun) return;
  const end = await poll(END_MS, () => readUpgrades(folder).find((each) => each.to === to && each.at > endedBefore));
  if (end === undefined) throw new Error('the upgrade has not ended yet: "vetwire service status" shows it');
  if (end.outcome !== "done")
    throw new Error(`version ${end.to} was ${end.outcome}: ${end.reason ?? "no reason known"}`);
  printLine(`version ${end.to} runs`);
}

/** Lets the service fetch and check the release, and prints its sentences. @returns the version @throws Error if it refuses */
async function prepare(
  folder: string,
  version: string | null,
  from: string | null,
  isDryRun: boolean,
): Promise<string> {
  const request = askService(folder, version, from, isDryRun);
  let printed = 0;
  const next = async (): Promise<UpgradeAnswer | undefined> => request.answer() ?? undefined;
  let answer = await poll(TAKEN_MS, next);
  if (answer === undefined && request.withdraw()) {
    throw new Error(
      'the service does not run, or has another upgrade under way: "vetwire service status" shows it. ' +
        'Start it with "vetwire service start", then try again',
    );
  }
  const taker = readRunning(folder)?.process;
  const until = performance.now() + PREPARED_MS;
  while (performance.now() < until) {
    // It is read before the response, because a service ends after its last one.
    const running = readRunning(folder)?.process;
    answer = request.answer() ?? answer;
    const sentences = answer?.sentences.slice(printed) ?? [];
    printed += sentences.length;
    if (answer?.is === "refused") throw new Error(sentences.join("; "));
    for (const sentence of sentences) printLine(sentence);
    if (answer?.is === "done") return answer.version;
    if (running !== taker) throw new Error("the service restarted meanwhile: try again");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('the upgrade is not prepared yet: "vetwire service status" shows how the service runs');
}

async function folderOf(name: string): Promise<string> {
  const { service } = await ownService(name, thisMachine());
  const folder = versionsFolder(service.state);
  if (fs.existsSync(folder)) return folder;
  throw new Error(`${folder} cannot be read: run this as an administrator, while the service runs`);
}

function versionOf(program: string, file: string): string {
  const name = path.basename(file);
  const version = readArchiveName(name.replace(/^vetwire-server-/, "vetwire-agent-"))?.version;
  if (version === undefined || !name.startsWith(`vetwire-${program}-`)) {
    throw new Error(`${name} is not a release: expected a name such as vetwire-${program}-0.2.0-linux-x64.tar.gz`);
  }
  for (const each of [file, `${file}.minisig`]) {
    if (!fs.existsSync(each)) throw new Error(`${each} is missing: an upgrade needs the archive and its signature`);
  }
  return version;
}

/** Repeats a query. @returns undefined if the time is over */
async function poll<Result>(
  ms: number,
  ask: () => Result | undefined | Promise<Result | undefined>,
): Promise<Result | undefined> {
  const until = performance.now() + ms;
  for (;;) {
    const result = await ask();
    if (result !== undefined || performance.now() > until) return result;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

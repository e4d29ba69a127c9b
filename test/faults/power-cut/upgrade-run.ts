import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { copyDatabase } from "../../../shared/platform/upgrade/database-copy.ts";
import { Launcher } from "../../../shared/platform/upgrade/launcher.ts";
import { prepareRelease } from "../../../shared/platform/upgrade/prepare.ts";
import { readUpgrades, unpackedVersions } from "../../../shared/platform/upgrade/version-store.ts";

// An upgrade that stays and one that is rolled back, from a copy of the program that trusts the key of the test. argv: the folder, the
// folder of the releases.

const [, , root, packages] = process.argv as [string, string, string, string];
const folder = path.join(root, "versions");
const OWN = "0.0.1";
const POLL_MS = 10;
/** A version under strace on a loaded machine reports its health within this time. */
const PROBATION_MS = 5_000;
const END_MS = 120_000;
const say = (word: string) => process.stdout.write(`told ${word} ${Date.now()}\n`);

async function prepare(version: string): Promise<void> {
  const fetch = async (name: string, file: string) => {
    fs.writeFileSync(file, fs.readFileSync(path.join(packages, name)));
  };
  await prepareRelease({ program: "agent", version, folder, fetch, spareBytes: 0 });
  say(`prepared-${version}`);
}

/** Runs the launcher until `isDone`. The version in force orders the next one by itself. */
async function launchUntil(isDone: () => boolean): Promise<void> {
  const log = pino({ enabled: false });
  const output = () => undefined;
  const of = { program: "agent", options: [], folder, version: OWN, probationMs: PROBATION_MS, log, output } as const;
  const launcher = new Launcher(of);
  const ended = launcher.run();
  const last = Date.now() + END_MS;
  while (!isDone()) {
    if (Date.now() > last) throw new Error(`no end of the upgrade: ${JSON.stringify(readUpgrades(folder))}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  launcher.stop();
  await ended;
}

await copyDatabase(path.join(root, "spool.db"));
say("copied");
await prepare("0.2.0");
await launchUntil(() => readUpgrades(folder).some(({ outcome }) => outcome === "done"));
say("done");
await prepare("0.3.0");
await launchUntil(() => {
  const isBack = readUpgrades(folder).some(({ outcome }) => outcome === "rolled back");
  return isBack && unpackedVersions(folder).join() === "0.2.0";
});
say("back");
process.exit(0);

import { Command } from "commander";
import { EXIT_CONFIG } from "../../../shared/platform/cli/exit-codes.ts";
import { parseTime } from "../../../shared/platform/cli/options.ts";
import { plural, printError, printJson, printTimes, progressInTenths } from "../../../shared/platform/cli/output.ts";
import { CommandError } from "../../../shared/platform/cli/program.ts";
import { analyzersOf } from "../../analyzers.ts";
import { checkConfig } from "../../config/check.ts";
import { folderOf, readText } from "../../config/config-file.ts";
import { withProfile } from "../../config/edit.ts";
import type { Config } from "../../config/values/schema.ts";
import { advice } from "../../runtime/did-you-mean.ts";
import { hasSpool } from "../../spool/access.ts";
import { isRunning } from "../../spool/queries/status.ts";
import { adopt, type Adoption, type Difference, differenceOf } from "../../tools/offline/adopt.ts";
import { asProblems, type ConfigOption, configOption, readConfig } from "../common/options.ts";
import { changeLines } from "../messages/reprocess.ts";

export const adoptCommand = new Command("adopt")
  .argument("<profile>", "such as own/acme-x1@4, or a shipped one")
  .description(
    "show what another revision of a device's profile changes in its stored messages; --yes pins it in agent.yaml and stores them",
  )
  .addOption(configOption())
  .requiredOption("--device <id>", "device of the configuration")
  .option("--since <time>", "only messages received since then: 24h, 7d or 2026-11-21T09:30:00Z", parseTime, 0)
  .option("--yes", "adopt it")
  .option("--json", "print a JSON object with the changes and counts")
  .action(adoptProfile);

interface AdoptOptions extends ConfigOption {
  readonly device: string;
  readonly since: number;
  readonly yes?: boolean;
  readonly json?: boolean;
}

async function adoptProfile(profile: string, options: AdoptOptions): Promise<void> {
  const config = readConfig(options);
  const { device, since } = options;
  const [file, text] = [config.file ?? "", readText(config.file ?? "") ?? ""];
  const from = config.devices.find(({ id }) => id === device)?.profile;
  if (from === undefined) {
    const ids = config.devices.map(({ id }) => id);
    throw new Error(`--device is ${device}, ${advice(device, ids)}`);
  }
  const next = configWith(withProfile(text, device, profile), options, device);
  const difference = hasSpool(config.data)
    ? await differenceOf(next, analyzersOf(next), options, progressInTenths())
    : null;
  if (difference !== null && !options.json) for (const line of linesOf(difference)) printTimes(line);
  const adoption = { device, from, to: profile, since };
  const stored = options.yes ? await adopt(config, file, text, adoption, difference) : null;
  if (options.json) return printJson(asJson(adoption, difference, stored !== null));
  printError(summaryOf(adoption, difference));
  if (stored === null) return printError(`nothing was adopted: add --yes to pin ${profile}`);
  printError(`${device} is pinned to ${profile}, ${plural(stored.stored, "message")} stored again`);
  if (stored.overtaken > 0) printError(`${plural(stored.overtaken, "message")} left, because a newer result arrived`);
  if (isRunning(config.data))
    printError("restart the agent: it reads new messages with the earlier profile until then");
}

/** @returns the checked configuration. @throws CommandError with its problems, also if the profile cannot be used */
function configWith(text: string, { config: file }: ConfigOption, device: string): Config {
  const checked = checkConfig(text, folderOf(file));
  if ("problems" in checked) throw asProblems(file, checked.problems);
  const { devices, profileFaults } = checked.config;
  const own = profileFaults.filter(({ steps }) => devices[Number(steps[1])]?.id === device);
  if (own.length > 0) throw new CommandError(own.map(({ message }) => message).join("\n"), EXIT_CONFIG);
  return checked.config;
}

function linesOf({ changed, split }: Difference): string[] {
  const kept = split.map(({ message: { id, receivedAt } }) => `${id}  ${new Date(receivedAt).toISOString()}`);
  return [...changeLines(changed), ...kept.map((line) => `${line}  would become another study: stays as it was filed`)];
}

function summaryOf({ from, to }: Adoption, difference: Difference | null): string {
  if (difference === null) return `${from} to ${to}: the agent has not run yet, so no message is read again`;
  const { messages, changed, split, rows } = difference;
  const counts = [
    `${changed.length} of ${plural(messages, "message")} would change`,
    `${plural(rows.added, "row")} new, ${rows.changed} changed, ${rows.lost} lost`,
    ...(split.length === 0 ? [] : [`${split.length} would become another study and stay`]),
  ];
  return `${from} to ${to}: ${counts.join("; ")}`;
}

function asJson(adoption: Adoption, difference: Difference | null, isAdopted: boolean): object {
  const { device, from, to } = adoption;
  const { messages = 0, changed = [], split = [], rows = { added: 0, changed: 0, lost: 0 } } = difference ?? {};
  return {
    ...{ device, from, to, messages, rows },
    changed: changed.map(({ message: { id }, diff }) => ({ id, changes: diff })),
    split: split.map(({ message: { id } }) => id),
    adopted: isAdopted,
  };
}

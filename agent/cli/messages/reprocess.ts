import { Command } from "commander";
import { collect, parseTime } from "../../../shared/platform/cli/options.ts";
import { plural, printError, printJson, printTimes, progressInTenths } from "../../../shared/platform/cli/output.ts";
import { analyzersOf } from "../../analyzers.ts";
import { imagingOf } from "../../imaging-devices.ts";
import type { MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { reassess, store, type ReassessedMessage, type Stored } from "../../tools/offline/reprocess.ts";
import { type ConfigOption, configOption, readConfig, stateParser } from "../common/options.ts";

export const reprocessCommand = new Command("reprocess")
  .description(
    "process messages again after a profile, a mapping or a patient was corrected; prints the changes and stores them",
  )
  .addOption(configOption())
  .requiredOption(
    "--state <state>",
    "filed (after a new mapping of codes), quarantined, unmatched or not-for-patients (for the controls of the past); repeatable",
    stateParser(["filed", "quarantined", "unmatched", "not-for-patients"]),
    [],
  )
  .option("--device <id>", "only messages of the device; repeatable", collect, [])
  .option("--code <code>", "only messages with the code, such as MESSAGE.SET_ASIDE; repeatable", collect, [])
  .option("--since <time>", "only messages received since then: 24h, 7d or 2026-11-21T09:30:00Z", parseTime, 0)
  .option("--dry-run", "print the changes and store nothing")
  .option("--json", "print a JSON object with the changes and counts")
  .action(reprocess);

interface ReprocessOptions extends ConfigOption {
  readonly state: readonly MessageState[];
  readonly device: readonly string[];
  readonly code: readonly string[];
  readonly since: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

async function reprocess(options: ReprocessOptions): Promise<void> {
  const config = readConfig(options);
  const devices = { analyzers: analyzersOf(config), imaging: imagingOf(config) };
  const unknown = options.device.find((id) => config.devices.every((device) => device.id !== id));
  if (unknown !== undefined) {
    throw new Error(`--device is ${unknown}, expected one of ${config.devices.map(({ id }) => id).join(", ")}`);
  }
  const { state: states, device, code: codes, since } = options;
  const wanted = { states, devices: device, codes, since };
  const done = await reassess(config.data, wanted, devices, config.matchPatientsByName ?? false, progressInTenths());
  if (options.json) return printJson(asJson(done, options.dryRun ? null : store(config.data, done)));
  for (const line of changeLines(done)) printTimes(line);
  const messages = plural(done.length, "message");
  if (options.dryRun) {
    const changed = done.filter(({ diff }) => diff.length > 0).length;
    return printError(`${messages}, ${changed} would change, nothing was stored`);
  }
  const { stored, overtaken } = store(config.data, done);
  const next = stored === 0 ? "" : ": a running agent sends them within some minutes";
  printError(`${messages}, ${stored} stored again${next}`);
  if (overtaken > 0) {
    printError(`${plural(overtaken, "message")} left, because a newer result arrived meanwhile: run the command again`);
  }
}

/** `stored` is null if nothing was stored. */
function asJson(done: readonly ReassessedMessage[], stored: Stored | null): object {
  const changes = done.flatMap(({ message: { id, device, receivedAt }, diff }) =>
    diff.length === 0 ? [] : [{ id, device, received_at: new Date(receivedAt).toISOString(), changes: diff }],
  );
  return { messages: done.length, changed: changes, stored: stored?.stored ?? 0, overtaken: stored?.overtaken ?? 0 };
}

/** A head for each changed message, and below it the change. Consecutive images of a study share one change. */
export function changeLines(done: readonly ReassessedMessage[]): string[] {
  return done.flatMap(({ message, diff }, index) => {
    if (diff.length === 0) return [];
    const head = `${message.id}  ${new Date(message.receivedAt).toISOString()}  ${message.device}`;
    const isLast = diff.join("\n") !== done[index + 1]?.diff.join("\n");
    return isLast ? [head, ...diff.map((line) => `  ${line}`)] : [head];
  });
}

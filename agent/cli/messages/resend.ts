import { Command } from "commander";
import { parseTime } from "../../../shared/platform/cli/options.ts";
import { plural, printError, printLine } from "../../../shared/platform/cli/output.ts";
import { readSpool, writeSpool } from "../../spool/access.ts";
import { readStatus } from "../../spool/queries/status.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const resendCommand = new Command("resend")
  .description("send the studies again whose outcome came since a time, after a restore of the server")
  .addOption(configOption())
  .requiredOption("--since <time>", "24h, 7d or 2026-11-21T09:30:00Z", parseTime)
  .action(resend);

/** The server files a study once, so that sending too many does no harm. */
function resend(options: ConfigOption & { since: number }): void {
  const { data } = readConfig(options);
  const count = writeSpool(data, (operations) => operations.resendSince(options.since));
  printLine(`${plural(count, "study revision")} queued for the server`);
  const { running } = readSpool(data, (db) => readStatus(db, data));
  if (!running) printError("the agent is not running: it sends them at its next start");
}

import { Command } from "commander";
import { checkBackup, restoreBackup } from "../../shared/platform/care/restore.ts";
import { printError, printLine, progressLine } from "../../shared/platform/cli/output.ts";
import { localTime } from "../../shared/runtime/local-time.ts";
import { restoreTarget, SERVER_BACKUP } from "./common/backup-source.ts";
import { type DataOption, dataOption } from "./common/options.ts";

export const restoreCommand = new Command("restore")
  .argument("<file>", "file of server backup")
  .description("restore a backup into the data folder; the server must not run. Old files are moved aside")
  .option("--check", "check the backup, restore nothing")
  .option("--force", "also over existing data, which is moved aside")
  .addOption(dataOption())
  .action(restore);

const DAY_MS = 86_400_000;

interface RestoreOptions extends DataOption {
  readonly check?: boolean;
  readonly force?: boolean;
}

function restore(file: string, { data, check = false, force = false }: RestoreOptions): void {
  const line = progressLine();
  const manifest = checkBackup(file, SERVER_BACKUP, line.progress);
  line.end();
  const until = localTime(manifest.made_at);
  printLine(`${file} is complete: version ${manifest.version}, everything up to ${until}`);
  if (check) return;

  // The agents compare with their own clocks, which may be behind.
  const since = new Date(Date.parse(manifest.made_at) - DAY_MS).toISOString();
  const { aside } = restoreBackup(file, manifest, restoreTarget(data), force);
  printLine(`restored into ${data}`);
  if (aside !== null) printLine(`the old files are in ${aside}: remove them when nothing is missing`);
  printError(
    `Results after ${until} are not in it. Run on each agent: vetwire agent resend --since ${since}\n` +
      `What users and keys changed after ${until} is lost too: revoke keys again that were revoked since (keys list). ` +
      "All users must sign in again",
  );
}

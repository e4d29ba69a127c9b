import path from "node:path";
import { Command } from "commander";
import { makeBackup } from "../../shared/platform/care/backup.ts";
import { byteText, printError, printLine, progressLine } from "../../shared/platform/cli/output.ts";
import { localTime } from "../../shared/runtime/local-time.ts";
import { damagedStudies } from "./common/damaged-studies.ts";
import { backupSource, SERVER_BACKUP } from "./common/backup-source.ts";
import { type DataOption, dataOption } from "./common/options.ts";

export const backupCommand = new Command("backup")
  .argument("<file>", "new file, best on another disk")
  .description("save the database and the secret of its keys in one file, also while the server runs")
  .addOption(dataOption())
  .action(backup);

async function backup(file: string, { data }: DataOption): Promise<void> {
  const line = progressLine();
  const made = await makeBackup(backupSource(data), file, line.progress).finally(line.end);
  printLine(`${made.file}: ${byteText(made.bytes)}, everything up to ${localTime(made.manifest.made_at)}`);
  const damage = await damagedStudies(path.join(data, SERVER_BACKUP.database));
  if (damage !== null) printError(`warning: ${damage}`);
}

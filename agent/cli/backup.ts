import { Command } from "commander";
import { byteText, printError, printLine, progressLine } from "../../shared/platform/cli/output.ts";
import { makeBackup } from "../../shared/platform/care/backup.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { localTime } from "../../shared/runtime/local-time.ts";
import { backupSource, configFiles } from "../backup-source.ts";
import { readSpool } from "../spool/access.ts";
import { DAMAGED_MESSAGES_REMEDY, damagedMessages } from "../spool/damaged-messages.ts";
import { type ConfigOption, configOption, readConfig } from "./common/options.ts";

export const backupCommand = new Command("backup")
  .argument("<file>", "new file, best on another disk")
  .description(
    "save the spool, agent.yaml and its key in one file, also while the agent runs; it holds patients' data and keys",
  )
  .addOption(configOption())
  .option("--images", "with the images of the image folder")
  .action(backup);

async function backup(file: string, options: ConfigOption & { images?: boolean }): Promise<void> {
  const config = readConfig(options);
  const line = progressLine();
  const made = await makeBackup(backupSource(config, options.images ?? false), file, line.progress).finally(line.end);
  printLine(`${made.file}: ${byteText(made.bytes)}, all messages up to ${localTime(made.manifest.made_at)}`);
  warnOfDamage(config.data);
  const { missing } = made.manifest;
  if (missing > 0) printError(`${missing} images were removed meanwhile and are not in it`);
  for (const outside of configFiles(config).outside) {
    printError(`${outside} is not in it, because it is outside the folder of agent.yaml: save it yourself`);
  }
}

/** A backup holds damaged messages as they are. It succeeds, also if only another version can read the spool. */
function warnOfDamage(data: string): void {
  try {
    const { sentence } = readSpool(data, (db) => damagedMessages(db));
    if (sentence !== null) printError(`warning: ${sentence}; the backup has them so: ${DAMAGED_MESSAGES_REMEDY}`);
  } catch (error) {
    printError(`the stored messages were not checked for damage: ${errorMessage(error)}`);
  }
}

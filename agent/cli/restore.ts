import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { plural, printError, printLine, progressLine } from "../../shared/platform/cli/output.ts";
import { checkBackup, restoreBackup, restoreConfig } from "../../shared/platform/care/restore.ts";
import { localTime } from "../../shared/runtime/local-time.ts";
import { AGENT_BACKUP, restoreTarget } from "../backup-source.ts";
import { IMAGES_FOLDER } from "../imaging/files/image-folder.ts";
import { type ConfigOption, configOption, readConfig } from "./common/options.ts";

export const restoreCommand = new Command("restore")
  .argument("<file>", "file of agent backup")
  .description("restore a backup into the data folder of agent.yaml; the agent must not run. Old files are moved aside")
  .addOption(configOption())
  .option("--check", "check the backup, restore nothing")
  .option("--force", "also over existing data, which is moved aside")
  .action(restore);

interface RestoreOptions extends ConfigOption {
  readonly check?: boolean;
  readonly force?: boolean;
}

function restore(file: string, options: RestoreOptions): void {
  const line = progressLine();
  const manifest = checkBackup(file, AGENT_BACKUP, line.progress);
  line.end();
  const until = localTime(manifest.made_at);
  const images = manifest.members.filter(({ name }) => name.endsWith(".dcm")).length;
  printLine(`${file} is complete: version ${manifest.version}, messages up to ${until}, ${plural(images, "image")}`);
  if (options.check) return;

  // A new machine has no configuration yet.
  if (!fs.existsSync(options.config)) {
    for (const written of restoreConfig(file, manifest, path.dirname(path.resolve(options.config)))) {
      printLine(`written: ${written}`);
    }
  }
  const { data } = readConfig(options);
  const report = restoreBackup(file, manifest, restoreTarget(data), options.force ?? false);
  printLine(`restored into ${data}`);
  if (report.aside !== null) printLine(`the old files are in ${report.aside}: remove them when nothing is missing`);
  if (report.later > 0) {
    printError(
      `${plural(report.later, "image")} arrived after the backup, and the files are in ${path.join(report.aside ?? "", IMAGES_FOLDER)}: ` +
        "send these images again from the imaging device or its archive, or the files with a DICOM program. Remove no file before",
    );
  }
  printError(
    `messages after ${until} are not in it: compare the results since then at the analyzers, and send missing ones again. ` +
      "The server files a result once, so sending too many does no harm",
  );
}

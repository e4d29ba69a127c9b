import { Command } from "commander";
import { readBackupState } from "../../shared/platform/care/backup-state.ts";
import { printJson, printLine } from "../../shared/platform/cli/output.ts";
import { countImages } from "../imaging/catalogue.ts";
import { readPin } from "../config/page-pin.ts";
import { readSpool } from "../spool/access.ts";
import { readRetention } from "../spool/queries/retention.ts";
import { readStatus } from "../spool/queries/status.ts";
import { backupLine, retentionLines } from "./common/care-text.ts";
import { type ConfigOption, configOption, readConfig } from "./common/options.ts";
import { destinationLines, imageLines, instrumentLines, pageLines, statusLines } from "./common/status-text.ts";

export const statusCommand = new Command("status")
  .description("print the state of each device, the counts, and the queue for the server")
  .addOption(configOption())
  .option("--json", "print JSON")
  .action((options: ConfigOption & { json?: boolean }) => {
    const { data, backup: schedule, status: page } = readConfig(options);
    const { images, status, retention } = readSpool(data, (db) => ({
      images: countImages(db),
      status: readStatus(db, data),
      retention: readRetention(db),
    }));
    const backup = readBackupState(data);
    if (options.json) return printJson({ ...status, ...(images === null ? {} : { images }), retention, backup });
    const lines = [
      ...statusLines(status),
      ...instrumentLines(status),
      ...destinationLines(status),
      ...(images === null ? [] : imageLines(images)),
      ...retentionLines(retention),
      backupLine(backup, schedule !== null),
      ...pageLines(page, readPin(data)),
    ];
    for (const line of lines) printLine(line);
  });

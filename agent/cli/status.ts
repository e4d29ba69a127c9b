import { Command } from "commander";
import { printJson, printLine } from "../../shared/cli/output.ts";
import { countImages } from "../imaging/catalogue.ts";
import { readSpool } from "../spool/access.ts";
import { readStatus } from "../spool/queries/status.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";
import { imageLines, instrumentLines, statusLines } from "./status-text.ts";

export const statusCommand = new Command("status")
  .description("print the state of each device, the counts, and the queue for the server")
  .addOption(configOption())
  .option("--json", "print JSON")
  .action((options: ConfigOption & { json?: boolean }) => {
    const { data } = readConfig(options);
    const { images, status } = readSpool(data, (db) => ({ images: countImages(db), status: readStatus(db, data) }));
    if (options.json) return printJson({ ...status, ...(images === null ? {} : { images }) });
    const lines = [...statusLines(status), ...instrumentLines(status), ...(images === null ? [] : imageLines(images))];
    for (const line of lines) printLine(line);
  });

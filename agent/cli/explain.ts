import { Command } from "commander";
import { printLine } from "../../shared/cli/output.ts";
import { analyzersOf } from "../analyzers.ts";
import { readSpool } from "../spool/access.ts";
import { explain } from "../tools/offline/explain.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";

export const explainCommand = new Command("explain")
  .argument("<fp>")
  .description(
    "print the time line of a study (fp) or a message (id) from the first byte to the server's response, and the interval behind each flag of a study",
  )
  .addOption(configOption())
  .action((name: string, options: ConfigOption) => {
    const config = readConfig(options);
    const devices = analyzersOf(config);
    for (const line of readSpool(config.data, (db) => explain(db, name, (id) => devices.get(id)))) printLine(line);
  });

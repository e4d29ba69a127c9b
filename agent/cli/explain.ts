import { Command } from "commander";
import { printLine } from "../../shared/cli/output.ts";
import { analyzersOf } from "../analyzers.ts";
import { readSpool } from "../spool/access.ts";
import { explain } from "../tools/offline/explain.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";

export const explainCommand = new Command("explain")
  .argument("<fp>")
  .description(
    "one time line of a study (its fp) or a message (its id) from the first byte to the server's answer; of a study also by which interval each result has its flag",
  )
  .addOption(configOption())
  .action((name: string, options: ConfigOption) => {
    const config = readConfig(options);
    const devices = analyzersOf(config);
    for (const line of readSpool(config.data, (db) => explain(db, name, (id) => devices.get(id)))) printLine(line);
  });

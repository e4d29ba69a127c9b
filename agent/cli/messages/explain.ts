import { Command } from "commander";
import { printJson, printTimes } from "../../../shared/platform/cli/output.ts";
import { analyzersOf } from "../../analyzers.ts";
import { readSpool } from "../../spool/access.ts";
import { explain, explanationOf } from "../../tools/offline/explain.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const explainCommand = new Command("explain")
  .argument("<fp>")
  .description(
    "print the time line of a study (fp) or a message (id) from the first byte to the server's response, and the interval behind each flag of a study",
  )
  .addOption(configOption())
  .option("--json", "print JSON")
  .action((name: string, options: ConfigOption & { json?: boolean }) => {
    const config = readConfig(options);
    const devices = analyzersOf(config);
    const deviceById = (id: string) => devices.get(id);
    if (options.json) return printJson(readSpool(config.data, (db) => explanationOf(db, name, deviceById)));
    for (const line of readSpool(config.data, (db) => explain(db, name, deviceById))) printTimes(line);
  });

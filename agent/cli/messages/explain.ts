import { Command } from "commander";
import { printJson, printTimes } from "../../../shared/platform/cli/output.ts";
import { analyzersOf } from "../../analyzers.ts";
import { searchSpool } from "../../spool/access.ts";
import { explain, explanationOf } from "../../tools/offline/explain.ts";
import { type ConfigOption, configOption, readConfig } from "../common/options.ts";

export const explainCommand = new Command("explain")
  .argument("<fp>")
  .description(
    "print the time line of a study (fp) or a message (id) from the first byte to the server's response, and the interval behind each flag of a study",
  )
  .addOption(configOption())
  .option("--json", "print JSON")
  .action(async (name: string, options: ConfigOption & { json?: boolean }) => {
    const config = readConfig(options);
    const devices = analyzersOf(config);
    const deviceById = (id: string) => devices.get(id);
    if (options.json) return printJson(await searchSpool(config.data, (db) => explanationOf(db, name, deviceById)));
    const lines = await searchSpool(config.data, (db) => explain(db, name, deviceById));
    for (const line of lines) printTimes(line);
  });

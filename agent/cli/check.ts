import { Command } from "commander";
import { plural, printError, printLine } from "../../shared/cli/output.ts";
import { exposures } from "../config/exposures.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";

export const checkCommand = new Command("check")
  .description("find every problem of a configuration at once")
  .addOption(configOption())
  .action(check);

function check(options: ConfigOption): void {
  const config = readConfig(options);
  for (const warning of exposures(config)) printError(`warning: ${warning}`);
  printLine(`${options.config} is valid: ${plural(config.devices.length, "device")}`);
}

import { advisedText } from "../../shared/runtime/advised.ts";
import { Command } from "commander";
import { EXIT_CONFIG } from "../../shared/platform/cli/exit-codes.ts";
import { plural, printError, printJson, printLine } from "../../shared/platform/cli/output.ts";
import { placeWarning } from "../../shared/files/folder-place.ts";
import { exposures } from "../config/exposures.ts";
import type { Config } from "../config/values/schema.ts";
import { asProblems, type ConfigOption, configOption, readConfig, readConfigFile } from "./common/options.ts";

export const checkCommand = new Command("check")
  .description("find every problem of a configuration")
  .addOption(configOption())
  .option("--json", "print a JSON object with problems and warnings")
  .action(check);

function check({ json, ...options }: ConfigOption & { json?: boolean }): void {
  if (json) return checkAsJson(options);
  const config = readConfig(options);
  if (config.profileFaults.length > 0) throw asProblems(options.config, config.profileFaults);
  for (const warning of warningsOf(config)) printError(`warning: ${warning}`);
  printLine(`${options.config} is valid: ${plural(config.devices.length, "device")}`);
}

/** The exit code is that of the text: 78 for a file with problems. */
function checkAsJson(options: ConfigOption): void {
  const read = readConfigFile(options);
  if ("config" in read && read.config.profileFaults.length === 0) {
    const { config } = read;
    return printJson({ valid: true, devices: config.devices.length, problems: [], warnings: warningsOf(config) });
  }
  const found = "config" in read ? read.config.profileFaults : read.problems;
  const problems = found.map(({ line, message }) => ({ line, message }));
  printJson({ valid: false, devices: null, problems, warnings: [] });
  process.exitCode = EXIT_CONFIG;
}

function warningsOf(config: Config): string[] {
  const place = placeWarning(config.data);
  return [
    ...config.ignored.map((text) => `${text}: remove this section`),
    ...exposures(config).map(advisedText),
    ...(place === null ? [] : [place.sentence]),
  ];
}

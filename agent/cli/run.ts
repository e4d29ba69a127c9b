import { Command } from "commander";
import { pino } from "pino";
import { createLog } from "../../shared/runtime/log.ts";
import { VERSION } from "../../shared/runtime/version.ts";
import { startAgent } from "../agent.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";

export const runCommand = new Command("run")
  .description("serve the devices of the configuration until SIGINT or SIGTERM")
  .addOption(configOption())
  .action(run);

async function run(options: ConfigOption): Promise<void> {
  const config = readConfig(options);
  const level = process.env["LOG_LEVEL"] ?? "info";
  const log = createLog({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { file: config.log });
  const agent = await startAgent(config, VERSION, log);
  await new Promise<void>((resolve) => {
    // The handlers stay: a second signal does not interrupt the stop.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => resolve());
  });
  await agent.stop();
  process.exit(0);
}

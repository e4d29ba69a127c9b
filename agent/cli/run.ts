import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { pino } from "pino";
import { createLog } from "../../shared/runtime/log.ts";
import { VERSION } from "../../shared/runtime/version.ts";
import { type ConfigOption, configOption, readConfig } from "./options.ts";

export const runCommand = new Command("run")
  .description("serve the devices of the configuration until SIGINT or SIGTERM")
  .addOption(configOption())
  .option("--set-up", "without a configuration, serve the page that makes one")
  .action(run);

async function run({ setUp, ...options }: ConfigOption & { readonly setUp?: boolean }): Promise<void> {
  const file = path.resolve(options.config);
  const config = setUp && !fs.existsSync(file) ? null : readConfig(options);
  const log = createLog({
    level: process.env["LOG_LEVEL"] ?? "info",
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  });
  // Loaded when they are needed: the help page and a problem of the configuration appear at once.
  const [{ startHost }, { agentPage }] = await Promise.all([import("../host/host.ts"), import("../page/page.ts")]);
  const host = await startHost({ file, config, version: VERSION, log, page: agentPage });
  if (config === null) log.info({ page: `http://127.0.0.1:${host.port}` }, "the page sets this agent up");
  await new Promise<void>((resolve) => {
    // The handlers stay: a second signal does not interrupt the stop.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => resolve());
  });
  await host.stop();
  process.exit(0);
}

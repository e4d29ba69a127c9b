import fs from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { pino } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { createLog } from "../../shared/log/log.ts";
import { RecentLog } from "../../shared/log/recent-log.ts";
import { findParent, stopOrder } from "../../shared/platform/upgrade/parent.ts";
import { VERSION } from "../../shared/files/program-files.ts";
import { type ConfigOption, configOption, readConfig } from "./common/options.ts";

export const runCommand = new Command("run")
  .description("serve the devices of the configuration until SIGINT or SIGTERM")
  .addOption(configOption())
  .option("--set-up", "without a configuration, serve the page that makes one")
  .action(run);

async function run({ setUp, ...options }: ConfigOption & { readonly setUp?: boolean }): Promise<void> {
  const file = path.resolve(options.config);
  const config = setUp && !fs.existsSync(file) ? null : readConfig(options);
  const recentLog = new RecentLog();
  const level = process.env["LOG_LEVEL"] ?? "info";
  const log = createLog(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { file: config?.log ?? null, recent: recentLog },
  );
  // An error that ends the agent also goes to its log file, for systems whose service manager discards stderr.
  process.on("uncaughtExceptionMonitor", (error) => log.fatal({ reason: errorMessage(error) }, "the agent ends"));
  // Loaded on demand, so that the help page and a problem of the configuration appear without delay.
  const { startHost } = await import("../host.ts");
  const { agentPage } = await import("../page/page.ts");
  const { remoteDevices } = await import("../remote/remote-devices.ts");
  const { AgentUpgrade } = await import("../remote/agent-upgrade.ts");
  const parent = findParent();
  const upgrade = parent === null ? null : new AgentUpgrade(parent, VERSION, log);
  const host = await startHost({
    file,
    config,
    version: VERSION,
    log,
    recentLog,
    page: agentPage,
    remote: remoteDevices,
    upgrade,
  });
  if (config === null) log.info({ page: `http://127.0.0.1:${host.port}` }, "the page sets this agent up");
  upgrade?.start(host);
  await Promise.race(upgrade === null ? [stopOrder()] : [stopOrder(), upgrade.ordered]);
  await host.stop();
  process.exit(0);
}

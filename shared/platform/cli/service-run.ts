import { setTimeout as sleep } from "node:timers/promises";
import { Argument, Command } from "commander";
import { pino } from "pino";
import { DEFAULT_LOG, LogFile } from "../../log/log-file.ts";
import { createLog } from "../../log/log.ts";
import { VERSION } from "../../files/program-files.ts";
import { Launcher } from "../upgrade/launcher.ts";
import { EXIT_CONFIG } from "./exit-codes.ts";
import { printError } from "./output.ts";

/** Time that a new version has to live and to be healthy. */
const PROBATION_MS = 60_000;
/** Pause before the next start on Windows. The other service managers have their own. */
const RESTART_MS = 3_000;
/** Interval at which the launcher on Windows checks that shawl runs. */
const SHAWL_MS = 1_000;
/** Interval between attempts to write the log file. */
const RETRY_MS = 1_000;

export const serviceRunCommand = new Command("run")
  .description("start a program in its version in force, and watch its upgrades; service managers call this")
  .addArgument(new Argument("<program>", "agent or server").choices(["agent", "server"]))
  .argument("[options...]", "options of `run`, after --")
  .requiredOption("--name <name>", "name of the service")
  .requiredOption("--versions <folder>", "folder of the versions that upgrades unpack")
  .option("--log <file>", "file for all output, which starts again at a size; for service managers that keep no log")
  .action(run);

async function run(
  program: "agent" | "server",
  options: readonly string[],
  { name, versions, log: file }: { readonly name: string; readonly versions: string; readonly log?: string },
): Promise<void> {
  const logFile = file === undefined ? null : openLog(file);
  const settings = { level: process.env["LOG_LEVEL"] ?? "info", base: { service: name } };
  const log = logFile === null ? createLog(settings) : pino(settings, logFile);
  const output = logFile === null ? null : (text: string) => logFile.write(text);
  // Tests alone set the variable: sixty seconds for each upgrade are too long for them.
  const probationMs = Number(process.env["VETWIRE_PROBATION_MS"] ?? PROBATION_MS);
  const launcher = new Launcher({ program, options, folder: versions, version: VERSION, probationMs, log, output });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => launcher.stop());
  if (process.platform === "win32") stopWithout(process.ppid, launcher);
  else if (program === "server") process.on("SIGHUP", () => launcher.reload());
  const code = await launcher.run();
  // shawl starts a program again without a pause: a lasting fault would fill the disk with its log.
  if (process.platform === "win32" && code !== 0 && code !== EXIT_CONFIG) await sleep(RESTART_MS);
  process.exit(code);
}

/**
 * Stops the launcher when shawl ended without stopping it. Windows leaves it running, and starts another shawl, whose program would
 * find the data folder locked.
 */
function stopWithout(shawl: number, launcher: Launcher): void {
  const timer = setInterval(() => {
    try {
      process.kill(shawl, 0);
    } catch {
      clearInterval(timer);
      launcher.stop();
    }
  }, SHAWL_MS);
  timer.unref();
}

function openLog(file: string): LogFile {
  const options = { file, bytesMax: DEFAULT_LOG.megabytes * 1e6, keep: DEFAULT_LOG.keep };
  return new LogFile(options, printError, RETRY_MS);
}

import { Argument, Command } from "commander";
import { createLog } from "../runtime/log.ts";
import { makePrivateFolder } from "../runtime/private-folder.ts";
import { VERSION } from "../runtime/program-files.ts";
import { Launcher } from "../upgrade/launcher.ts";

/** Time that a new version has to live and to be healthy. */
const PROBATION_MS = 60_000;

export const serviceRunCommand = new Command("run")
  .description("start a program in its version in force, and watch its upgrades; service managers call this")
  .addArgument(new Argument("<program>", "agent or server").choices(["agent", "server"]))
  .argument("[options...]", "options of `run`, after --")
  .requiredOption("--name <name>", "name of the service")
  .requiredOption("--versions <folder>", "folder of the versions that upgrades unpack")
  .action(run);

async function run(
  program: "agent" | "server",
  options: readonly string[],
  { name, versions }: { readonly name: string; readonly versions: string },
): Promise<void> {
  makePrivateFolder(versions);
  const log = createLog({ level: process.env["LOG_LEVEL"] ?? "info", base: { service: name } });
  // Tests alone set the variable: sixty seconds for each upgrade are too long for them.
  const probationMs = Number(process.env["VETWIRE_PROBATION_MS"] ?? PROBATION_MS);
  const launcher = new Launcher({ program, options, folder: versions, version: VERSION, probationMs, log });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => launcher.stop());
  if (program === "server" && process.platform !== "win32") process.on("SIGHUP", () => launcher.reload());
  process.exit(await launcher.run());
}

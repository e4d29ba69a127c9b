import fs from "node:fs";
import path from "node:path";
import { Argument, Command, Option } from "commander";
import {
  type InstalledService,
  logFile,
  PROGRAMS,
  type ServiceDescription,
  type ServiceProgram,
  versionsFolder,
} from "../service/description.ts";
import { followFile, lastLines } from "../service/follow-file.ts";
import {
  absence,
  findService,
  installService,
  ownService,
  switchService,
  thisMachine,
  uninstallService,
} from "../service/manage.ts";
import { show } from "../service/shell.ts";
import { type LauncherNotes, serviceStatus, type ServiceStatus, statusLines } from "../service/status.ts";
import { printableLines } from "../../runtime/printable.ts";
import { moduleFile, PROGRAM_FOLDER } from "../../files/program-files.ts";
import { readRunning, readStarts, readUpgrades } from "../upgrade/version-store.ts";
import { EXIT_FAILURE } from "./exit-codes.ts";
import { collect, parsePositiveInteger } from "./options.ts";
import { endWithReader, printError, printJson, printLine, printTimes } from "./output.ts";
import { platformPlaces } from "./places.ts";
import { serviceRunCommand } from "./service-run.ts";
import { errorCode } from "../../runtime/error-message.ts";

// The programs as services of this machine: `vetwire service ...`.

export const serviceCommand = new Command("service")
  .description("install a program as a service of this machine, and watch it")
  .addCommand(
    named("install", "install a program as a service, and start it; its program files stay where they are")
      .option("--config <file>", "the agent's configuration, which its page makes if it is missing")
      .option("--data <dir>", "the server's data folder")
      .option(
        "--writable <dir>",
        "a further folder that the program writes, such as one of backups; repeatable",
        collect,
        [],
      )
      .argument("[options...]", "further options of `run`, after --")
      .action(install),
  )
  .addCommand(named("uninstall", "stop a service and remove it; configuration and data stay").action(uninstall))
  .addCommand(
    named("start", "start a service").action((program, options: NameOption) => turn("start", program, options)),
  )
  .addCommand(
    named("stop", "stop a service until the next start of the machine").action((program, options: NameOption) =>
      turn("stop", program, options),
    ),
  )
  .addCommand(
    new Command("status")
      .description("state, version and last failures; exits with 1 unless every service runs")
      .addArgument(programArgument().argOptional())
      .addOption(nameOption())
      .option("--json", "print JSON")
      .action(status),
  )
  .addCommand(
    named("logs", "show the log of a service")
      .option("--lines <count>", "number of last lines", parsePositiveInteger, 100)
      .option("--follow", "show further lines as they come, until SIGINT")
      .action(logs),
  )
  .addCommand(serviceRunCommand);

interface NameOption {
  readonly name?: string;
}

interface InstallOptions extends NameOption {
  readonly config?: string;
  readonly data?: string;
  readonly writable: readonly string[];
}

function named(name: string, description: string): Command {
  return new Command(name).description(description).addArgument(programArgument()).addOption(nameOption());
}

function programArgument(): Argument {
  return new Argument("<program>", "agent or server").choices(PROGRAMS);
}

function nameOption(): Option {
  return new Option("--name <name>", "name of the service, if it is not vetwire-agent or vetwire-server");
}

function nameOf(program: ServiceProgram, { name }: NameOption): string {
  return name ?? `vetwire-${program}`;
}

async function install(program: ServiceProgram, run: readonly string[], options: InstallOptions): Promise<void> {
  requireRights();
  const service = describe(program, run, options);
  const notes = await installService(service, thisMachine());
  printLine(`installed and started ${service.name}`);
  if (service.config !== null && !fs.existsSync(service.config)) {
    printLine("open http://127.0.0.1:8081 on this machine to set the agent up");
  }
  for (const note of notes) printError(`note: ${note}`);
}

function describe(program: ServiceProgram, run: readonly string[], options: InstallOptions): ServiceDescription {
  if (program === "server" && options.config !== undefined) throw new Error("--config is an option of the agent");
  if (program === "agent" && options.data !== undefined) {
    throw new Error("--data is an option of the server; the agent's data folder is in agent.yaml");
  }
  const name = nameOf(program, options);
  const places = platformPlaces(process.platform, process.env, true);
  // vetwire-agent-lab has agent-lab.yaml, and agent-lab as its folder.
  const short = name.replace(/^vetwire-/, "");
  const config = path.resolve(options.config ?? path.join(path.dirname(places.config), `${short}.yaml`));
  return {
    ...{ program, name, options: run },
    node: process.execPath,
    main: builtProgram(),
    config: program === "agent" ? config : null,
    state: path.resolve(options.data ?? path.join(path.dirname(places.data), short)),
    writable: options.writable.map((folder) => path.resolve(folder)),
  };
}

/** Returns the file of the command `vetwire` that Node runs by itself. */
function builtProgram(): string {
  const main = moduleFile("shared/main");
  // A service runs the build, which has the pages.
  const built = main.endsWith(".ts") ? path.join(PROGRAM_FOLDER, "dist/shared/main.js") : main;
  if (!fs.existsSync(built)) throw new Error(`${built} is missing: run "npm run build" first`);
  return built;
}

async function uninstall(program: ServiceProgram, options: NameOption): Promise<void> {
  requireRights();
  const { name, config, state } = await uninstallService(nameOf(program, options), thisMachine());
  printLine(`removed ${name}; ${[...(config === null ? [] : [config]), state].join(" and ")} stay`);
}

async function turn(to: "start" | "stop", program: ServiceProgram, options: NameOption): Promise<void> {
  requireRights();
  const name = nameOf(program, options);
  await switchService(name, to, thisMachine());
  printLine(to === "start" ? `started ${name}: "vetwire service status" shows how it runs` : `stopped ${name}`);
}

async function status(
  program: ServiceProgram | undefined,
  options: NameOption & { readonly json?: boolean },
): Promise<void> {
  const machine = thisMachine();
  const isChoice = program !== undefined || options.name !== undefined;
  const names = isChoice ? [nameOf(program ?? "agent", options)] : PROGRAMS.map((each) => nameOf(each, options));
  const states: ServiceStatus[] = [];
  const absences: string[] = [];
  for (const name of names) {
    const found = await findService(name, machine);
    if (found.is === "installed") states.push(serviceStatus(found, launcherNotes(found.service)));
    else absences.push(absence(name, found));
  }
  if (states.length === 0) throw new Error(absences[0]);
  if (options.json === true) printJson(states);
  else for (const line of states.flatMap((each) => statusLines(each, Date.now()))) printTimes(line);
  if (states.some(({ state }) => state !== "running")) process.exitCode = EXIT_FAILURE;
}

/** @returns null if this user may not read the folder of the service */
function launcherNotes({ state }: InstalledService): LauncherNotes | null {
  const folder = versionsFolder(state);
  try {
    fs.accessSync(state, fs.constants.R_OK | fs.constants.X_OK);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") return null;
  }
  return { running: readRunning(folder), starts: readStarts(folder), upgrades: readUpgrades(folder) };
}

async function logs(
  program: ServiceProgram,
  { lines, follow = false, ...options }: NameOption & { readonly lines: number; readonly follow?: boolean },
): Promise<void> {
  const machine = thisMachine();
  const name = nameOf(program, options);
  const { service } = await ownService(name, machine);
  if (machine.platform.logReader !== null) {
    process.exitCode = await show(machine.platform.logReader(name, lines, follow));
    return;
  }
  const file = logFile(service.state);
  for (const line of lastLines(file, lines)) printLine(line);
  if (!follow) return;
  endWithReader();
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => end.abort());
  await followFile(file, (text) => process.stdout.write(printableLines(text)), end.signal);
}

/** @throws Error with the command for an administrator. Windows itself refuses all others. */
function requireRights(): void {
  if (process.getuid === undefined || process.getuid() === 0) return;
  const command = ["vetwire", ...process.argv.slice(2)].map((word) =>
    /[^\w@%+=:,./-]/.test(word) ? `'${word}'` : word,
  );
  const words = thisMachine().platform.asAdministrator(command.join(" "));
  throw new Error(`an administrator has to do this: ${words}`);
}

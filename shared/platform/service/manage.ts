import fs from "node:fs";
import path from "node:path";
import { configProblem, folderOf, type InstalledService, nameProblem, type ServiceDescription } from "./description.ts";
import type { Found, Platform } from "./platform.ts";
import { answersOf, carryOut, isOwnedBy, type Machine } from "./shell.ts";
import { systemd } from "./systemd.ts";
import { windows } from "./windows.ts";

// Installs, starts, stops and removes services. A service of another program is never touched.

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  linux: systemd,
  win32: windows,
};

/** Returns this machine. @throws Error on a system without a service manager that is known here */
export function thisMachine(): Machine {
  const platform = PLATFORMS[process.platform];
  if (platform === undefined)
    throw new Error(`${process.platform} has no services here: run "vetwire agent run" by its own means`);
  return { platform, root: "" };
}

export async function findService(name: string, { platform }: Machine): Promise<Found> {
  return platform.judge(name, await answersOf(platform.questions(name)));
}

/**
 * Installs and starts a service. What a failed step leaves is removed again, but no data.
 * @returns notes for the user
 * @throws Error with the remedy
 */
export async function installService(service: ServiceDescription, machine: Machine): Promise<string[]> {
  const { name } = service;
  const { platform } = machine;
  const problem = nameProblem(name);
  if (problem !== null) throw new Error(problem);
  const found = await findService(name, machine);
  switch (found.is) {
    case "no manager":
      throw new Error(`no service can be installed: ${found.reason}`);
    case "foreign":
      throw new Error(`another program's service has the name ${name}: choose another one with --name`);
    case "installed":
      throw new Error(`the service ${name} is installed already: remove it with "vetwire service uninstall" first`);
    case "not installed":
  }
  for (const { file, remedy } of platform.needs(service)) {
    if (!fs.existsSync(path.join(machine.root, file))) throw new Error(`${file} is missing: ${remedy}`);
  }
  await requireOwnFolder(service, machine);
  try {
    return await carryOut(platform.install(service), machine);
  } catch (error) {
    const steps = platform.uninstall(name).map((step) => (step.do === "run" ? { ...step, mayFail: true } : step));
    await carryOut(steps, machine);
    throw error;
  }
}

/** @throws Error if the configuration is next to the files of others */
async function requireOwnFolder({ config }: ServiceDescription, { platform, root }: Machine): Promise<void> {
  if (config === null) return;
  const folder = path.join(root, folderOf(config));
  if (!fs.existsSync(folder)) return;
  const problem = configProblem(config, fs.readdirSync(folder), platform.folder);
  // A folder that its user already owns was given by an administrator.
  const isGiven = platform.user !== null && (await isOwnedBy(folder, platform.user));
  if (problem !== null && !isGiven) throw new Error(problem);
}

/** Stops and removes a service. Configuration and data stay. @returns the service that was removed */
export async function uninstallService(name: string, machine: Machine): Promise<InstalledService> {
  const found = await ownService(name, machine);
  if (found.packaged !== null) throw new Error(`a package installed ${name}: remove it with ${found.packaged}`);
  await carryOut(machine.platform.uninstall(name), machine);
  return found.service;
}

/** Starts or stops a service. Nothing happens if it is so already. */
export async function switchService(name: string, to: "start" | "stop", machine: Machine): Promise<void> {
  const { state, startsWithMachine } = await ownService(name, machine);
  const isSo = to === "stop" ? state.is === "stopped" : state.is === "running" && startsWithMachine;
  if (!isSo) await carryOut(machine.platform[to](name), machine);
}

/** Finds a service of Vetwire. @throws Error with the remedy if there is none */
export async function ownService(name: string, machine: Machine): Promise<Extract<Found, { is: "installed" }>> {
  const found = await findService(name, machine);
  if (found.is === "installed") return found;
  throw new Error(absence(name, found));
}

/** Returns why there is no service of Vetwire, and what to do. */
export function absence(name: string, found: Exclude<Found, { is: "installed" }>): string {
  switch (found.is) {
    case "no manager":
      return `${found.reason}: there is no service ${name}`;
    case "foreign":
      return `the service ${name} belongs to another program: name one of Vetwire with --name`;
    case "not installed":
      return `the service ${name} is not installed: install it with "vetwire service install agent" or "... server"`;
  }
}

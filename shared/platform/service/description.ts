import path from "node:path";

// Describes one installed program. The files and commands of each platform are functions of it.

export const PROGRAMS = ["agent", "server"] as const;
export type ServiceProgram = (typeof PROGRAMS)[number];

export interface ServiceDescription {
  readonly program: ServiceProgram;
  /** The name at the service manager: `vetwire-agent`, `vetwire-agent-lab`. */
  readonly name: string;
  /** Node, and the file of the command `vetwire` that it runs. All paths are absolute and have the form of the platform. */
  readonly node: string;
  readonly main: string;
  /** The agent's agent.yaml; null for the server. */
  readonly config: string | null;
  /** The folder of data that the program makes. The server's is its data folder. Versions of upgrades are in it. */
  readonly state: string;
  /** Further folders that the program writes, such as one of backups. */
  readonly writable: readonly string[];
  /** Further options of `run`. */
  readonly options: readonly string[];
}

/** The facts in the command line of an installed service. */
export type InstalledService = Omit<ServiceDescription, "writable">;

/** Folders that the user of a service has to write. */
export function writtenFolders({ config, state, writable }: ServiceDescription): string[] {
  return [...(config === null ? [] : [folderOf(config)]), state, ...writable];
}

export function folderOf(file: string): string {
  return pathOf(file).dirname(file);
}

/** Whether a place is a folder, or in it. Windows does not distinguish capital and small letters. */
export function isWithin(folder: string, place: string): boolean {
  const rules = pathOf(folder);
  const way = rules.relative(folder, place);
  return way !== ".." && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way);
}

/**
 * Returns a sentence that refuses the configuration of an agent next to the files of others, or null: the service gets rights to
 * the complete folder. `names` are the files in it, and `own` is the folder that belongs to Vetwire alone.
 */
export function configProblem(config: string, names: readonly string[], own: string): string | null {
  const rules = pathOf(config);
  const { name, base } = rules.parse(config);
  // Set-up makes agent.yaml.previous, agent.key and the folder data.
  const isOurs = (each: string) => each === "data" || each.startsWith(`${name}.`) || each.startsWith("agent.");
  const stranger = names.find((each) => !isOurs(each));
  if (isWithin(own, config) || stranger === undefined) return null;
  return (
    `the service would get rights to all of ${folderOf(config)}, which also holds ${stranger}: ` +
    `put ${base} into a folder of its own, such as ${rules.join(own, base)}`
  );
}

/** The folder of the versions that an upgrade unpacked. */
export function versionsFolder(state: string): string {
  return pathOf(state).join(state, "versions");
}

/** The log where no service manager keeps one. */
export function logFile(state: string): string {
  return pathOf(state).join(state, "service.log");
}

/**
 * Returns the command line that each service manager starts. It is the only record of what is installed: `installedService`
 * reads it.
 */
export function launcherWords(service: InstalledService, log: string | null): string[] {
  const { program, name, node, main, config, state, options } = service;
  const run = program === "agent" ? ["--set-up", "--config", config ?? ""] : ["--data", state];
  return [
    ...[node, main, "service", "run", program],
    ...["--name", name, "--versions", versionsFolder(state)],
    ...(log === null ? [] : ["--log", log]),
    ...["--", ...run, ...options],
  ];
}

/** Reads the service of a command line; null for one of another program. */
export function installedService(words: readonly string[]): InstalledService | null {
  const at = words.findIndex((word, index) => word === "service" && words[index + 1] === "run");
  const [node, main] = [words[at - 2], words[at - 1]];
  const program = PROGRAMS.find((each) => each === words[at + 2]);
  const end = words.indexOf("--", at);
  const name = valueOf(words.slice(0, end), "--name");
  const versions = valueOf(words.slice(0, end), "--versions");
  if (at < 2 || end < 0 || node === undefined || main === undefined || program === undefined) return null;
  if (name === undefined || versions === undefined) return null;
  const run = words.slice(end + 1);
  const config = program === "agent" ? (valueOf(run, "--config") ?? null) : null;
  const options = run.slice(program === "agent" ? 3 : 2);
  return { program, name, node, main, config, state: pathOf(versions).dirname(versions), options };
}

function valueOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at < 0 ? undefined : words[at + 1];
}

/** The rules for paths of the form of this one. The texts of every platform are made and read on each of them. */
function pathOf(place: string): path.PlatformPath {
  return /^[A-Za-z]:\\|^\\\\/.test(place) ? path.win32 : path.posix;
}

/** @returns a sentence that refuses the name, or null */
export function nameProblem(name: string): string | null {
  // The longest name of a Windows user, which the service's account has, is 20 letters shorter than a service's; 40 are enough.
  if (/^[a-z][a-z0-9-]{0,39}$/.test(name)) return null;
  return `${name} is not a name for a service: use up to 40 of a-z, 0-9 and -, with a letter first, such as vetwire-agent-lab`;
}

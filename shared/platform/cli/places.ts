import fs from "node:fs";
import path from "node:path";
import { PROGRAM_FOLDER } from "../../files/program-files.ts";

// The default places of the agent's configuration and the server's data.

export interface Places {
  readonly config: string;
  readonly data: string;
}

const LOCAL: Places = { config: "./agent.yaml", data: "./data/server" };

/** Returns the default of `--config` or `--data` that is in force in the current folder. */
export function defaultPlace(place: keyof Places): string {
  // A checkout keeps its files next to its sources: npm runs its scripts there.
  const isCheckout = fs.realpathSync(".") === PROGRAM_FOLDER;
  if (isCheckout || fs.existsSync(LOCAL[place])) return LOCAL[place];
  return platformPlaces(process.platform, process.env, process.getuid?.() === 0)[place];
}

/**
 * Returns the places of a platform: those of the machine for root and for a service, else those of the user. The data of the
 * server has a folder of its own, because the agent of the same machine may run as another user.
 */
export function platformPlaces(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  isRoot: boolean,
): Places {
  const home = env["HOME"] ?? "";
  // systemd names the state folder of a service in the environment.
  const isOfMachine = isRoot || home === "" || env["STATE_DIRECTORY"] !== undefined;
  switch (platform) {
    case "win32": {
      const folder = path.win32.join(env["ProgramData"] ?? "C:\\ProgramData", "Vetwire");
      return { config: path.win32.join(folder, "agent.yaml"), data: path.win32.join(folder, "server") };
    }
    default: {
      if (isOfMachine) return { config: "/etc/vetwire/agent.yaml", data: "/var/lib/vetwire/server" };
      const config = absolute(env["XDG_CONFIG_HOME"]) ?? path.posix.join(home, ".config");
      const state = absolute(env["XDG_STATE_HOME"]) ?? path.posix.join(home, ".local/state");
      return { config: path.posix.join(config, "vetwire/agent.yaml"), data: path.posix.join(state, "vetwire/server") };
    }
  }
}

/** Returns the state folder of the service that a command line is about; null for the files of no service. */
export function statePlace(program: "agent" | "server", words: readonly string[]): string | null {
  if (program === "server") return path.resolve(valueOf(words, "--data") ?? defaultPlace("data"));
  const config = path.resolve(valueOf(words, "--config") ?? defaultPlace("config"));
  const places = platformPlaces(process.platform, process.env, process.getuid?.() === 0);
  if (path.dirname(config) !== path.dirname(places.config)) return null;
  // `vetwire service install` gives agent-lab.yaml the folder agent-lab.
  return path.join(path.dirname(places.data), path.parse(config).name);
}

function valueOf(words: readonly string[], option: string): string | undefined {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  const word = words[at];
  return word === option ? words[at + 1] : word?.slice(option.length + 1);
}

/** The XDG specification ignores relative paths. */
function absolute(folder: string | undefined): string | undefined {
  return folder !== undefined && path.posix.isAbsolute(folder) ? folder : undefined;
}

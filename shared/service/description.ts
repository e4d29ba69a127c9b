// Describes one installed program. The files and commands of each platform are functions of it.

export type ServiceProgram = "agent" | "server";

export interface ServiceDescription {
  readonly program: ServiceProgram;
  /** The name at the service manager: `vetwire-agent`, `vetwire-agent-lab`. */
  readonly name: string;
  /** Node, and the file of the command `vetwire` that it runs. Both paths are absolute. */
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

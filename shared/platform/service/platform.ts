import type { InstalledService, ServiceDescription } from "./description.ts";

// Describes the service manager of each platform. It is text alone: `shell.ts` carries it out.

export type Step =
  | { readonly do: "run"; readonly words: readonly string[]; readonly mayFail?: boolean }
  | { readonly do: "write"; readonly file: string; readonly text: string }
  | { readonly do: "remove"; readonly file: string }
  /** Creates a missing folder for its owner, the user of the service. */
  | { readonly do: "folder"; readonly folder: string; readonly owner: string }
  /** Creates a missing folder, and runs the command that sets its rights: one for a new folder, one for an existing one. */
  | {
      readonly do: "folder";
      readonly folder: string;
      readonly made: readonly string[];
      readonly found: readonly string[];
    };

/** The result of a command. A missing program has the code null. */
export interface Answer {
  readonly code: number | null;
  readonly text: string;
}

export type ServiceState =
  | { readonly is: "running"; readonly since: string | null; readonly process: number | null }
  | { readonly is: "changing" }
  /** It ended, and the manager starts it again. */
  | { readonly is: "waiting"; readonly code: number | null; readonly at: string | null }
  | { readonly is: "stopped" }
  /** It ended, and stays so. */
  | { readonly is: "failed"; readonly code: number | null };

export type Found =
  | { readonly is: "no manager"; readonly reason: string }
  | { readonly is: "not installed" }
  /** The name belongs to another program's service, or to one that a person wrote. */
  | ({ readonly is: "foreign" } & Course)
  | ({
      readonly is: "installed";
      readonly service: InstalledService;
      /** The command that removes it, if a package installed it. */
      readonly packaged: string | null;
    } & Course);

interface Course {
  readonly state: ServiceState;
  readonly startsWithMachine: boolean;
}

export interface Platform {
  /** The folder of configurations, which belongs to Vetwire alone. */
  readonly folder: string;
  /** Puts a command line into the hands of an administrator: `sudo ...`. */
  readonly asAdministrator: (command: string) => string;
  /** The commands that read the state of a service. */
  readonly questions: (name: string) => readonly (readonly string[])[];
  /** Judges the results, in the order of the commands. */
  readonly judge: (name: string, answers: readonly Answer[]) => Found;
  readonly install: (service: ServiceDescription) => readonly Step[];
  /** Files that have to be there before `install`, each with what to do. */
  readonly needs: (service: ServiceDescription) => readonly { readonly file: string; readonly remedy: string }[];
  readonly uninstall: (name: string) => readonly Step[];
  /** A started service also starts with the machine. */
  readonly start: (name: string) => readonly Step[];
  readonly stop: (name: string) => readonly Step[];
  /** The program that shows the log; null if it is the file of `logFile`. */
  readonly logReader: ((name: string, lines: number, follow: boolean) => readonly string[]) | null;
  /** The user that the service runs as, for whom an administrator has to open existing folders; null if `install` does it. */
  readonly user: string | null;
}

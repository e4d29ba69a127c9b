import path from "node:path";
import type { ServiceDescription } from "./description.ts";

// The command line that a service manager starts. It is the only record of what is installed: the state of a service reads the
// instance from it.

/** Returns the program and its words. The paths have the form of `state`. */
export function launcherWords({ program, name, node, main, config, state, options }: ServiceDescription): string[] {
  const run = program === "agent" ? ["--set-up", "--config", config ?? ""] : ["--data", state];
  return [
    ...[node, main, "service", "run", program],
    ...["--name", name, "--versions", versionsFolder(state)],
    ...["--", ...run, ...options],
  ];
}

/** The folder of the versions that an upgrade unpacked. */
function versionsFolder(state: string): string {
  return (/^[A-Za-z]:\\|^\\\\/.test(state) ? path.win32 : path.posix).join(state, "versions");
}

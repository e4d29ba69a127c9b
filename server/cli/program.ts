import type { Command } from "commander";
import type { ProgramDefinition } from "../../shared/platform/cli/program.ts";
import { serverHelp } from "./help.ts";

// The command line of the server: a file for each command. Only run.ts and with-store.ts read the environment.

const commands = new Map<string, () => Promise<Command>>([
  ["run", async () => (await import("./run/run.ts")).runCommand],
  ["import", async () => (await import("./entities/import.ts")).importCommand],
  ["export", async () => (await import("./entities/export.ts")).exportCommand],
  ["audit", async () => (await import("./audit.ts")).auditCommand],
  ["ranges", async () => (await import("./ranges.ts")).rangesCommand],
  ["unmatched", async () => (await import("./studies/unmatched.ts")).unmatchedCommand],
  ["explain", async () => (await import("./studies/explain.ts")).explainCommand],
  ["keys", async () => (await import("./keys.ts")).keysCommand],
  ["clinics", async () => (await import("./clinics.ts")).clinicsCommand],
  ["owners", async () => (await import("./owners.ts")).ownersCommand],
  ["operators", async () => (await import("./operators.ts")).operatorsCommand],
  ["users", async () => (await import("./users.ts")).usersCommand],
  ["backup", async () => (await import("./backup.ts")).backupCommand],
  ["restore", async () => (await import("./restore.ts")).restoreCommand],
  ["releases", async () => (await import("./releases.ts")).releasesCommand],
  ["agents", async () => (await import("./agents.ts")).agentsCommand],
]);

export const serverProgram: ProgramDefinition = {
  name: "vetwire server",
  description: "Vetwire server: the read API and its data",
  commands,
  help: serverHelp,
  examples: ["import clinics.ndjson", "run", "unmatched list", "audit --since 24h"],
};

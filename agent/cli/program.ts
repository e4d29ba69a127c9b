import type { Command } from "commander";
import type { ProgramDefinition } from "../../shared/cli/program.ts";
import { agentHelp } from "./help.ts";

// The command line of the agent. Each command is a file, which is loaded when it runs.

const commands = new Map<string, () => Promise<Command>>([
  ["run", async () => (await import("./run.ts")).runCommand],
  ["check", async () => (await import("./check.ts")).checkCommand],
  ["simulate", async () => (await import("./simulate.ts")).simulateCommand],
  ["ports", async () => (await import("./ports.ts")).portsCommand],
  ["replay", async () => (await import("./replay.ts")).replayCommand],
  ["sniff", async () => (await import("./sniff.ts")).sniffCommand],
  ["order", async () => (await import("./order.ts")).orderCommand],
  ["lock", async () => (await import("./lock.ts")).lockCommand],
  ["unlock", async () => (await import("./lock.ts")).unlockCommand],
  ["messages", async () => (await import("./messages.ts")).messagesCommand],
  ["codes", async () => (await import("./codes.ts")).codesCommand],
  ["capture", async () => (await import("./capture.ts")).captureCommand],
  ["explain", async () => (await import("./explain.ts")).explainCommand],
  ["reprocess", async () => (await import("./reprocess.ts")).reprocessCommand],
  ["images", async () => (await import("./images.ts")).imagesCommand],
  ["status", async () => (await import("./status.ts")).statusCommand],
  ["doctor", async () => (await import("./doctor.ts")).doctorCommand],
  ["backup", async () => (await import("./backup.ts")).backupCommand],
  ["restore", async () => (await import("./restore.ts")).restoreCommand],
  ["resend", async () => (await import("./resend.ts")).resendCommand],
  ["pair", async () => (await import("./pair.ts")).pairCommand],
]);

export const agentProgram: ProgramDefinition = {
  name: "vetwire agent",
  description: "Carries results from a clinic's devices to the Vetwire server",
  commands,
  help: agentHelp,
  examples: ["check", "run", "status", "messages --state unmatched --since 24h"],
};

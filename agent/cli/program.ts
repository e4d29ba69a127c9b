import type { Command } from "commander";
import type { ProgramDefinition } from "../../shared/platform/cli/program.ts";
import { agentHelp } from "./help.ts";

// The command line of the agent. Each command is a file, which is loaded when it runs.

const commands = new Map<string, () => Promise<Command>>([
  ["run", async () => (await import("./run.ts")).runCommand],
  ["check", async () => (await import("./check.ts")).checkCommand],
  ["profile", async () => (await import("./profiles/profile.ts")).profileCommand],
  ["livd", async () => (await import("./livd.ts")).livdCommand],
  ["simulate", async () => (await import("./captures/simulate.ts")).simulateCommand],
  ["receive", async () => (await import("./captures/receive.ts")).receiveCommand],
  ["ports", async () => (await import("./captures/ports.ts")).portsCommand],
  ["replay", async () => (await import("./captures/replay.ts")).replayCommand],
  ["sniff", async () => (await import("./captures/sniff.ts")).sniffCommand],
  ["order", async () => (await import("./messages/order.ts")).orderCommand],
  ["lock", async () => (await import("./lock.ts")).lockCommand],
  ["unlock", async () => (await import("./lock.ts")).unlockCommand],
  ["messages", async () => (await import("./messages/messages.ts")).messagesCommand],
  ["codes", async () => (await import("./messages/codes.ts")).codesCommand],
  ["capture", async () => (await import("./captures/capture.ts")).captureCommand],
  ["explain", async () => (await import("./messages/explain.ts")).explainCommand],
  ["reprocess", async () => (await import("./messages/reprocess.ts")).reprocessCommand],
  ["images", async () => (await import("./messages/images.ts")).imagesCommand],
  ["documents", async () => (await import("./messages/documents.ts")).documentsCommand],
  ["status", async () => (await import("./status.ts")).statusCommand],
  ["doctor", async () => (await import("./doctor.ts")).doctorCommand],
  ["backup", async () => (await import("./backup.ts")).backupCommand],
  ["restore", async () => (await import("./restore.ts")).restoreCommand],
  ["resend", async () => (await import("./messages/resend.ts")).resendCommand],
  ["pair", async () => (await import("./pair.ts")).pairCommand],
]);

export const agentProgram: ProgramDefinition = {
  name: "vetwire agent",
  description: "Carries results from a clinic's devices to the Vetwire server",
  commands,
  help: agentHelp,
  examples: ["check", "run", "status", "messages --state unmatched --since 24h"],
};

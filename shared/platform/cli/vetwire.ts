import type { ProgramDefinition } from "./program.ts";

// The command `vetwire`, which holds the programs of the agent and of the server.

/** Commands of the agent that `vetwire` also takes without `agent`. One exists if the agent has it. */
const SHORT_FORMS: readonly string[] = ["doctor", "pair"];

const SERVICE_EXAMPLES: readonly string[] = [
  "service install agent",
  "service install server -- --port 9000",
  "service install agent --name vetwire-agent-lab --config /etc/vetwire/lab.yaml",
  "service status",
  "service status server --json",
  "service stop agent",
  "service start agent",
  "service logs agent --follow",
  "service uninstall agent",
  "service run agent --name vetwire-agent --versions /var/lib/vetwire/agent/versions -- --config /etc/vetwire/agent.yaml",
];

const UPGRADE_EXAMPLES: readonly string[] = [
  "upgrade",
  "upgrade agent --version 0.2.0 --dry-run",
  "upgrade server --from vetwire-server-0.2.0-linux-x64.tar.gz",
];

/** The program that the words name, and the words for it. */
export interface Dispatch {
  readonly program: "vetwire" | "agent" | "server";
  readonly words: readonly string[];
}

/** Finds the program of a command line. `help agent status` is `agent help status`. */
export function dispatch(words: readonly string[], agent: ProgramDefinition): Dispatch {
  const at = words[0] === "help" ? 1 : 0;
  const name = words[at] ?? "";
  if (name === "agent" || name === "server") return { program: name, words: words.toSpliced(at, 1) };
  return { program: shortForms(agent).includes(name) ? "agent" : "vetwire", words };
}

/** Describes the help page of `vetwire`; the other programs run by themselves. */
export function vetwireProgram(agent: ProgramDefinition): ProgramDefinition {
  const short = shortForms(agent).map((name) => {
    const summary = agent.help[name]?.summary ?? "";
    return [name, { summary: `${summary} (short for: agent ${name})`, examples: [] }] as const;
  });
  return {
    name: "vetwire",
    description: "Carries results from a veterinary clinic's devices to its records",
    commands: new Map([
      ["service", async () => (await import("./service.ts")).serviceCommand],
      ["upgrade", async () => (await import("./upgrade.ts")).upgradeCommand],
    ]),
    help: {
      ...Object.fromEntries(short),
      agent: { summary: "the program on the clinic's PC: takes results from devices", examples: [] },
      server: { summary: "the read API and the dashboard, and their data", examples: [] },
      service: { summary: "install a program as a service of this machine, and watch it", examples: SERVICE_EXAMPLES },
      upgrade: { summary: "bring a service to a later version; a failed one goes back", examples: UPGRADE_EXAMPLES },
    },
    examples: [
      ...short.map(([name]) => name),
      "agent status",
      "agent run",
      "server run",
      "service install agent",
      "agent messages --help",
    ],
  };
}

function shortForms(agent: ProgramDefinition): string[] {
  return SHORT_FORMS.filter((name) => agent.commands.has(name));
}

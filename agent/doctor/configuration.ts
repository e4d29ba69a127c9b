import path from "node:path";
import { plural } from "../../shared/platform/cli/output.ts";
import type { ConfigProblem } from "../config/check.ts";
import { exposures } from "../config/exposures.ts";
import { type Config, ConfigSchema, DeviceSchema } from "../config/values/schema.ts";
import type { Check, Facts } from "./check/check.ts";
import { rightsFault } from "../../shared/files/rights-advice.ts";
import type { Finding } from "../page/types/doctor.ts";
import { ok, problem, warning } from "./check/finding.ts";

/** Finds every problem of agent.yaml, and what a right one leaves open to others. */
export const configuration: Check = {
  id: "configuration",
  title: "Configuration",
  run: async (facts) => {
    const { read, configFile } = facts;
    if ("unreadable" in read) return [unreadable(path.resolve(configFile), read.unreadable)];
    if ("config" in read) return valid(read.config, facts);
    return read.problems.map((found) => ({
      ...problem("configuration.wrong", `${configFile}, line ${found.line}: ${found.message}`, remedyOf(found)),
      forSupport: `line ${found.line}: ${harmless(found.steps).join(".")}`,
    }));
  },
};

const KEYS: ReadonlySet<string> = new Set([
  ...Object.keys(ConfigSchema.properties),
  ...Object.keys(ConfigSchema.properties.server.properties),
  ...Object.keys(DeviceSchema.properties),
  ...Object.keys(DeviceSchema.properties.connection.properties),
]);

/** Keeps the steps of a path that no user chose. */
function harmless(steps: readonly string[]): string[] {
  return steps.filter((step) => KEYS.has(step) || /^\d+$/.test(step));
}

function unreadable(file: string, error: NodeJS.ErrnoException): Finding {
  const { code, message } = error;
  const rights = rightsFault(error, file);
  if (rights !== null) return problem("configuration.no-permission", rights.fault, rights.remedy);
  switch (code) {
    case "ENOENT":
      return problem(
        "configuration.missing",
        `there is no configuration ${file}`,
        "open http://127.0.0.1:8081, the page of the service or of vetwire agent run --set-up, or name the file with --config",
      );
    default:
      return problem("configuration.unreadable", `${file} cannot be read: ${message}`, "name a file with --config");
  }
}

/** The key file gets a remedy of its own, because a newcomer has no key yet. */
function remedyOf({ line, code }: ConfigProblem): string {
  switch (code) {
    case "KEY.MISSING":
      return "pair the agent with the server, or write the key that the server printed into that file, in one line";
    case "SYNTAX":
      return `compare the indentation and the quotes of line ${line} with the example in the README`;
    default:
      return `correct line ${line}, then restart the agent`;
  }
}

const PROFILE_REMEDY = "import the profile (agent profile import FILE), or adopt another one; then restart the agent";

function valid(config: Config, { configFile, isAgentRunning }: Facts): Finding[] {
  const ignored = config.ignored.map((text) =>
    warning("configuration.ignored", text, `remove this section from ${configFile}`),
  );
  const faulty = config.profileFaults.map((fault) => ({
    ...problem("configuration.profile", `${configFile}, line ${fault.line}: ${fault.message}`, PROFILE_REMEDY),
    forSupport: `line ${fault.line}: ${harmless(fault.steps).join(".")}`,
  }));
  const open = exposures(config).map(({ fault, remedy }) => warning("configuration.exposed", fault, remedy));
  const running = isAgentRunning
    ? ok("configuration.agent", "the agent is running")
    : warning(
        "configuration.agent",
        "the agent is not running, so no result is received",
        "start it: agent run, or its service",
      );
  return [
    ok("configuration.valid", `${configFile} is valid: ${plural(config.devices.length, "device")}`),
    running,
    ...(config.devices.length === 0 ? [noDevices()] : []),
    ...faulty,
    ...ignored,
    ...open,
    ...sharedSerialPorts(config),
  ];
}

/** An agent that was paired has no device yet. */
function noDevices(): Finding {
  const remedy = "connect the first one on the agent's page: Add a device";
  return warning("configuration.no-devices", "no device is set up, so no result can arrive", remedy);
}

/** Two devices at one port: only one of them gets it. */
function sharedSerialPorts({ devices }: Config): Finding[] {
  const first = new Map<string, string>();
  return devices.flatMap(({ id, connection: { serial } }) => {
    if (serial === undefined) return [];
    const other = first.get(serial.path);
    first.set(serial.path, other ?? id);
    if (other === undefined) return [];
    const remedy = `give ${id} the port of its own adapter: agent ports lists them`;
    return [problem("configuration.shared-port", `${other} and ${id} both have the port ${serial.path}`, remedy)];
  });
}

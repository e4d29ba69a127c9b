import { isSeq, LineCounter, parseDocument } from "yaml";
import { PROBLEM_CHARS_MAX, PROBLEMS_MAX, type DevicesProblem } from "../../shared/api/configuration.ts";
import { advisedText } from "../../shared/runtime/advised.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { checkConfig } from "../config/check.ts";
import { openListeners } from "../config/exposures.ts";
import { lineIn } from "../runtime/yaml-lines.ts";
import { type DeviceConfig, DeviceSchema } from "../config/values/schema.ts";
import { REMOTE_KEYS } from "./with-devices.ts";

// Reads the devices that an admin wrote at the dashboard. Each problem has its line in that text.

export type ReadDevices = { readonly devices: readonly DeviceConfig[] } | { readonly problems: DevicesProblem[] };

/** Checks the devices as part of agent.yaml. `text` is the present agent.yaml, in `folder`. */
export function readDocument(document: string, text: string, folder: string): ReadDevices {
  try {
    const found = localKeys(document);
    return found.length > 0 ? { problems: bounded(found) } : checkWith(document, text, folder);
  } catch (error) {
    // The parser throws for aliases that would expand to a huge text.
    return { problems: bounded([{ line: 1, message: `these devices cannot be read: ${errorMessage(error)}` }]) };
  }
}

/** Finds text that is not a list of devices, and keys that stay on the PC. */
function localKeys(document: string): DevicesProblem[] {
  const lines = new LineCounter();
  const parsed = parseDocument(document, { lineCounter: lines });
  const { contents, errors } = parsed;
  // The check of the complete file reports them.
  if (errors.length > 0) return [];
  if (!isSeq(contents)) {
    const message =
      'expected a list of devices alone: each begins with "- id:". The other parts of agent.yaml stay on the PC';
    return [{ line: 1, message }];
  }
  const local = Object.keys(DeviceSchema.properties).filter((key) => !REMOTE_KEYS.some((remote) => remote === key));
  // Values, because an alias may represent a device and a key.
  const devices = parsed.toJS() as readonly unknown[];
  return devices.flatMap((device, index) =>
    local
      .filter((key) => typeof device === "object" && device !== null && Object.hasOwn(device, key))
      .map((key) => ({
        line: lineIn(document, [String(index), key]),
        message: `devices[${index}].${key} names a file of the PC: set it in agent.yaml there, and leave it out here`,
      })),
  );
}

/**
 * Finds the listeners that would take results from every host of the network, and the folders of the PC that would be read and
 * emptied. A running one may stay: it was a decision at the PC. `running` are the devices that run.
 */
export function openedBy(
  document: string,
  devices: readonly DeviceConfig[],
  running: readonly DeviceConfig[],
): DevicesProblem[] {
  const known = new Set(running.flatMap(openOf));
  const found = devices.flatMap((device, index) => {
    const tls = running.find(({ id }) => id === device.id)?.tls;
    const opened = openOf(tls === undefined ? device : { ...device, tls }).filter((each) => !known.has(each));
    return opened.map((message) => ({ line: lineIn(document, [String(index), "connection"]), message }));
  });
  return bounded(found);
}

function openOf(device: DeviceConfig): string[] {
  const { folder } = device.connection;
  const watched = `${folder} is not watched yet, and files leave the PC from there: write this device into agent.yaml on the PC`;
  return [...openListeners(device).map(advisedText), ...(folder === undefined ? [] : [watched])];
}

/** Puts the devices below the other parts of agent.yaml, one line each, so that the lines of problems differ by their count. */
function checkWith(document: string, text: string, folder: string): ReadDevices {
  const { devices: _devices, ...others } = parseDocument(text).toJS() as Record<string, unknown>;
  const head = Object.entries(others).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  // A list in brackets has to be indented below its key.
  const body = document.split("\n").map((line) => ` ${line}`);
  const checked = checkConfig([...head, "devices:", ...body].join("\n"), folder);
  if ("config" in checked) return { devices: checked.config.devices };
  const offset = head.length + 1;
  const found = checked.problems.map(({ line, ...problem }) => ({ ...problem, line: line - offset }));
  const inside = found.filter(({ line, steps: [part] }) => line > 0 || part === "devices");
  // The other parts of the file hold paths of the PC, which its server need not know.
  const outside = { line: 1, message: "agent.yaml has problems outside its devices: run agent check on the PC" };
  return { problems: bounded(inside.length > 0 ? inside : [outside]) };
}

/** Brings problems into the bounds of a heartbeat. */
export function bounded(problems: readonly DevicesProblem[]): DevicesProblem[] {
  return problems
    .slice(0, PROBLEMS_MAX)
    .map(({ line, message }) => ({ line: Math.max(1, line), message: message.slice(0, PROBLEM_CHARS_MAX) }));
}

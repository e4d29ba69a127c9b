import type { ConfigProblem } from "./check.ts";
import { lineIn } from "../runtime/yaml-lines.ts";
import type { Config, DeviceConfig } from "./values/schema.ts";
import { parseAddress } from "../transport/address.ts";
import { listenProblem, serialProblem } from "../transport/probe.ts";

// Tries the lines that a new configuration adds, before the running agent is stopped for it.

/** Opens each new port for a moment. @returns a problem, with the line in the text, for each one that cannot be opened */
export async function linesInUse(text: string, config: Config, earlier: Config | null): Promise<ConfigProblem[]> {
  const owned = new Set((earlier?.devices ?? []).flatMap(portsOf));
  const problems: ConfigProblem[] = [];
  for (const [index, device] of config.devices.entries()) {
    for (const port of portsOf(device)) {
      const reason = owned.has(port) ? null : await reasonAgainst(port);
      if (reason === null) continue;
      const steps = ["devices", String(index), "connection"];
      problems.push({ line: lineIn(text, steps), steps, message: `${device.id}: ${reason}` });
    }
  }
  return problems;
}

/** Lists the ports that a device takes from other programs: `serial:PATH` or `listen:PLACE`. */
function portsOf({ connection }: DeviceConfig): string[] {
  const { serial, listen, replyConnection } = connection;
  const places = [listen, replyConnection?.listen].filter((place) => place !== undefined);
  return [...(serial === undefined ? [] : [`serial:${serial.path}`]), ...places.map((place) => `listen:${place}`)];
}

async function reasonAgainst(port: string): Promise<string | null> {
  const place = port.slice(port.indexOf(":") + 1);
  if (port.startsWith("serial:")) return (await serialProblem({ path: place, baudRate: 9600 }))?.reason ?? null;
  const address = parseAddress(place);
  return address === null ? null : ((await listenProblem(address))?.reason ?? null);
}

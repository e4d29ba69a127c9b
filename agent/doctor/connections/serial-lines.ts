import fs from "node:fs";
import { type DeviceConfig, DICOM } from "../../config/values/schema.ts";
import { profileById } from "../../devices/index.ts";
import { serialProblem } from "../../transport/probe.ts";
import { listPorts, type SerialPortInfo } from "../../transport/serial-ports.ts";
import { USUAL_SETTINGS } from "../../transport/serial.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";

type SerialConfig = NonNullable<DeviceConfig["connection"]["serial"]>;

/** Names that the system gives in the order of plugging in. */
const UNSTABLE = /^\/dev\/tty(USB|ACM)\d+$/;

/** Opens every serial port, unless the running agent holds them, and advises a name that survives a replug. */
export const serialLines = configCheck("serial", "Serial ports", async ({ devices }, { isAgentRunning }) => {
  const wired = devices.flatMap((device) => {
    const { serial } = device.connection;
    return serial === undefined ? [] : [{ device, serial }];
  });
  if (wired.length === 0) return [skipped("serial.none", "no device has a serial port")];
  const ports = await listPorts();
  const found: Finding[] = [];
  for (const { device, serial } of wired) {
    const held = `${serial.path} is the running agent's: see Devices for its faults`;
    if (isAgentRunning) found.push(skipped("serial.agent", held));
    else found.push(await tryOpening(device, serial, ports));
    found.push(...unstableName(device.id, serial.path, ports));
  }
  return found;
});

async function tryOpening({ id, profile: name }: DeviceConfig, serial: SerialConfig, ports: readonly SerialPortInfo[]) {
  const profile = name === DICOM ? undefined : profileById(name);
  const found = await serialProblem({ ...USUAL_SETTINGS, ...profile?.serial, ...serial });
  if (found === null) return ok("serial.open", `${id} can open ${serial.path}`);
  const general = `compare baudRate, dataBits, parity and stopBits of ${id} with the manual of its adapter`;
  const { code, fault, remedy } = found;
  const names = ports.map(({ path, by_id }) => by_id ?? path);
  const choice = names.length === 0 ? "this machine has no serial port now" : `now there are ${names.join(", ")}`;
  const whole = code === "PORT.MISSING" ? `${remedy}; ${choice}` : (remedy ?? general);
  return problem("serial.fault", `${id} cannot open its port: ${fault}`, whole);
}

function unstableName(device: string, path: string, ports: readonly SerialPortInfo[]): Finding[] {
  if (!UNSTABLE.test(path) || !fs.existsSync(path)) return [];
  const stable = ports.find((port) => port.path === path)?.by_id ?? null;
  if (stable === null) return [];
  const sentence = `${device} has the port ${path}, whose name may change when an adapter is plugged in again`;
  return [warning("serial.unstable", sentence, `write path: ${stable} in agent.yaml`)];
}

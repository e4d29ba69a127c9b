import fs from "node:fs";
import { type DeviceConfig, DICOM } from "../config/schema.ts";
import { profileById } from "../devices/index.ts";
import { serialFault } from "../states/line-state.ts";
import { listPorts, type SerialPortInfo } from "../transport/serial-ports.ts";
import { serialPortClass, USUAL_SETTINGS } from "../transport/serial.ts";
import { configCheck } from "./check.ts";
import { type Finding, ok, problem, skipped, splitAdvice, warning } from "./finding.ts";

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
    if (isAgentRunning) found.push(ok("serial.agent", `the running agent holds ${serial.path} of ${device.id}`));
    else found.push(await tryOpening(device, serial, ports));
    found.push(...unstableName(device.id, serial.path, ports));
  }
  return found;
});

async function tryOpening(device: DeviceConfig, serial: SerialConfig, ports: readonly SerialPortInfo[]) {
  const message = await openingError(device, serial);
  if (message === null) return ok("serial.open", `${device.id} can open ${serial.path}`);
  const general = `compare baudRate, dataBits, parity and stopBits of ${device.id} with the manual of its adapter`;
  const { sentence, remedy } = splitAdvice(serialFault(serial.path, message).reason, general);
  const names = ports.map(({ path, by_id }) => by_id ?? path);
  const choice = names.length === 0 ? "this machine has no serial port now" : `now there are ${names.join(", ")}`;
  const isMissing = sentence.startsWith("no such port");
  return problem(
    "serial.fault",
    `${device.id} cannot open its port: ${sentence}`,
    isMissing ? `${remedy}; ${choice}` : remedy,
  );
}

/** Opens and closes the port. @returns the message of the driver, null if it opens */
function openingError({ profile: id }: DeviceConfig, { path, ...settings }: SerialConfig): Promise<string | null> {
  const profile = id === DICOM ? undefined : profileById(id);
  const line = { ...USUAL_SETTINGS, ...profile?.serial, ...settings };
  return new Promise((resolve) => {
    const Port = serialPortClass();
    const port = new Port({ path, ...line, autoOpen: false });
    port.on("error", () => undefined);
    port.open((error) => {
      if (error !== null) return resolve(error.message);
      port.close(() => resolve(null));
    });
  });
}

function unstableName(device: string, path: string, ports: readonly SerialPortInfo[]): Finding[] {
  if (!UNSTABLE.test(path) || !fs.existsSync(path)) return [];
  const stable = ports.find((port) => port.path === path)?.by_id ?? null;
  if (stable === null) return [];
  const sentence = `${device} has the port ${path}, whose name may change when an adapter is plugged in again`;
  return [warning("serial.unstable", sentence, `write path: ${stable} in agent.yaml`)];
}

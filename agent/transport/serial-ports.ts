import fs from "node:fs";
import path from "node:path";
import { serialPortClass } from "./serial.ts";

// The serial ports of this machine, with the names for agent.yaml.

/** A port as `agent ports --json` prints it. A field is null if the system does not report it. */
export interface SerialPortInfo {
  readonly path: string;
  /** The stable name. `path` may change when the adapter is plugged in again. */
  readonly by_id: string | null;
  readonly vendor: string | null;
  readonly vendor_id: string | null;
  readonly product_id: string | null;
  readonly serial_number: string | null;
}

const BY_ID = "/dev/serial/by-id";

/** Lists all ports. Tests pass their own `list` and `byId`. */
export async function listPorts(list = serialPortClass().list, byId = BY_ID): Promise<SerialPortInfo[]> {
  const names = namesIn(byId);
  const known = await list().catch((error: NodeJS.ErrnoException) => {
    // serialport runs udevadm on Linux. Containers lack it.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const ports = known.map(({ path: tty, manufacturer, vendorId, productId, serialNumber }) => ({
    path: tty,
    by_id: names.get(tty) ?? null,
    vendor: manufacturer ?? null,
    vendor_id: vendorId ?? null,
    product_id: productId ?? null,
    serial_number: serialNumber ?? null,
  }));
  const unknown = { vendor: null, vendor_id: null, product_id: null, serial_number: null };
  const others = [...names].filter(([tty]) => !known.some((port) => port.path === tty));
  return [...ports, ...others.map(([tty, by_id]) => ({ path: tty, by_id, ...unknown }))];
}

/** @returns the by-id name of each tty that has one */
function namesIn(byId: string): Map<string, string> {
  if (!fs.existsSync(byId)) return new Map();
  return new Map(
    fs.readdirSync(byId).map((name) => {
      const link = path.join(byId, name);
      return [path.resolve(byId, fs.readlinkSync(link)), link];
    }),
  );
}

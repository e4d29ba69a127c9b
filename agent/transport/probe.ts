import net from "node:net";
import { type LineFault, listenFault, serialFault } from "../states/line-state.ts";
import type { Address } from "./address.ts";
import { type SerialSettings, serialPortClass } from "./serial.ts";

// Opens a port of this machine for a moment, to find out why it could not be opened for good.

/** @returns the fault; null if this process can listen there */
export function listenProblem({ host, port }: Address): Promise<LineFault | null> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", (error) => resolve(listenFault(host, port, error)));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** @returns the fault; null if this process can open the serial port */
export function serialProblem(
  settings: Pick<SerialSettings, "path" | "baudRate"> & Partial<SerialSettings>,
): Promise<LineFault | null> {
  return new Promise((resolve) => {
    const SerialPort = serialPortClass();
    const port = new SerialPort({ ...settings, autoOpen: false });
    port.open((error) => {
      if (error !== null) return resolve(serialFault(settings.path, error.message));
      port.close(() => resolve(null));
    });
  });
}

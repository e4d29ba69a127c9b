import { createRequire } from "node:module";
import type { SerialPort } from "serialport";
import { serialFault } from "../states/line-state.ts";
import { type OpenWire, PORT_RETRY, reconnectingTransport } from "./reconnect.ts";
import type { Transport } from "./transport.ts";

export interface SerialSettings {
  readonly path: string;
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: "none" | "even" | "odd" | "mark" | "space";
  readonly stopBits: 1 | 2;
  readonly rtscts: boolean;
}

/** The settings of most analyzers. */
export const USUAL_SETTINGS = { baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false } as const;

/** Loads serialport on first use. It takes 5 MB of every thread, and most threads have no serial device. */
export function serialPortClass(): typeof SerialPort {
  return (createRequire(import.meta.url)("serialport") as { readonly SerialPort: typeof SerialPort }).SerialPort;
}

/** Opens a serial port. Tests pass SerialPortMock and shorter delays. */
export function serialTransport(
  settings: SerialSettings,
  SerialPortClass = serialPortClass(),
  backoff = PORT_RETRY,
): Transport {
  const { path, ...line } = settings;
  const explain = (error: Error) => serialFault(path, error.message);
  const openPort: OpenWire = (opened, closed) => {
    // A new object resolves the path again, because a by-id name may lead to another tty after a replug.
    const port = new SerialPortClass({ path, ...line, autoOpen: false });
    let reason: Error | null = null;
    let stopped = false;
    port.once("close", () => closed(reason));
    port.on("error", (error) => {
      reason = error;
      // Most errors close the port. An open one would block the next attempt.
      if (port.isOpen) port.close();
      else if (!port.closing) closed(reason);
    });
    port.open((error) => {
      if (error !== null) return closed(error);
      if (stopped) return port.close();
      const handler = opened({
        peer: path,
        write: (bytes, left) => port.write(bytes, left),
        close: () => port.drain(() => port.isOpen && port.close()),
        pause: () => port.pause(),
        resume: () => port.resume(),
      });
      port.on("data", (chunk: Buffer) => handler.chunk(chunk));
      onHangUp(port, () => {
        if (port.isOpen) port.close();
      });
    });
    return () => {
      stopped = true;
      if (port.isOpen) port.close();
    };
  };
  return reconnectingTransport(openPort, "opening", explain, backoff);
}

/**
 * Calls `hungUp` when the tty of an open port disappears. serialport notices that only during a pending read. Otherwise its next
 * read returns 0 bytes and repeats without end, which occupies a core.
 */
function onHangUp({ port }: SerialPort, hungUp: () => void): void {
  // Windows has no poller. A read of a missing port fails there.
  if (port !== undefined && "poller" in port) port.poller.once("disconnect", hungUp);
}

import { createRequire } from "node:module";
import type { SerialPort } from "serialport";
import { serialFault } from "../states/line-state.ts";
import { type Open, reopening, RETRY_MS } from "./reconnect.ts";
import type { Transport } from "./transport.ts";

export interface SerialSettings {
  readonly path: string;
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: "none" | "even" | "odd" | "mark" | "space";
  readonly stopBits: 1 | 2;
  readonly rtscts: boolean;
}

/** Loaded where a line is serial, and not before: it takes 5 MB, in each thread that has a line of another kind, too. */
export function serialPortClass(): typeof SerialPort {
  return (createRequire(import.meta.url)("serialport") as { readonly SerialPort: typeof SerialPort }).SerialPort;
}

/** `SerialPortClass` is replaced by SerialPortMock, and `retryMs` made shorter, in tests. */
export function serialTransport(
  settings: SerialSettings,
  SerialPortClass = serialPortClass(),
  retryMs = RETRY_MS,
): Transport {
  const { path, ...line } = settings;
  const explain = (error: Error) => serialFault(path, error.message);
  const openPort: Open = (opened, closed) => {
    // The path is looked up at every opening: after a replug the same by-id name may lead to another tty.
    const port = new SerialPortClass({ path, ...line, autoOpen: false });
    let reason: Error | null = null;
    let stopped = false;
    port.once("close", () => closed(reason));
    port.on("error", (error) => {
      reason = error;
      // Most errors close the port by themselves; one left open would keep the next attempt out.
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
  return reopening(openPort, "opening", explain, retryMs);
}

/**
 * Calls `hungUp` when the tty of an open port is gone. Unless a read waits at that moment, serialport does not notice: its
 * next read gives no bytes and is tried again for ever, which takes a whole core and never ends.
 */
function onHangUp({ port }: SerialPort, hungUp: () => void): void {
  // Windows has none, and there a read of a port that is gone fails.
  if (port !== undefined && "poller" in port) port.poller.once("disconnect", hungUp);
}

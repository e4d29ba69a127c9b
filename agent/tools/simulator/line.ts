import { parseTarget } from "../../transport/target.ts";
import { serialTransport } from "../../transport/serial.ts";
import { dialTransport, listenTransport } from "../../transport/tcp.ts";
import type { Transport, Wire, WireHandler } from "../../transport/transport.ts";

/** A line to the other side. */
export interface SimulatorLine {
  readonly isOpen: boolean;
  send(bytes: Uint8Array): void;
  /** Resolves to the next byte; null after `ms` without one, or if the line is closed. */
  reply(ms: number): Promise<number | null>;
  close(): Promise<void>;
}

/** Max time for written bytes to leave before a line is closed, in ms. */
const CLOSE_MS = 1_000;

/** Dials `tcp://host:port`, waits at `listen://host:port`, or opens `serial:PATH`. @throws Error with a sentence */
export async function openLine(target: string, baudRate = 9600): Promise<SimulatorLine> {
  const transport = transportTo(target, baudRate);
  return new Promise((resolve, reject) => {
    let isTaken = false;
    transport.open(
      (wire) => {
        if (isTaken) {
          wire.close(); // the simulator plays one session at a time
          return { chunk: () => undefined, closed: () => undefined };
        }
        isTaken = true;
        const line = new WireLine(wire, transport);
        resolve(line);
        return line;
      },
      (problem) => {
        void transport.close();
        reject(new Error(`cannot open ${target}: ${problem}`));
      },
    );
  });
}

function transportTo(target: string, baudRate: number): Transport {
  const place = parseTarget(target);
  switch (place?.kind) {
    case "dial":
      return dialTransport(place.address);
    case "listen":
      return listenTransport(place.address, []);
    case "serial":
      return serialTransport({
        path: place.path,
        baudRate,
        dataBits: 8,
        parity: "none",
        stopBits: 1,
        rtscts: false,
      });
    case undefined:
      throw new Error(`--to is ${target}, expected tcp://host:port, listen://host:port or serial:PATH`);
  }
}

/** A wire that is read byte by byte. */
class WireLine implements SimulatorLine, WireHandler {
  readonly #wire: Wire;
  readonly #transport: Transport;
  readonly #bytes: number[] = [];
  #pendingReply: ((byte: number | null) => void) | null = null;
  #isOpen = true;
  #resolveClose: () => void = () => undefined;

  constructor(wire: Wire, transport: Transport) {
    this.#wire = wire;
    this.#transport = transport;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  chunk(bytes: Uint8Array): void {
    for (const byte of bytes) this.#bytes.push(byte);
    this.#resolveReply();
  }

  /** A closed line is not reconnected. */
  closed(): void {
    this.#isOpen = false;
    this.#pendingReply?.(null);
    this.#resolveClose();
    void this.#transport.close();
  }

  send(bytes: Uint8Array): void {
    this.#wire.write(bytes);
  }

  reply(ms: number): Promise<number | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#pendingReply?.(null), ms);
      this.#pendingReply = (byte) => {
        clearTimeout(timer);
        this.#pendingReply = null;
        resolve(byte);
      };
      this.#resolveReply();
    });
  }

  async close(): Promise<void> {
    if (this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#resolveClose = resolve;
        this.#wire.close();
        setTimeout(resolve, CLOSE_MS).unref();
      });
    }
    await this.#transport.close();
  }

  #resolveReply(): void {
    if (this.#pendingReply === null) return;
    const byte = this.#bytes.shift();
    if (byte !== undefined) this.#pendingReply(byte);
    else if (!this.#isOpen) this.#pendingReply(null);
  }
}

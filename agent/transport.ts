import net from "node:net";
import { SerialPort } from "serialport";

// Where bytes come from: a serial port, a TCP listener, a TCP dialler. All three hand over wires and mend themselves.

/** One open connection to a device. */
export interface Wire {
  readonly peer: string;
  write(bytes: Uint8Array): void;
  close(): void;
  /** No more chunks until resume(): the spool lags behind. */
  pause(): void;
  resume(): void;
}

export interface WireHandler {
  chunk(bytes: Uint8Array): void;
  closed(): void;
}

export interface Transport {
  /** Begins to open wires, and goes on for as long as it is not closed. `problem` tells what keeps it from it, once a change. */
  open(accept: (wire: Wire) => WireHandler, problem: (reason: string) => void): void;
  close(): Promise<void>;
}

/** A device that vanishes is looked for every so often; a replugged one is back within this time. */
const RETRY_MS = 2_000;
/** One device may have that many sockets open; it uses one, or two while the first is not known to be dead. */
const CONNECTIONS_MAX = 16;

export interface SerialSettings {
  readonly path: string;
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: "none" | "even" | "odd" | "mark" | "space";
  readonly stopBits: 1 | 2;
  readonly rtscts: boolean;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `SerialPortClass` is replaced by SerialPortMock in tests. */
export function serialTransport(settings: SerialSettings, SerialPortClass: typeof SerialPort = SerialPort): Transport {
  const { path, ...line } = settings;
  return reopening((opened, closed) => {
    const port = new SerialPortClass({ path, ...line, autoOpen: false });
    port.once("close", () => closed(null));
    port.on("error", (error) => closed(error.message));
    port.open((error) => {
      if (error !== null) return closed(error.message);
      const handler = opened({
        peer: path,
        write: (bytes) => port.write(bytes),
        close: () => port.close(),
        pause: () => port.pause(),
        resume: () => port.resume(),
      });
      port.on("data", (chunk: Buffer) => handler.chunk(chunk));
    });
    return () => {
      if (port.isOpen) port.close();
    };
  });
}

/** Dials a device that is itself a server. */
export function dialTransport({ host, port }: Address): Transport {
  return reopening((opened, closed) => {
    const socket = net.connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
    let reason: string | null = null;
    socket.on("error", (error) => (reason = error.message));
    socket.once("close", () => closed(reason));
    socket.once("connect", () => {
      const handler = opened(socketWire(socket));
      socket.on("data", (chunk: Buffer) => handler.chunk(chunk));
    });
    return () => socket.destroy();
  });
}

/** Listens for a device; an address outside `allow` (CIDR; empty: everyone) is turned away. */
export function listenTransport({ host, port }: Address, allow: readonly string[]): Transport {
  const permitted = allow.length > 0 ? blockList(allow) : null;
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
  server.maxConnections = CONNECTIONS_MAX;
  let retry: NodeJS.Timeout | undefined;
  return {
    open(accept, problem) {
      let told = "";
      const tell = (reason: string) => {
        if (reason !== told) problem(reason);
        told = reason;
      };
      server.on("error", (error) => {
        tell(`cannot listen on ${host}:${port}: ${error.message}`);
        retry = setTimeout(() => server.listen(port, host), RETRY_MS);
      });
      server.on("connection", (socket) => {
        const address = socket.remoteAddress ?? "";
        if (permitted !== null && !permitted.check(address, address.includes(":") ? "ipv6" : "ipv4")) {
          tell(`${address} is not in the allow list: turned away`);
          socket.destroy();
          return;
        }
        sockets.add(socket);
        const handler = accept(socketWire(socket));
        socket.on("data", (chunk: Buffer) => handler.chunk(chunk));
        socket.on("error", () => undefined); // "close" follows
        socket.once("close", () => {
          sockets.delete(socket);
          handler.closed();
        });
      });
      server.listen(port, host);
    },
    async close() {
      clearTimeout(retry);
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    },
  };
}

function socketWire(socket: net.Socket): Wire {
  return {
    peer: `${socket.remoteAddress}:${socket.remotePort}`,
    write: (bytes) => socket.write(bytes),
    close: () => socket.destroy(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

type Open = (opened: (wire: Wire) => WireHandler, closed: (reason: string | null) => void) => () => void;

/** Opens one wire at a time, and again RETRY_MS after it closed or could not be opened. */
function reopening(openOne: Open): Transport {
  let end: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;
  let whenClosed: (() => void) | undefined;
  return {
    open(accept, problem) {
      let told: string | null = null;
      const attempt = () => {
        let handler: WireHandler | undefined;
        let over = false;
        end = openOne(
          (wire) => {
            told = null;
            handler = accept(wire);
            return handler;
          },
          (reason) => {
            if (over) return;
            over = true;
            end = undefined;
            if (reason !== null && reason !== told) problem(reason);
            told = reason;
            handler?.closed();
            if (ended) whenClosed?.();
            else retry = setTimeout(attempt, RETRY_MS);
          },
        );
      };
      attempt();
    },
    async close() {
      ended = true;
      clearTimeout(retry);
      const stop = end;
      if (stop === undefined) return;
      await new Promise<void>((resolve) => {
        whenClosed = resolve;
        stop();
        // A port that never opened has nothing to close.
        setTimeout(resolve, 500).unref();
      });
    },
  };
}

function blockList(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = address.includes(":") ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

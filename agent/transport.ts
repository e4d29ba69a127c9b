import { createRequire } from "node:module";
import net from "node:net";
import tls from "node:tls";
import type { SerialPort } from "serialport";
import { dialFault, faultText, type LineFault, type LineState, listenFault, serialFault } from "./line-state.ts";
import { OpenConnections } from "./open-connections.ts";

// Where bytes come from: a serial port, a TCP listener, a TCP dialler. All three hand over wires and mend themselves.

/** One open connection to a device. */
export interface Wire {
  readonly peer: string;
  /**
   * Writes to the device; bytes for one that is gone are dropped. Calls `left` once the bytes have left the process or are
   * dropped: a device that does not read leaves them in our memory.
   */
  write(bytes: Uint8Array, left?: () => void): void;
  /** Hangs up once all that was written has left. */
  close(): void;
  /** No more chunks until resume(): the spool, the filing or the device lags behind. */
  pause(): void;
  resume(): void;
  /** The device has sent a whole message. The wire no longer gives way to wires that have sent none. Absent: it never does. */
  heardMessage?(): void;
}

export interface WireHandler {
  chunk(bytes: Uint8Array): void;
  /** The device will say no more, but hears what is still to be said to it; then close() the wire. Absent: it is hung up on. */
  ended?(): void;
  closed(): void;
}

export interface Transport {
  /**
   * Begins to open wires, and goes on for as long as it is not closed. `problem` is told what keeps it from it, once a change,
   * and what a device does wrong; `stands`, where it stands while no wire is open.
   */
  open(
    accept: (wire: Wire) => WireHandler,
    problem: (reason: string) => void,
    stands?: (state: LineState) => void,
  ): void;
  close(): Promise<void>;
}

/** A device that vanished is looked for again and again, at growing intervals; a replugged one is back within the last. */
const RETRY_MS = { first: 250, last: 2_000 };
/** One that is dialled: analyzers are small computers, and many are off at night. With its jitter 1 to 30 s. */
export const DIAL_RETRY_MS = { first: 2_000, last: 30_000 };
/** A wire that stood so long was a good one: the intervals begin anew. */
const LASTING_MS = 2_000;
/** What was written before has left by then, or will not. */
const CLOSE_MS = 1_000;
/** A device uses one socket, or two while the first is not known to be dead. Of more, the longest silent gives way. */
const CONNECTIONS_MAX = 16;
/** A connection, with its TLS handshake, is made within that or not at all. */
const OPENING_MS_MAX = 10_000;
/** Replies that wait for the connection on which the device takes them; of more, the oldest is dropped. */
const REPLIES_WAITING_MAX = 20;

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

/** What TLS needs, in PEM. */
export interface Security {
  readonly minVersion: "TLSv1.2";
  /** Ours, with the key that belongs to it. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** Who signs the devices' certificates. A listener then serves no device without one; a dialler without it trusts whom the system trusts. */
  readonly ca?: Buffer;
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

const SOCKET = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 } as const;

/** Dials a device that is itself a server. `random`: from 0 to 1, how much of an interval is left out; several agents must not dial in step. */
export function dialTransport(
  { host, port }: Address,
  security: Security | null = null,
  random: () => number = Math.random,
): Transport {
  let reached = false;
  const dial: Open = (opened, closed) => {
    const address = { host, port, ...SOCKET };
    const socket = security === null ? net.connect(address) : tls.connect({ ...address, ...security });
    let reason: Error | null = null;
    const late = setTimeout(
      () => socket.destroy(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" })),
      OPENING_MS_MAX,
    );
    reached = false;
    socket.once("connect", () => (reached = true));
    socket.on("error", (error) => (reason = error));
    socket.once("close", () => {
      clearTimeout(late);
      closed(reason);
    });
    socket.once(security === null ? "connect" : "secureConnect", () => {
      clearTimeout(late);
      serve(socket, opened);
    });
    return () => socket.destroy();
  };
  const explain = (error: Error) => dialFault(host, port, error, reached);
  return reopening(dial, "connecting", explain, DIAL_RETRY_MS, random);
}

/**
 * Listens for a device; an address outside `allow` (CIDR; empty: everyone) is turned away, before a word of TLS.
 * `connectionsMax`: sockets open at once that have sent no message, and as many that have. Of more, the longest silent one is
 * closed, see OpenConnections.
 */
export function listenTransport(
  { host, port }: Address,
  allow: readonly string[],
  security: Security | null = null,
  connectionsMax = CONNECTIONS_MAX,
): Transport {
  const permitted = allow.length > 0 ? blockList(allow) : null;
  const server = net.createServer(SOCKET);
  let retry: NodeJS.Timeout | undefined;
  let connections: OpenConnections | null = null;
  return {
    open(accept, problem, stands = () => undefined) {
      const bounded = new OpenConnections(connectionsMax, (gaveWay) => stands({ is: "listening", gaveWay }));
      connections = bounded;
      let told = "";
      const tell = (reason: string) => {
        if (reason !== told) problem(reason);
        told = reason;
      };
      let failedWith: string | undefined;
      const take = (socket: net.Socket) => {
        const peer = peerOf(socket);
        socket.on("data", () => bounded.heard(peer));
        const handler = serve(socket, (wire) => accept({ ...wire, heardMessage: () => bounded.heardMessage(peer) }));
        socket.on("error", () => undefined); // "close" follows
        socket.once("close", () => handler.closed());
      };
      const secured = security === null ? null : tlsServer(security, take, tell);
      server.on("listening", () => {
        failedWith = undefined;
        stands({ is: "listening" });
      });
      server.on("error", (error: NodeJS.ErrnoException) => {
        if (failedWith !== error.message) {
          const fault = listenFault(host, port, error);
          problem(faultText(fault));
          stands(fault);
        }
        failedWith = error.message;
        retry = setTimeout(() => server.listen(port, host), RETRY_MS.last);
      });
      server.on("connection", (socket) => {
        const address = socket.remoteAddress ?? "";
        if (permitted !== null && !permitted.check(address, address.includes(":") ? "ipv6" : "ipv4")) {
          tell(`${address} is not in the allow list: turned away`);
          socket.destroy();
          return;
        }
        const peer = peerOf(socket);
        const connection = { address, destroy: () => socket.destroy() };
        bounded.add(peer, connection);
        socket.once("close", () => bounded.remove(peer, connection));
        if (secured === null) take(socket);
        else secured.emit("connection", socket);
      });
      stands({ is: "opening" });
      server.listen(port, host);
    },
    async close() {
      clearTimeout(retry);
      connections?.destroyAll();
      await new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    },
  };
}

/**
 * Replies leave on connections of their own, for devices that take them nowhere else: on the last one made, whichever
 * connection asked. One that does not stand yet is waited for.
 */
export function repliesOn(replies: Transport, device: Transport): Transport {
  let out: Wire | null = null;
  const waiting: Uint8Array[] = [];
  const write: Wire["write"] = (bytes, left) => {
    if (out !== null) return out.write(bytes, left);
    waiting.push(bytes);
    if (waiting.length > REPLIES_WAITING_MAX) waiting.shift();
    left?.(); // their number is bounded here
  };
  return {
    open(accept, problem, stands = () => undefined) {
      // A problem of either connection keeps the device from its answers.
      let [repliesFault, deviceState]: [LineFault | null, LineState] = [null, { is: "opening" }];
      const tellState = () => stands("reason" in deviceState ? deviceState : (repliesFault ?? deviceState));
      replies.open(
        (wire) => {
          repliesFault = null;
          tellState();
          out = wire;
          for (const bytes of waiting.splice(0)) wire.write(bytes);
          let told = false;
          return {
            chunk() {
              if (!told) problem("the device speaks on the connection for replies: not heard");
              told = true;
            },
            closed() {
              if (out === wire) out = null;
            },
          };
        },
        (reason) => problem(`the connection for replies ${reason}`),
        (state) => {
          repliesFault = "reason" in state ? { ...state, reason: `the connection for replies, ${state.reason}` } : null;
          tellState();
        },
      );
      device.open(
        (wire) => accept({ ...wire, write }),
        problem,
        (state) => {
          deviceState = state;
          tellState();
        },
      );
    },
    async close() {
      await Promise.all([device.close(), replies.close()]);
    },
  };
}

/** Takes the sockets that another server accepted; those that came through the handshake are handed on. */
function tlsServer(security: Security, take: (socket: net.Socket) => void, tell: (reason: string) => void): tls.Server {
  const server = tls.createServer({
    ...security,
    handshakeTimeout: OPENING_MS_MAX,
    requestCert: security.ca !== undefined,
  });
  server.on("secureConnection", take);
  server.on("tlsClientError", (error, socket) => {
    const reason = socket.authorizationError ?? error.message.trim();
    tell(`TLS with ${socket.remoteAddress ?? "a device that was turned away"}: ${reason}`);
    socket.destroy();
  });
  return server;
}

/** The wire of a socket that is open, and what is heard on it; that it closed is for the caller to tell. */
function serve(socket: net.Socket, accept: (wire: Wire) => WireHandler): WireHandler {
  const handler = accept(socketWire(socket));
  socket.on("data", (chunk: Buffer) => handler.chunk(chunk));
  socket.once("end", () => {
    if (handler.ended === undefined) socket.end();
    else handler.ended();
  });
  return handler;
}

function peerOf(socket: net.Socket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}

function socketWire(socket: net.Socket): Wire {
  return {
    peer: peerOf(socket),
    write: (bytes, left) => socket.write(bytes, left),
    close() {
      socket.end();
      // A peer that is gone does not answer the end.
      setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

type Open = (opened: (wire: Wire) => WireHandler, closed: (reason: Error | null) => void) => () => void;

/** The interval after so many attempts in a row that led to nothing; jitter takes up to half of it. */
export function retryAfterMs(failures: number, { first, last }: typeof RETRY_MS, random: () => number): number {
  return Math.min(first * 2 ** failures, last) * (1 - random() / 2);
}

/** Opens one wire at a time, and another after it closed or could not be opened; `explain` says why one could not. */
function reopening(
  openOne: Open,
  meanwhile: "opening" | "connecting",
  explain: (error: Error) => LineFault,
  retryMs: typeof RETRY_MS,
  random = () => 0,
): Transport {
  let end: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let ended = false;
  let whenClosed: (() => void) | undefined;
  return {
    open(accept, problem, stands = () => undefined) {
      let told: string | null = null;
      const tell = (error: Error, wasOpen: boolean) => {
        if (wasOpen) return problem(error.message);
        if (error.message === told) return;
        told = error.message;
        const fault = explain(error);
        problem(faultText(fault));
        stands(fault);
      };
      const attempt = () => {
        let handler: WireHandler | undefined;
        let openedAt = Number.POSITIVE_INFINITY;
        let over = false;
        end = openOne(
          (wire) => {
            told = null;
            openedAt = performance.now();
            handler = accept(wire);
            return handler;
          },
          (error) => {
            if (over) return;
            over = true;
            end = undefined;
            if (handler !== undefined) stands({ is: meanwhile });
            if (error !== null) tell(error, handler !== undefined);
            handler?.closed();
            if (ended) return whenClosed?.();
            // A device that hangs up as soon as it is there is not dialled any faster than one that is not there.
            if (performance.now() - openedAt >= Math.min(retryMs.last, LASTING_MS)) failures = 0;
            retry = setTimeout(attempt, retryAfterMs(failures, retryMs, random));
            failures += 1;
          },
        );
      };
      stands({ is: meanwhile });
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
        // An opening that takes long is not waited for; what it opens is closed at once.
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

import tls from "node:tls";
import net from "node:net";
import { dialFault, type LineState, listenFault } from "../states/line-state.ts";
import type { Address } from "./address.ts";
import { OpenConnections } from "./open-connections.ts";
import {
  DIAL_RETRY,
  failureReports,
  OPENING_MS_MAX,
  type OpenWire,
  PORT_RETRY,
  reconnectingTransport,
} from "./reconnect.ts";
import { type Security, tlsServer } from "./tls.ts";
import { CLOSE_MS, type Transport, type Wire, type WireHandler } from "./transport.ts";

/** Open sockets of one listener. A device uses one, or two until the first is known to be dead. */
export const CONNECTIONS_MAX = 16;

const SOCKET = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 } as const;

/** Dials a device that is itself a server. `random` returns a number from 0 to 1 for the jitter of the delays. */
export function dialTransport(
  { host, port }: Address,
  security: Security | null = null,
  random: () => number = Math.random,
): Transport {
  let isReached = false;
  const dial: OpenWire = (opened, closed) => {
    const address = { host, port, ...SOCKET };
    const socket = security === null ? net.connect(address) : tls.connect({ ...address, ...security });
    let reason: Error | null = null;
    const timeout = setTimeout(
      () => socket.destroy(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" })),
      OPENING_MS_MAX,
    );
    isReached = false;
    socket.once("connect", () => (isReached = true));
    socket.on("error", (error) => (reason = error));
    socket.once("close", () => {
      clearTimeout(timeout);
      closed(reason);
    });
    socket.once(security === null ? "connect" : "secureConnect", () => {
      clearTimeout(timeout);
      serveSocket(socket, opened);
    });
    return () => socket.destroy();
  };
  const explain = (error: Error) => dialFault(host, port, error, isReached);
  return reconnectingTransport(dial, "connecting", explain, DIAL_RETRY, random);
}

/**
 * Listens for a device. Refuses addresses outside `allow` (CIDR; empty allows all) before any TLS. `connectionsMax` bounds the
 * open sockets without a message, and apart from them those with one: see OpenConnections.
 */
export function listenTransport(
  address: Address,
  allow: readonly string[],
  security: Security | null = null,
  connectionsMax = CONNECTIONS_MAX,
): Transport {
  const allowed = allow.length > 0 ? blockList(allow) : null;
  const server = net.createServer(SOCKET);
  let stopListening: (() => Promise<void>) | undefined;
  let connections: OpenConnections | null = null;
  return {
    open(accept, problem, stateChanged = () => undefined, addressRefused = () => undefined) {
      const open = new OpenConnections(connectionsMax, (gaveWay) => stateChanged({ is: "listening", gaveWay }));
      connections = open;
      const refused = oncePerChange(problem);
      const acceptSocket = (socket: net.Socket) => serveBounded(socket, open, accept);
      const secured = security === null ? null : tlsServer(security, acceptSocket, refused);
      server.on("connection", (socket) => {
        const from = socket.remoteAddress ?? "";
        if (allowed !== null && !allowed.check(from, familyOf(from))) {
          addressRefused(from);
          refused(
            `connection refused from ${from}, expected ${allow.join(", ")} as in allow: add the address if it is the device`,
          );
          socket.destroy();
          return;
        }
        const peer = peerOf(socket);
        const connection = { address: from, destroy: () => socket.destroy() };
        open.add(peer, connection);
        socket.once("close", () => open.remove(peer, connection));
        if (secured === null) acceptSocket(socket);
        else secured.emit("connection", socket);
      });
      stopListening = keepListening(server, address, problem, stateChanged);
    },
    async close() {
      const stopped = stopListening?.();
      connections?.destroyAll();
      await stopped;
    },
  };
}

/** Listens, and retries while the port is not available. @returns a function that ends it */
function keepListening(
  server: net.Server,
  { host, port }: Address,
  problem: (reason: string) => void,
  stateChanged: (state: LineState) => void,
): () => Promise<void> {
  let retry: NodeJS.Timeout | undefined;
  /** Called once the attempt under way is over; undefined between two attempts. */
  let settled: (() => void) | undefined;
  let attempt = Promise.resolve();
  let isStopped = false;
  const reports = failureReports((error) => listenFault(host, port, error), problem, stateChanged);
  const listen = () => {
    attempt = new Promise((resolve) => (settled = resolve));
    server.listen(port, host);
  };
  server.on("listening", () => {
    settled?.();
    if (isStopped) return;
    reports.reset();
    stateChanged({ is: "listening" });
  });
  server.on("error", (error) => {
    settled?.();
    if (isStopped) return;
    reports.report(error);
    retry = setTimeout(listen, PORT_RETRY.lastMs);
  });
  stateChanged({ is: "opening" });
  listen();
  return async () => {
    isStopped = true;
    clearTimeout(retry);
    // Node looks the address up first, and would open the port after a close that came earlier.
    await attempt;
    await new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
  };
}

/** Serves an accepted socket, and reports its traffic to the bound of the listener. */
function serveBounded(socket: net.Socket, open: OpenConnections, accept: (wire: Wire) => WireHandler): void {
  const peer = peerOf(socket);
  socket.on("data", () => open.heard(peer));
  const handler = serveSocket(socket, (wire) => accept({ ...wire, heardMessage: () => open.heardMessage(peer) }));
  socket.on("error", () => undefined); // "close" follows
  socket.once("close", () => handler.closed());
}

/** Connects an open socket to a handler. The caller reports the close of the socket. */
function serveSocket(socket: net.Socket, accept: (wire: Wire) => WireHandler): WireHandler {
  const handler = accept(socketWire(socket));
  socket.on("data", (chunk: Buffer) => handler.chunk(chunk));
  socket.once("end", () => {
    if (handler.ended === undefined) socket.end();
    else handler.ended();
  });
  return handler;
}

/** @returns a function that passes a reason on unless the previous one was the same */
function oncePerChange(problem: (reason: string) => void): (reason: string) => void {
  let last = "";
  return (reason) => {
    if (reason !== last) problem(reason);
    last = reason;
  };
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
      // An absent peer never confirms the FIN.
      setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

function blockList(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function familyOf(address: string): net.IPVersion {
  return address.includes(":") ? "ipv6" : "ipv4";
}

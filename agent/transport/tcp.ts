import tls from "node:tls";
import net from "node:net";
import { dialFault, faultText, listenFault } from "../states/line-state.ts";
import type { Address } from "./address.ts";
import { OpenConnections } from "./open-connections.ts";
import { DIAL_RETRY_MS, type Open, OPENING_MS_MAX, reopening, RETRY_MS } from "./reconnect.ts";
import { type Security, tlsServer } from "./tls.ts";
import { CLOSE_MS, type Transport, type Wire, type WireHandler } from "./transport.ts";

/** A device uses one socket, or two while the first is not known to be dead. Of more, the longest silent gives way. */
const CONNECTIONS_MAX = 16;

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

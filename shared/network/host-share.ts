import type { Server, Socket } from "node:net";
import { isLoopback, networkOf } from "./network-address.ts";

/**
 * Bounds the open connections of a server so that no host shuts the others out. At the bound a new connection takes the place of the
 * oldest one of the host that has most, and is closed itself if its own host has as many. This machine and its proxies,
 * get in as long as another host has a connection, and never give way.
 */
export function shareAmongHosts(
  server: Server,
  most: number,
  isProxy: (address: string) => boolean = () => false,
): void {
  /** The connections of each host in the order of their start. */
  const hosts = new Map<string, Set<Socket>>();
  let open = 0;

  function leave(host: string, socket: Socket): void {
    const ofHost = hosts.get(host);
    if (ofHost?.delete(socket) !== true) return;
    open -= 1;
    if (ofHost.size === 0) hosts.delete(host);
  }

  /** Closes a connection of the host that has most. @returns false if the newcomer's host has as many */
  function makeRoom(newcomer: string): boolean {
    let [host, sockets]: readonly [string, ReadonlySet<Socket>] = ["", new Set()];
    for (const [each, ofEach] of hosts)
      if (each !== OWN && ofEach.size > sockets.size) [host, sockets] = [each, ofEach];
    const own = newcomer === OWN ? 0 : (hosts.get(newcomer)?.size ?? 0) + 1;
    const [oldest] = sockets;
    if (oldest === undefined || sockets.size <= own) return false;
    leave(host, oldest);
    oldest.destroy();
    return true;
  }

  server.on("connection", (socket: Socket) => {
    const { remoteAddress: address = "", localAddress } = socket;
    const host = isProxy(address) || isLoopback(address) || address === localAddress ? OWN : networkOf(address);
    if (open >= most && !makeRoom(host)) return void socket.destroy();
    hosts.set(host, (hosts.get(host) ?? new Set()).add(socket));
    open += 1;
    socket.once("close", () => leave(host, socket));
  });
}

const OWN = "this machine";

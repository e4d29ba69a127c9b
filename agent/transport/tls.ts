import tls from "node:tls";
import type net from "node:net";
import { OPENING_MS_MAX } from "./reconnect.ts";

/** The TLS settings of a device, in PEM. */
export interface Security {
  readonly minVersion: "TLSv1.2";
  /** The certificate of the agent, and its private key. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /**
   * The authority of the devices' certificates. A listener with one requires a certificate of every device. A dialler without one
   * trusts the authorities of the system.
   */
  readonly ca?: Buffer;
}

/**
 * Runs the TLS handshake on sockets that another server emits to it. `accept` gets each socket after its handshake, `refused` the
 * reason of each failed one.
 */
export function tlsServer(
  security: Security,
  accept: (socket: net.Socket) => void,
  refused: (reason: string) => void,
): tls.Server {
  const server = tls.createServer({
    ...security,
    handshakeTimeout: OPENING_MS_MAX,
    requestCert: security.ca !== undefined,
  });
  server.on("secureConnection", accept);
  server.on("tlsClientError", (error, socket) => {
    const reason = socket.authorizationError ?? error.message.trim();
    refused(`TLS with ${socket.remoteAddress ?? "a refused device"}: ${reason}`);
    socket.destroy();
  });
  return server;
}

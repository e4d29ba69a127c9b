import tls from "node:tls";
import type net from "node:net";
import { OPENING_MS_MAX } from "./reconnect.ts";

/** What TLS needs, in PEM. */
export interface Security {
  readonly minVersion: "TLSv1.2";
  /** Ours, with the key that belongs to it. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** Who signs the devices' certificates. A listener then serves no device without one; a dialler without it trusts whom the system trusts. */
  readonly ca?: Buffer;
}

/** Takes the sockets that another server accepted; those that came through the handshake are handed on. */
export function tlsServer(
  security: Security,
  take: (socket: net.Socket) => void,
  tell: (reason: string) => void,
): tls.Server {
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

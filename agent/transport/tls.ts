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
    refused(`TLS with ${socket.remoteAddress ?? "a refused device"} failed: ${handshakeFault(error, socket)}`);
    socket.destroy();
  });
  return server;
}

/**
 * Describes what a device showed in place of a handshake or a certificate. The codes are from OpenSSL (SSL_R_*) and
 * X509_verify_cert.
 */
function handshakeFault({ code = "", message }: NodeJS.ErrnoException, { authorizationError }: tls.TLSSocket): string {
  const unsigned = String(authorizationError ?? "");
  if (unsigned !== "") return `its certificate is not valid here (${unsigned}), expected one that tls.ca signed`;
  switch (code) {
    case "ERR_SSL_HTTP_REQUEST":
    case "ERR_SSL_HTTPS_PROXY_REQUEST":
      return "it sent HTTP, expected TLS: compare the port with the settings of the other program";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_UNKNOWN_PROTOCOL":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "ERR_SSL_NO_PROTOCOLS_AVAILABLE":
      return "it sent plain bytes, expected TLS: switch TLS on at the device, or remove tls from agent.yaml";
    case "ERR_SSL_UNSUPPORTED_PROTOCOL":
      return "it offered a version of TLS before 1.2, expected TLS 1.2 or 1.3: update the device";
    case "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE":
      return "it showed no certificate, expected one that tls.ca signed: install it on the device";
    default:
      return message.trim();
  }
}

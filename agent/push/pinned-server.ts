import { X509Certificate } from "node:crypto";
import net from "node:net";
import tls from "node:tls";
import { pinOf } from "../../shared/network/public-key-pin.ts";
import { SendError } from "../runtime/send-error.ts";

// A server whose certificate no authority of this PC knows. Pairing proved its public key, and from then on the agent accepts exactly
// that one: as the server's authority, so that a renewed certificate of it needs nothing, or as the certificate itself.

/** Max time for the handshake of a look. */
const LOOK_MS = 10_000;

/** Codes of OpenSSL for a chain whose last authority this PC does not know. */
const UNKNOWN = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

export interface Presented {
  /** The certificates that the server sends, its own one first. */
  readonly chain: readonly X509Certificate[];
  /** Whether an authority of this PC is missing, and nothing else is wrong. */
  readonly isUnknown: boolean;
}

/** Whether a request failed because the chain of the server ends at another authority. */
export function isUnknownAuthority(error: unknown): boolean {
  return error instanceof Error && "code" in error && UNKNOWN.test(String(error.code));
}

/**
 * Returns the unverified certificates of a server. It uses no proxy: such a server is in the clinic's network.
 * @throws an error of the connection
 */
export function lookAt(url: string): Promise<Presented> {
  const { hostname, port } = new URL(url);
  const host = hostname.replaceAll(/[[\]]/g, "");
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port: Number(port || 443), ...servername, rejectUnauthorized: false });
    socket.setTimeout(LOOK_MS, () => socket.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })));
    socket.on("error", reject);
    socket.once("secureConnect", () => {
      const isUnknown = !socket.authorized && UNKNOWN.test(String(socket.authorizationError));
      resolve({ chain: chainOf(socket), isUnknown });
      socket.destroy();
    });
  });
}

/** The pin of a server: the last certificate that it sends, which is its authority if it has one. @returns null without any */
export function pinOfServer({ chain }: Presented): string | null {
  const last = chain.at(-1);
  return last === undefined ? null : pinOf(last);
}

/**
 * Finds the pinned certificate in the server's chain, for requests that trust it alone. @returns PEM @throws SendError with
 * what was got and expected if the server sends another one @throws an error of the connection
 */
export async function pinnedCertificate(url: string, pin: string): Promise<Buffer> {
  const { chain } = await lookAt(url);
  const pinned = chain.find((certificate) => pinOf(certificate) === pin);
  if (pinned !== undefined) return Buffer.from(pinned.toString());
  const got = chain.map(pinOf).join(", ") || "none";
  throw new SendError(
    "transient",
    `another certificate than that of the paired server came from ${new URL(url).host}: its public key is ${got}, expected ${pin}. ` +
      "If the server was set up anew, pair this PC again with a code of its dashboard; otherwise another machine answers in its place",
  );
}

function chainOf(socket: tls.TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: tls.DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  // A certificate that signs itself names itself as its issuer. Node returns an empty object without any.
  while (next?.raw !== undefined && chain.at(-1)?.fingerprint256 !== next.fingerprint256) {
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}

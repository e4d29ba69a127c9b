import { ProxyError } from "../../shared/network/proxy.ts";
import { isUnknownAuthority } from "./pinned-server.ts";
import type { SendError } from "../runtime/send-error.ts";

// Failures of a pairing, each with what to do.

/** The answer that a person has to correct. `none`: the answers were right. */
export type WrongAnswer = "code" | "server" | "key file" | "none";

export class PairingError extends Error {
  readonly answer: WrongAnswer;

  constructor(answer: WrongAnswer, message: string) {
    super(message);
    this.answer = answer;
  }
}

/** Faults of certificates, by the error of OpenSSL or Node. */
const certificateFaults: readonly [(error: unknown) => boolean, (now: Date) => string][] = [
  [
    hasCode(/CERT_NOT_YET_VALID|CERT_HAS_EXPIRED/),
    (now) =>
      `the server's certificate is not valid at this PC's time, ${now.toISOString()}: set the clock of this PC, or renew the certificate`,
  ],
  [
    hasCode(/ALTNAME_INVALID/),
    () => "the server's certificate is for another name: use the name in the address that opens the dashboard",
  ],
  [
    isUnknownAuthority,
    () =>
      "this PC does not know the authority of the server's certificate: name its file in the environment variable NODE_EXTRA_CA_CERTS, or as ca in agent.yaml",
  ],
];

function hasCode(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Error && "code" in error && pattern.test(String(error.code));
}

/** Puts the failure of the request into words. */
export function pairingFault(error: SendError, server: string, now: Date): PairingError {
  const { envelope, status, message, cause, fault } = error;
  if (cause instanceof ProxyError) return new PairingError("none", cause.message);
  if (envelope?.code === "PAIRING.OTHER_CERTIFICATE") return new PairingError("server", envelope.message);
  if (envelope?.code.startsWith("PAIRING.")) return new PairingError("code", envelope.message);
  if (envelope?.code === "ROUTE.NOT_FOUND") return notForAgents(server);
  if (envelope !== null) return new PairingError("none", envelope.message);
  const certificate = certificateFaults.find(([applies]) => applies(cause));
  if (certificate !== undefined) return new PairingError("server", certificate[1](now));
  if (fault === "SPEAKS_TLS" || fault === "NO_TLS") return new PairingError("server", message);
  if (status !== null || fault === "TOO_LONG") return notVetwire(server);
  const remedy = "check the address and the network, and that the server runs, then try again with the same code";
  return new PairingError("server", `${message}: ${remedy}`);
}

/** A proxy with a wrong path and a server without pairing both respond 404, so the sentence names both remedies. */
function notForAgents(server: string): PairingError {
  const address = "compare the address with the one that opens the dashboard, without the part after the host and port";
  const older =
    "if it is right, the server is too old for codes: update it, or make a key at its dashboard under Settings, Developer, API keys";
  return new PairingError("server", `the server has nothing for agents at ${server}: ${address}; ${older}`);
}

/** The responding machine has a certificate that the dashboard's server did not confirm with the code. */
export function unproven(server: string, pin: string): PairingError {
  const remedy = "compare the address with the one that the dashboard shows, and ask who set up the network";
  return new PairingError(
    "server",
    `${server} has a certificate with the public key ${pin}, and does not know the code: another machine answers in the server's place: ${remedy}`,
  );
}

export function notVetwire(server: string): PairingError {
  const remedy = "use the address that opens the dashboard in a browser";
  return new PairingError("server", `another program than a Vetwire server answered at ${server}: ${remedy}`);
}

import dns from "node:dns";
import fs from "node:fs";
import net from "node:net";
import tls from "node:tls";
import type { Finding } from "../../page/types/doctor.ts";
import { currentProxy, trusted } from "../../../shared/network/client.ts";
import { isNoTls } from "../../../shared/network/connection-fault.ts";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { pinnedCertificate } from "../../push/pinned-server.ts";
import { ok, problem, warning } from "../check/finding.ts";

// The way to the server, step by step: its name, its port, its certificate. No key leaves this machine.

/** Max wait for each step. */
const STEP_MS = 5_000;
/** Time before the end of a certificate from which it is reported. */
const CERTIFICATE_MS = 14 * 24 * 60 * 60_000;

/** The server is reachable, or the finding explains why not. */
export type Way = { readonly is: "open" | "closed"; readonly found: readonly Finding[] };

/** Tries the way to a server. With a pin its certificate is the pairing's, or another machine responds. */
export async function tryWay(text: string, pin?: string): Promise<Way> {
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  // The proxy looks the name up and connects, so that this machine alone may be unable to. Another check judges its setting.
  if (isProxied(url)) return { is: "open", found: [] };
  const unknown = await nameFault(host);
  if (unknown !== null) return { is: "closed", found: [unknown] };
  const refused = await portFault(host, port);
  if (refused !== null) return { is: "closed", found: [refused] };
  if (url.protocol !== "https:") return { is: "open", found: [] };
  return pin === undefined ? tryTls(host, port) : tryPin(text, pin);
}

async function tryPin(url: string, pin: string): Promise<Way> {
  try {
    await pinnedCertificate(url, pin);
    return { is: "open", found: [ok("server.pinned", "the server has the certificate of the pairing")] };
  } catch (error) {
    const remedy = "if the server was set up anew, pair this PC again; otherwise ask who set up the network";
    return { is: "closed", found: [problem("server.other-certificate", errorMessage(error), remedy)] };
  }
}

function isProxied(url: URL): boolean {
  try {
    return currentProxy(url) !== null;
  } catch {
    return true;
  }
}

async function nameFault(host: string): Promise<Finding | null> {
  try {
    await withinStep(dns.promises.lookup(host));
    return null;
  } catch (error) {
    const code = errorCode(error);
    const isUnknown = code === "ENOTFOUND";
    return problem(
      isUnknown ? "server.unknown-name" : "server.no-names",
      isUnknown ? `no machine has the name ${host}` : `the name ${host} cannot be looked up: ${code || "no answer"}`,
      isUnknown
        ? "compare server.url in agent.yaml with the address of the dashboard"
        : "look whether this machine is in the network and has a name server (DNS), or write an address in server.url",
    );
  }
}

async function withinStep<Value>(promise: Promise<Value>): Promise<Value> {
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error("no answer"), { code: "ETIMEDOUT" });
    setTimeout(() => reject(error), STEP_MS).unref();
  });
  return Promise.race([promise, late]);
}

function portFault(host: string, port: number): Promise<Finding | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: STEP_MS });
    const end = (finding: Finding | null) => {
      socket.destroy();
      resolve(finding);
    };
    socket.once("connect", () => end(null));
    socket.once("timeout", () => end(connectFault(host, port, "ETIMEDOUT")));
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => end(connectFault(host, port, code)));
  });
}

function connectFault(host: string, port: number, code: string): Finding {
  switch (code) {
    case "ECONNREFUSED":
      return problem(
        "server.refused",
        `no program listens at ${host}:${port}`,
        `start the server there, or correct the port ${port} in server.url`,
      );
    case "ETIMEDOUT":
      return problem(
        "server.timeout",
        `${host}:${port} does not answer`,
        `look whether the server is on, and let its firewall accept port ${port}`,
      );
    default:
      return problem(
        "server.no-route",
        `there is no way to ${host}:${port}: ${code || "no route"}`,
        "plug the network cable in or join the Wi-Fi, and compare the address in server.url",
      );
  }
}

/** Makes the handshake without trust, so that a wrong certificate can be shown. The client of the agent never does. */
function tryTls(host: string, port: number): Promise<Way> {
  return new Promise((resolve) => {
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    const socket = tls.connect({
      host,
      port,
      ...servername,
      ...trusted(),
      rejectUnauthorized: false,
      timeout: STEP_MS,
    });
    const end = (way: Way) => {
      socket.destroy();
      resolve(way);
    };
    socket.once("secureConnect", () => end(certificateWay(socket, host)));
    const failed = (error: NodeJS.ErrnoException) => end({ is: "closed", found: [handshakeFault(host, port, error)] });
    socket.once("timeout", () => failed(new Error("no answer")));
    socket.on("error", failed);
  });
}

function handshakeFault(host: string, port: number, { code = "", message }: NodeJS.ErrnoException): Finding {
  if (isNoTls(code)) {
    const remedy = "write http:// in place of https:// in server.url, or give the server a certificate";
    return problem("server.no-tls", `the server at ${host}:${port} does not speak TLS`, remedy);
  }
  const remedy = "look at the log of the server: it must speak TLS 1.2 or later at this port";
  return problem("server.handshake", `the TLS handshake with ${host}:${port} failed: ${message}`, remedy);
}

function certificateWay(socket: tls.TLSSocket, host: string): Way {
  const { subjectaltname = "", valid_from: from, valid_to: to } = socket.getPeerCertificate();
  if (!socket.authorized) {
    const fault = certificateFault(String(socket.authorizationError), { host, names: subjectaltname, from, to });
    return { is: "closed", found: [fault] };
  }
  const isEnding = Date.parse(to) - Date.now() < CERTIFICATE_MS;
  const soon = `the server's certificate ends ${day(to)}`;
  const remedy = "renew the certificate at the server before that day";
  return {
    is: "open",
    found: isEnding ? [warning("server.certificate-ends", soon, remedy)] : [ok("server.tls", "TLS is right")],
  };
}

interface Certificate {
  readonly host: string;
  readonly names: string;
  readonly from: string;
  readonly to: string;
}

function certificateFault(code: string, { host, names, from, to }: Certificate): Finding {
  switch (code) {
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const known = names.replaceAll(/(DNS|IP Address):/g, "") || "no name";
      const remedy = `write a name of the certificate in server.url, or get a certificate for ${host}`;
      return problem("server.wrong-name", `the server's certificate is for ${known}, not for ${host}`, remedy);
    }
    case "CERT_HAS_EXPIRED": {
      const remedy = "renew the certificate at the server; if the day is wrong, set the clock of this machine";
      return problem("server.expired", `the server's certificate ended ${day(to)}`, remedy);
    }
    case "CERT_NOT_YET_VALID": {
      const remedy = "set the clock of this machine; if it is right, get a certificate that is valid now";
      return problem("server.not-yet-valid", `the server's certificate begins ${day(from)}`, remedy);
    }
    default:
      return problem(
        "server.unknown-authority",
        `this machine does not know who signed the server's certificate (${code})`,
        authorityRemedy(),
      );
  }
}

/** Node ignores a file that it cannot read. */
export function authorityRemedy(): string {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (file === undefined || file === "") {
    return "take the certificate of the authority, and name its file as ca in agent.yaml, or start the agent with NODE_EXTRA_CA_CERTS=FILE of it";
  }
  return fs.existsSync(file)
    ? `NODE_EXTRA_CA_CERTS names ${file}: put the certificate of the server's authority into it`
    : `NODE_EXTRA_CA_CERTS names ${file}, which does not exist: correct the name`;
}

function day(time: string): string {
  return new Date(time).toISOString().slice(0, 10);
}

import type Database from "better-sqlite3";
import { currentProxy } from "../../../shared/network/client.ts";
import { ProxyError } from "../../../shared/network/proxy.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { isWellFormedKey } from "../../../shared/runtime/api-key.ts";
import type { Config } from "../../config/values/schema.ts";
import { readSecret } from "../../config/values/secret-file.ts";
import { clockFault, ClockWatch, isClockWrong } from "../../push/clock-watch.ts";
import { isUnknownAuthority } from "../../push/pinned-server.ts";
import { createServerClient, type ServerClient } from "../../push/server-client.ts";
import { dayOf } from "../../report/device-time.ts";
import { SendError } from "../../runtime/send-error.ts";
import { readSpool } from "../../spool/access.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";
import { authorityRemedy, tryWay } from "./server-network.ts";

// The server, the key of the agent, and the clock. The requests are the agent's own, and change nothing.

/** Max wait for a response. */
const ANSWER_MS = 8_000;

export const server = configCheck("server", "Server, key and clock", async (config, { isOffline }) => {
  if (isOffline) return [skipped("server.offline", "not asked, because of --offline")];
  const { url, keyFile, pin } = config.server;
  const way = await tryWay(url, pin);
  if (way.is === "closed") return way.found;
  let offsetS: number | null = null;
  const clock = new ClockWatch({ changed: (changed) => (offsetS = changed), isWrong: () => undefined });
  const client = createServerClient(
    url,
    () => readSecret(keyFile),
    ANSWER_MS,
    (exchange) => clock.heard(exchange),
    pin,
  );
  const answered = await askServer(client, config);
  return [...way.found, ...answered, ...clockFindings(offsetS)];
});

async function askServer(client: ServerClient, config: Config): Promise<Finding[]> {
  const { url } = config.server;
  try {
    const ranges = await client.get("/agent/v1/ranges");
    if (ranges === null) return [oldServer(url)];
    if (!isEnvelope(ranges)) return [stranger(url, "its answer is not one of Vetwire")];
  } catch (error) {
    return [serverFault(error, url, config.server.keyFile)];
  }
  const found = [ok("server.reached", `${new URL(url).origin} is a Vetwire server and takes the key`)];
  const others = [
    await askPatients(client, config),
    await askAppointments(client, config),
    await askCodes(client, url),
  ];
  return [...found, ...others.flat()];
}

/** The routes that an agent of this version needs, and an older server lacks. */
async function askCodes(client: ServerClient, url: string): Promise<Finding[]> {
  try {
    return (await client.get("/agent/v1/codes")) === null ? [oldServer(url)] : [];
  } catch (error) {
    return [serverFault(error, url, "")];
  }
}

async function askPatients(client: ServerClient, { server: { url, keyFile }, data }: Config): Promise<Finding[]> {
  try {
    const body = await client.get("/api/v1/patients?page=1&page_size=100");
    return otherClinic(patientsIn(body), data);
  } catch (error) {
    return [serverFault(error, url, keyFile)];
  }
}

async function askAppointments(client: ServerClient, { server: { url, keyFile }, timeZone }: Config) {
  const { from, to } = dayOf(Date.now(), timeZone);
  const query = new URLSearchParams({ start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString() });
  try {
    await client.get(`/api/v1/calendar/events?${query.toString()}`);
    return [];
  } catch (error) {
    const fault = serverFault(error, url, keyFile);
    // Results need no appointments.
    return [{ ...fault, status: "warning" as const }];
  }
}

function patientsIn(body: unknown): string[] {
  const { data } = (body ?? {}) as { data?: { items?: readonly { fp?: unknown }[] } };
  return (data?.items ?? []).flatMap(({ fp }) => (typeof fp === "string" ? [fp] : []));
}

/** The data folder has the patients of the clinic whose key was used before. */
function otherClinic(fps: readonly string[], data: string): Finding[] {
  const known = (db: Database.Database) => {
    const isKnown = db.prepare("SELECT 1 FROM patient WHERE fp = ?");
    const stored = db.prepare("SELECT COUNT(*) FROM patient").pluck().get() as number;
    return stored === 0 || fps.length === 0 || fps.some((fp) => isKnown.get(fp) !== undefined);
  };
  try {
    if (readSpool(data, known)) return [];
  } catch {
    return []; // the agent has not run yet
  }
  const sentence = "the key is of another clinic than the patients in the data folder";
  const remedy = "take a key of this clinic, or name a new data folder in agent.yaml for the other clinic";
  return [problem("key.other-clinic", sentence, remedy)];
}

function isEnvelope(body: unknown): boolean {
  return typeof body === "object" && body !== null && "success" in body;
}

function oldServer(url: string): Finding {
  const { pathname } = new URL(url);
  if (pathname !== "/") {
    const remedy = `write server.url without ${pathname}: ${new URL(url).origin}`;
    return problem("server.path", `the server has nothing for agents at ${pathname}`, remedy);
  }
  const remedy = "update the server to the version of this agent or a later one";
  return problem("server.old", "the server is older than this agent, and lacks what it asks for", remedy);
}

function stranger(url: string, why: string): Finding {
  const remedy = "compare server.url with the address of the dashboard, without the part behind the host and port";
  return problem("server.stranger", `the program at ${new URL(url).origin} is no Vetwire server: ${why}`, remedy);
}

/** Turns the failure of a request into a finding. */
function serverFault(error: unknown, url: string, keyFile: string): Finding {
  if (!(error instanceof SendError)) {
    return problem("server.fault", `the server cannot be asked: ${errorMessage(error)}`, "look at the server's log");
  }
  const { status, kind, message, cause, fault } = error;
  if (cause instanceof ProxyError) {
    return problem("server.proxy", cause.fault, cause.remedy ?? "correct the proxy");
  }
  if (isUnknownAuthority(cause)) return signedAnew(url);
  if (kind === "unauthorized") return status === 403 ? missingPermission(error) : wrongKey(status, message, keyFile);
  if (fault === "SPEAKS_TLS") {
    const remedy = "write https:// in place of http:// in server.url";
    return problem("server.speaks-tls", `the server at ${new URL(url).host} speaks TLS`, remedy);
  }
  if (fault === "NOT_JSON") return stranger(url, "its answer is a page, or no JSON");
  if (status === null) {
    const remedy = "look whether the server works, and whether a proxy or a firewall stands before it";
    return problem("server.no-answer", message, remedy);
  }
  if (status === 429) {
    const remedy = "wait a minute, then run the doctor again: another agent with the same key may ask too much";
    return warning("server.rate-limited", "the server refuses further requests of this key for now", remedy);
  }
  if (status >= 500) {
    const remedy = "look at the log of the server; behind a proxy, look whether the server runs";
    return problem("server.fails", message, remedy);
  }
  if (status >= 300 && status < 400) {
    const remedy = "write the address to which it redirects in server.url, usually https:// in place of http://";
    return problem("server.redirects", "the server redirects requests to another address", remedy);
  }
  return stranger(url, `it answered ${status}`);
}

/** Only a proxy gets here: without one, the way to the server finds this before. */
function signedAnew(url: string): Finding {
  const by = currentProxy(new URL(url))?.name ?? "another machine";
  const sentence = `this machine does not know who signed the certificate that comes through the proxy ${by}: many sign anew`;
  return problem("server.unknown-authority", sentence, authorityRemedy());
}

function wrongKey(status: number | null, message: string, keyFile: string): Finding {
  if (status === null) return problem("key.unreadable", message, `write the key into ${keyFile}, in one line`);
  if (!isWellFormedKey(readSecret(keyFile))) {
    const remedy = `copy the whole key again into ${keyFile}, in one line, or pair the agent anew`;
    return problem("key.damaged", "the key is not whole: a character is missing or wrong", remedy);
  }
  const sentence = "the server does not accept the key: it is unknown, revoked or has ended";
  const remedy = `pair the agent anew, or make a key at the dashboard under Settings, Developer, API Keys, and write it into ${keyFile}`;
  return problem("key.refused", sentence, remedy);
}

function missingPermission({ envelope }: SendError): Finding {
  const needed = envelope?.required?.join(" or ") ?? "a permission";
  const all = "clinic.lab.ingest, clinic.patient.view and clinic.calendar.view";
  const remedy = `make a key with ${all} at the dashboard under Settings, Developer, API Keys, and write it into the key file`;
  return problem(
    "key.permission",
    envelope?.required == null ? "the key lacks a permission" : `the key lacks the permission ${needed}`,
    remedy,
  );
}

function clockFindings(offsetS: number | null): Finding[] {
  if (offsetS === null) return [skipped("clock.unknown", "the server told no time")];
  if (!isClockWrong(offsetS)) return [ok("clock.right", "the clock agrees with the server's")];
  const { fault: sentence, remedy } = clockFault(offsetS);
  const command = process.platform === "win32" ? "w32tm /resync" : "timedatectl set-ntp true";
  return [problem("clock.wrong", sentence, `${remedy}; to follow the time of the internet: ${command}`)];
}

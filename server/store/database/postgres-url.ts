// Database URLs with one or several hosts, by the rules of libpq. node-postgres reads one host alone.

/** Which nodes of a cluster a URL asks for, in libpq's words. */
const TARGETS = ["any", "read-write", "primary", "read-only", "standby", "prefer-standby"] as const;
export type Target = (typeof TARGETS)[number];

export interface DatabaseUrl {
  /** A URL for each host, in the order of the hosts. */
  readonly hosts: readonly string[];
  /** Null if the URL does not say. */
  readonly target: Target | null;
  /** Max time for a connection in milliseconds. Null if the URL does not say. */
  readonly connectMs: number | null;
}

/** Parameters that say which host to take, and how. node-postgres knows none of them for a list of hosts. */
const OURS = ["host", "port", "target_session_attrs", "connect_timeout", "load_balance_hosts"];

const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** Reads a URL. @throws Error that quotes no part of it, because any part of a malformed URL may be the password */
export function readDatabaseUrl(url: string, variable: string): DatabaseUrl {
  const [, scheme, user, authority = "", path = "", query = ""] = PARTS.exec(url) ?? [];
  if (scheme === undefined) throw invalidUrl(variable);
  const parameters = query.split("&").filter((parameter) => parameter !== "");
  const given = (name: string) => valueOf(parameters, name, variable);
  const kept = parameters.filter((parameter) => !OURS.includes(parameter.replace(/=.*/, "")));
  const tail = `${path}${kept.length > 0 ? `?${kept.join("&")}` : ""}`;
  const hosts = given("host") === null ? authority.split(",") : listedHosts(given("host"), authority);
  const ports = given("port")?.split(",") ?? [];
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new Error(
      `${variable} is invalid, expected one port for all hosts or one for each, got ${ports.length} for ${hosts.length}`,
    );
  }
  return {
    hosts: hosts.map((host, index) => {
      const port = ports.length > 1 ? ports[index] : ports[0];
      const at = port === undefined || port === "" ? host : `${host.replace(/:\d*$/, "")}:${port}`;
      if (!/^(\[[\d.:a-f]+\]|[^:[\]]*)(:\d{1,5})?$/i.test(at)) throw invalidUrl(variable);
      return `${scheme}${user === undefined ? "" : `${user}@`}${at}${tail}`;
    }),
    target: targetOf(given("target_session_attrs"), variable),
    connectMs: millisecondsOf(given("connect_timeout"), variable),
  };
}

/** Hosts of the parameter `host`. A folder of a Unix socket is encoded, because a URL ends its host at a slash. */
function listedHosts(list: string | null, authority: string): string[] {
  const port = /:\d+$/.exec(authority)?.[0] ?? "";
  return (list ?? "").split(",").map((host) => {
    if (host.startsWith("/")) return `${encodeURIComponent(host)}${port}`;
    return `${host.includes(":") ? `[${host}]` : encodeURIComponent(host)}${port}`;
  });
}

/** The last value of a parameter wins, as in libpq. */
function valueOf(parameters: readonly string[], name: string, variable: string): string | null {
  const found = parameters.findLast((parameter) => parameter.startsWith(`${name}=`));
  if (found === undefined) return null;
  try {
    return decodeURIComponent(found.slice(name.length + 1));
  } catch {
    throw invalidUrl(variable);
  }
}

function targetOf(value: string | null, variable: string): Target | null {
  const target = TARGETS.find((known) => known === value);
  if (value !== null && target === undefined) {
    throw new Error(`${variable} is invalid, expected target_session_attrs=${TARGETS.join("|")}, got another value`);
  }
  return target ?? null;
}

/** libpq counts seconds, and takes 0 for no limit. A server without a limit would hang, so that 0 is the default here. */
function millisecondsOf(value: string | null, variable: string): number | null {
  if (value === null) return null;
  if (!/^\d{1,4}$/.test(value)) {
    throw new Error(`${variable} is invalid, expected connect_timeout in seconds, got another value`);
  }
  return Number(value) === 0 ? null : Number(value) * 1000;
}

export function invalidUrl(variable: string): Error {
  return new Error(`${variable} is invalid, expected a URL such as postgres://user:password@host:5432/database`);
}

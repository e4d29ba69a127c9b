import { type Advised, advisedText } from "../runtime/advised.ts";
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import { connectionFault } from "./connection-fault.ts";
import { errorMessage } from "../runtime/error-message.ts";

// Which requests go through a proxy, and the faults of one in words. No sentence holds its user or password.

/** The text of a setting, and the name by which a person finds it. */
export interface ProxySetting {
  readonly text: string;
  readonly source: string;
}

export interface ProxySettings {
  /** For http:// and for https:// targets; null for a direct connection. */
  readonly http: ProxySetting | null;
  readonly https: ProxySetting | null;
  /** Targets without a proxy, in the forms of NO_PROXY. */
  readonly except: string;
  /** Reads the password of the settings' user; null if the texts hold it. @throws Error if its file cannot be read */
  readonly password: (() => string) | null;
}

export interface Proxy {
  readonly url: URL;
  /** Host and port, for sentences. */
  readonly name: string;
  readonly source: string;
  /** Value of Proxy-Authorization; null for a proxy without a user. */
  readonly authorization: string | null;
}

/** A proxy did not deliver a request, or its response. */
export class ProxyError extends Error implements Advised {
  readonly fault: string;
  readonly remedy: string | null;
  /** The request may have reached its target. */
  readonly isSent: boolean;

  constructor(fault: string, remedy: string | null, isSent = false) {
    super(advisedText({ fault, remedy }));
    this.fault = fault;
    this.remedy = remedy;
    this.isSent = isSent;
  }
}

/** Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY. As in curl, lower case goes before upper case, and an empty text counts as unset. */
export function environmentProxies(env: NodeJS.ProcessEnv): ProxySettings {
  const read = (name: string): ProxySetting | null => {
    const source = [name, name.toUpperCase()].find((each) => env[each]);
    return source === undefined ? null : { text: env[source] ?? "", source };
  };
  const except = read("no_proxy")?.text ?? "";
  return { http: read("http_proxy"), https: read("https_proxy"), except, password: null };
}

/** @returns null for a direct connection, as to this machine @throws ProxyError for a setting that names no proxy */
export function proxyFor(target: URL, settings: ProxySettings): Proxy | null {
  const setting = target.protocol === "https:" ? settings.https : settings.http;
  if (setting === null || isExempt(target, `${THIS_MACHINE} ${settings.except}`)) return null;
  const url = readProxyUrl(setting.text);
  if (typeof url === "string") throw new ProxyError(`${setting.source} ${url}`, null);
  const name = `${url.hostname}:${portOf(url)}`;
  const { source } = setting;
  try {
    return { url, name, source, authorization: authorizationOf(url, settings.password) };
  } catch (error) {
    throw new ProxyError(`the password of the proxy ${name} cannot be read: ${errorMessage(error)}`, null);
  }
}

/** Reads `http://user@host:port`; a text without a scheme is http. @returns what is wrong, without the text */
export function readProxyUrl(text: string): URL | string {
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (url === null || url.hostname === "") return "names no proxy, expected such as http://proxy.example:3128";
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  return `names a proxy of ${url.protocol}//, expected http:// or https://`;
}

function authorizationOf({ username, password }: URL, read: (() => string) | null): string | null {
  if (username === "") return null;
  const secret = read?.() ?? decoded(password);
  return `Basic ${Buffer.from(`${decoded(username)}:${secret}`).toString("base64")}`;
}

/** A password with a bare % is not percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const THIS_MACHINE = "localhost 127.0.0.0/8 ::1 0.0.0.0";

/**
 * Whether a list of NO_PROXY names the target: `*`, an address, a network (10.0.0.0/8), or a domain with all names below it
 * (`example.com`, `.example.com` and `*.example.com` are the same, as in curl). Each may end with a port. No name is looked up.
 */
function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.replace(/^\[|\]$|\.$/g, "");
  const entries = list.toLowerCase().split(/[\s,;]+/);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const [, v6, plain = entry, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
    if (port !== undefined && port !== portOf(target)) return false;
    const name = v6 ?? plain;
    if (isIP(host) !== 0) return isInNetwork(host, name);
    const domain = name.replace(/^\*?\./, "");
    return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
  });
}

function isInNetwork(host: string, network: string): boolean {
  const [address = "", bits] = network.split("/");
  const version = isIP(address);
  const whole = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? whole : Number(bits);
  if (version === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > whole) return false;
  const list = new BlockList();
  list.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  return list.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
}

/** @returns the port of a URL, which its scheme may imply */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/**
 * Whether the proxy of plain http responded. Squid reports a target that it does not reach by 503 and a page; Vetwire's 503 is
 * JSON.
 */
export function isOfProxy(status: number, headers: IncomingHttpHeaders): boolean {
  const isPage = headers["content-type"]?.startsWith("text/html") === true;
  return status === 407 || status === 502 || status === 504 || (status === 503 && isPage);
}

/** The proxy responded in place of the target. */
export function proxyRefusal(proxy: Proxy, target: string, status: number, headers: IncomingHttpHeaders): ProxyError {
  const { name } = proxy;
  switch (status) {
    case 407:
      return passwordFault(proxy, headers["proxy-authenticate"] ?? "");
    case 403:
      return new ProxyError(`the proxy ${name} forbids the way to ${target} (403)`, "ask its operator to allow it");
    case 502:
    case 503:
    case 504: {
      const remedy = "check that address, and whether the proxy reaches it";
      return new ProxyError(`the proxy ${name} got no response from ${target} (${status})`, remedy, true);
    }
    default:
      return new ProxyError(
        `the proxy ${name} responded ${status} for ${target}`,
        `check whether ${proxy.source} names a proxy`,
      );
  }
}

function passwordFault({ name, source, authorization }: Proxy, offered: string): ProxyError {
  if (offered !== "" && !/\bbasic\b/i.test(offered)) {
    const remedy = "let its operator allow this machine without one";
    return new ProxyError(`the proxy ${name} wants a sign-in other than Basic (407)`, remedy);
  }
  return authorization === null
    ? new ProxyError(`the proxy ${name} wants a user and a password (407)`, `add them to ${source}`)
    : new ProxyError(`the proxy ${name} refuses the user or the password (407)`, `correct them in ${source}`);
}

/** The connection to the proxy failed. @param isSent the proxy had taken the request */
export function proxyFault({ name, source }: Proxy, error: Error, isSent: boolean): ProxyError {
  const remedy = `check that it runs, and its address in ${source}`;
  return new ProxyError(`the proxy ${name} cannot be used, ${connectionFault(error)}`, remedy, isSent);
}

/** Nothing came back. @param isSent the proxy had taken the request */
export function proxySilence({ name, source }: Proxy, target: string, ms: number, isSent: boolean): ProxyError {
  const remedy = `check that it works and reaches that address, and its own address in ${source}`;
  return new ProxyError(`the proxy ${name} brought no response of ${target} within ${seconds(ms)} s`, remedy, isSent);
}

function seconds(ms: number): number {
  return ms < 1000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000);
}

import type { LookupAddress } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { isIP, isIPv6 } from "node:net";
import { pipeline } from "node:stream/promises";
import tls from "node:tls";
import { urlToHttpOptions } from "node:url";
import { firstFault, isUnreached } from "./connection-fault.ts";
import {
  environmentProxies,
  isOfProxy,
  portOf,
  type Proxy,
  ProxyError,
  proxyFault,
  proxyFor,
  proxyRefusal,
  type ProxySettings,
  proxySilence,
} from "./proxy.ts";

// The HTTP client of both programs: every request that leaves goes through `sendRequest`, which owns each error of its
// connection, also a late one. Node's own `proxyEnv` is absent before Node 22.21 and 24.5, puts the proxy's password into its
// error, and reads a proxy's response without a bound.

/** How requests leave this machine. One for the process. */
export interface Network {
  readonly proxies: ProxySettings;
  /** Certificates in PEM that are trusted in addition to Node's; null for none. */
  readonly ca: string | null;
}

export interface HttpRequest {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  /** The bytes, or a function that starts to read them. */
  readonly body?: Uint8Array | (() => AsyncIterable<Uint8Array>) | undefined;
  /** Ends the request and the response with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Max time without any transfer, in ms. */
  readonly idleMs?: number;
  /** Addresses that were checked: the connection goes to one of them, also through a proxy, and is not kept. */
  readonly addresses?: readonly LookupAddress[];
  /** Certificate of the target's authority in PEM, in place of the known ones. */
  readonly ca?: Buffer | undefined;
}

/** Max time for a proxy to open its way to a target. */
const PROXY_MS = 15_000;
/** Time for which an unused connection is kept. Node closes its own at 5 s, before most servers do. */
const KEEP_MS = 5_000;

let network: Network = { proxies: environmentProxies(process.env), ca: null };
let trust: { readonly secureContext?: tls.SecureContext } = {};
/** One agent for each scheme and proxy. */
const agents = new Map<string, http.Agent>();

/** Sets how later requests leave. Requests under way keep theirs. */
export function useNetwork(next: Network): void {
  // Parsed once: it takes milliseconds.
  const secureContext = () => tls.createSecureContext({ ca: [...tls.getCACertificates("default"), next.ca ?? ""] });
  trust = next.ca === null ? {} : { secureContext: secureContext() };
  network = next;
  agents.clear();
}

/** @returns the proxy of a target; null for a direct connection @throws ProxyError for a setting that names no proxy */
export function currentProxy(target: URL): Proxy | null {
  return proxyFor(target, network.proxies);
}

/** @returns what TLS connections trust in addition to the authorities that Node knows */
export function trusted(): Pick<tls.ConnectionOptions, "secureContext"> {
  return trust;
}

/**
 * Sends a request. @returns the response once its head is there; who does not read it to the end destroys it
 * @throws ProxyError if a proxy did not let it through @throws the error of the network, the reason of the signal, or a TimeoutError
 */
export async function sendRequest(url: URL, options: HttpRequest = {}): Promise<http.IncomingMessage> {
  const { body, signal, idleMs } = options;
  signal?.throwIfAborted();
  const proxy = currentProxy(url);
  const isForwarded = proxy !== null && url.protocol === "http:" && options.addresses === undefined;
  const request = isForwarded ? forwarded(url, proxy, options) : direct(url, proxy, options);
  let current: http.ClientRequest | http.IncomingMessage = request;
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const end = (given: Error) => {
      const isSilence = proxy !== null && current === request && given.name === "TimeoutError";
      const ms = performance.now() - began;
      const reason = isSilence ? proxySilence(proxy, url.host, ms, request.socket !== null) : given;
      // A request without a connection yet reports nothing.
      reject(reason);
      current.destroy(reason);
    };
    const abort = () => end(signal?.reason as Error);
    signal?.addEventListener("abort", abort);
    request.on("close", () => {
      signal?.removeEventListener("abort", abort);
      // Node reports no error for a target that switches to another protocol unasked (101): without this the promise never ends.
      reject(Object.assign(new Error("the connection closed without a response"), { code: "ECONNRESET" }));
    });
    // The agent's own limit, for unused connections, makes the same event.
    if (idleMs !== undefined) {
      request.on("timeout", () => end(new DOMException(`no transfer within ${idleMs / 1000} s`, "TimeoutError")));
    }
    // Stays, because an error may follow the response or another error.
    request.on("error", (error) => {
      const first = firstFault(error);
      reject(isForwarded ? proxyFault(proxy, first, !isUnreached(first)) : first);
    });
    request.on("response", (response) => {
      current = response;
      const { statusCode: status = 0, headers } = response;
      if (!isForwarded || !isOfProxy(status, headers)) return resolve(response);
      end(proxyRefusal(proxy, url.host, status, headers));
    });
    if (typeof body === "function") pipeline(reporting(body, reject), request).catch(reject);
    else request.end(body);
  });
}

/** Reports a fault of the body before the request ends with it. */
function reporting(body: () => AsyncIterable<Uint8Array>, failed: (error: unknown) => void) {
  return async function* () {
    try {
      yield* body();
    } catch (error) {
      failed(error);
      throw error;
    }
  };
}

/** Whether a request that failed with this error surely did not reach its target. */
export function isUnsent(error: unknown): boolean {
  return error instanceof ProxyError ? !error.isSent : isUnreached(error);
}

/** A request to the target itself: directly, or through the tunnel of a proxy. */
function direct(url: URL, proxy: Proxy | null, options: HttpRequest): http.ClientRequest {
  const { method, headers, idleMs, addresses } = options;
  const given = { method, headers, timeout: idleMs };
  const agent = addresses === undefined ? keptAgent(url.protocol, proxy) : createAgent(url.protocol, proxy, addresses);
  if (url.protocol !== "https:") return http.request(url, { ...given, agent });
  return https.request(url, { ...given, ...trustOf(options), agent });
}

/** RFC 9112 §3.2.2: the proxy of plain http gets the complete URL. */
function forwarded(url: URL, proxy: Proxy, { method, headers, idleMs }: HttpRequest): http.ClientRequest {
  return requesterOf(proxy)({
    ...urlToHttpOptions(url),
    ...placeOf(proxy),
    ...{ method, path: `${url.origin}${url.pathname}${url.search}`, timeout: idleMs },
    headers: { host: url.host, ...headers, ...authorization(proxy) },
    agent: keptAgent(proxy.url.protocol, null),
  });
}

function requesterOf({ url }: Proxy): typeof https.request {
  return url.protocol === "https:" ? https.request : http.request;
}

/** Where a proxy is. Node would take its TLS name from the Host header, which names the target. */
function placeOf({ url }: Proxy): https.RequestOptions {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { protocol } = url;
  return { protocol, hostname: host, host, port: portOf(url), servername: isIP(host) === 0 ? host : "", ...trust };
}

/** The certificates that a TLS connection trusts. A certificate in place of the known ones may be signed by another. */
function trustOf({ ca }: HttpRequest): tls.ConnectionOptions {
  return ca === undefined ? trust : { ca, allowPartialTrustChain: true };
}

function keptAgent(protocol: string, proxy: Proxy | null): http.Agent {
  const key = `${protocol} ${proxy === null ? "" : `${proxy.url.href} ${proxy.authorization}`}`;
  const agent = agents.get(key) ?? createAgent(protocol, proxy, null);
  agents.set(key, agent);
  return agent;
}

/** Creates the agent that connects. One for checked addresses keeps no connection, since their check holds for one request. */
function createAgent(protocol: string, proxy: Proxy | null, addresses: readonly LookupAddress[] | null): http.Agent {
  const kept = { keepAlive: addresses === null, timeout: KEEP_MS };
  const options = addresses === null ? kept : { ...kept, lookup: onlyTo(addresses) };
  const agent = protocol === "https:" ? new https.Agent(options) : new http.Agent(options);
  if (proxy === null) return agent;
  const checked = addresses?.find(({ family }) => family === 4) ?? addresses?.[0];
  agent.createConnection = (target, connected) => {
    const to = `${bracketed(checked?.address ?? String(target.host))}:${target.port}`;
    const encrypt = (socket: Socket) => owned(tls.connect({ ...(target as tls.ConnectionOptions), socket }));
    openTunnel(proxy, to)
      .then((socket) => (protocol === "https:" ? encrypt(socket) : socket))
      .then(
        // As Node does with a socket of its own: a request whose limit is the agent's sets none.
        (socket) => connected?.(null, socket.setTimeout(KEEP_MS)),
        (error: Error) => connected?.(error, null as never),
      );
    return undefined;
  };
  return agent;
}

/** Returns the checked addresses, since a second look-up could return another one. */
function onlyTo(addresses: readonly LookupAddress[]): LookupFunction {
  const [first] = addresses;
  return (_host, { all }, callback) => {
    // Not within the call: a connection that fails right away, as one without any route does, would fail before the request listens
    // to its socket, and end the process.
    setImmediate(() => {
      if (all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    });
  };
}

/** Lets a proxy connect to a target (RFC 9110 §9.3.6). @throws ProxyError */
function openTunnel(proxy: Proxy, target: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = requesterOf(proxy)({
      ...placeOf(proxy),
      ...{ method: "CONNECT", path: target, agent: false },
      headers: { host: target, ...authorization(proxy) },
    });
    const late = setTimeout(() => request.destroy(proxySilence(proxy, target, PROXY_MS, false)), PROXY_MS);
    request.on("close", () => clearTimeout(late));
    request.on("error", (error) =>
      reject(error instanceof ProxyError ? error : proxyFault(proxy, firstFault(error), false)),
    );
    request.on("connect", ({ statusCode: status = 0, headers }, socket) => {
      clearTimeout(late);
      owned(socket);
      if (status >= 200 && status < 300) return resolve(socket);
      socket.destroy();
      reject(proxyRefusal(proxy, target, status, headers));
    });
    request.end();
  });
}

/** Takes the errors that come while no request uses the socket. */
function owned<S extends Socket>(socket: S): S {
  return socket.on("error", () => undefined);
}

function authorization({ authorization: value }: Proxy): http.OutgoingHttpHeaders {
  return value === null ? {} : { "proxy-authorization": value };
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

import fs from "node:fs";
import type http from "node:http";
import { pipeline } from "node:stream/promises";
import { gzip } from "node:zlib";
import tls from "node:tls";
import { promisify } from "node:util";
import { jsonFault } from "../../shared/schema/json-scan.ts";
import { currentProxy, isUnsent, sendRequest } from "../../shared/network/client.ts";
import { connectionFault, isNoTls } from "../../shared/network/connection-fault.ts";
import { readRetryAfter } from "../../shared/network/retry-after.ts";
import { currentTrace, traceparentOf } from "../../shared/network/trace.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Exchange } from "./clock-watch.ts";
import { type ErrorEnvelope, type FailureKind, SendError } from "../runtime/send-error.ts";
import { isUnknownAuthority, pinnedCertificate } from "./pinned-server.ts";

// The agent's HTTP client. It decides the kind of a failure, and the kind decides about the next attempt.

/** A request that the server holds until there is news. */
export interface Held {
  readonly timeoutMs: number;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

export interface ServerClient {
  /** @returns the JSON body; null if the server has no such route @throws SendError */
  get(path: string, held?: Held): Promise<unknown>;
  /**
   * Sends bytes as they are, and other values as JSON. `mayLack`: servers of older versions lack the route, which is not a failure.
   * @returns the JSON body of the response; null if the server lacks such a route @throws SendError
   */
  post(path: string, body: unknown, mayLack?: "may lack the route"): Promise<unknown>;
  /** Sends a value as JSON. @returns the JSON body; null if the server has no such route @throws SendError */
  put(path: string, body: unknown): Promise<unknown>;
  /** Sends a PNG. @returns the JSON body; null if the server has no such route @throws SendError */
  putPng(path: string, png: Uint8Array): Promise<unknown>;
  /** Writes the body of a response to a file, of at most `bytesMax`. @throws SendError @throws an error of the disk */
  download(path: string, file: string, bytesMax: number): Promise<void>;
}

const TIMEOUT_MS = 30_000;
/** Bytes below which a body is sent uncompressed. */
const GZIP_BYTES_MIN = 1_400;
/** Bytes of a response, after which it is aborted. A page of patients is far shorter. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
/** Values of a response. A page of patients has some ten thousand. */
const RESPONSE_VALUES_MAX = 1_000_000;

/** Time for a complete download. */
const DOWNLOAD_MS = 60 * 60_000;
const TOO_SLOW =
  'the server sent no whole file within an hour: check the network, or bring the file for "vetwire upgrade --from"';

/** Max characters of a refused download's body. */
const ERROR_CHARS_MAX = 10_000;

const compress = promisify(gzip);

interface ServerResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Creates the client. `key` is called for each request, so that a rolled key needs no restart. `heard` gets the times of each
 * request, also of a failed one. With a pin no other certificate is accepted. node:http instead of fetch(), which takes 10 MB of memory permanently.
 */
export function createServerClient(
  url: string,
  key: () => string,
  timeoutMs = TIMEOUT_MS,
  heard: (exchange: Exchange) => void = () => undefined,
  pin?: string,
): ServerClient {
  const base = url.replace(/\/+$/, "");
  const { ca, connected } = trustIn(base, pin);
  const send = async (
    method: string,
    path: string,
    headers: http.OutgoingHttpHeaders,
    body?: Uint8Array,
    held?: Held,
  ): Promise<ServerResponse> => {
    const signal = held === undefined ? AbortSignal.timeout(timeoutMs) : endOf(held);
    const trace = currentTrace();
    const own = { "x-api-key": keyOrThrow(key), ...(trace && { traceparent: traceparentOf(trace) }) };
    const options = { method, headers: { ...headers, ...own }, body, signal, ca: await ca() };
    return readResponse(await sendRequest(new URL(`${base}${path}`), options));
  };
  const sendTimed = async (...parts: Parameters<typeof send>): Promise<ServerResponse> => {
    const [, , , , held] = parts;
    const began = performance.now();
    let response: ServerResponse | null = null;
    try {
      response = await connected(() => send(...parts));
      return response;
    } finally {
      const receivedAt = Date.now();
      const sentAt = receivedAt - (performance.now() - began);
      // The Date header of a held response is as inexact as its wait.
      if (held === undefined) heard({ date: response?.headers.date, sentAt, receivedAt });
    }
  };
  const sendValue = async (method: string, path: string, value: unknown) => {
    const { headers, body } = await encodeBody(value);
    return sendTimed(method, path, headers, body);
  };
  return {
    async get(path, held) {
      return bodyIfRoute(await sendTimed("GET", path, {}, undefined, held));
    },
    async post(path, value, mayLack) {
      const response = await sendValue("POST", path, value);
      return mayLack === undefined ? bodyOf(response) : bodyIfRoute(response);
    },
    async put(path, value) {
      return bodyIfRoute(await sendValue("PUT", path, value));
    },
    async putPng(path, png) {
      const headers = { "content-type": "image/png", "content-length": png.length };
      return bodyIfRoute(await sendTimed("PUT", path, headers, Buffer.from(png)));
    },
    async download(path, file, bytesMax) {
      // The bound on silence lets a slow line take its time. The other one ends a server that sends a byte now and then.
      const signal = AbortSignal.timeout(DOWNLOAD_MS);
      try {
        const headers = { "x-api-key": keyOrThrow(key) };
        const response = await connected(async () =>
          sendRequest(new URL(`${base}${path}`), { headers, idleMs: timeoutMs, signal, ca: await ca() }),
        );
        if (response.statusCode !== 200) throw statusError(await readError(response));
        await pipeline(response, atMost(bytesMax), fs.createWriteStream(file));
      } catch (error) {
        if (signal.aborted) throw new SendError("uncertain", TOO_SLOW);
        throw isCut(error as NodeJS.ErrnoException) ? await networkError(new URL(base), error as Error) : error;
      }
    },
  };
}

function endOf({ timeoutMs, signal }: Held): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
}

/**
 * The certificate of the server's authority, and a wrapper that gives a failed connection its SendError. Without a pin the system's
 * authorities count.
 */
function trustIn(base: string, pin: string | undefined) {
  let authority: Buffer | undefined;
  const ca = async () => (pin === undefined ? undefined : (authority ??= await pinnedCertificate(base, pin)));
  const failure = async (error: Error): Promise<SendError> => {
    if (pin === undefined || !isUnknownAuthority(error)) return networkError(new URL(base), error);
    // Another machine responds since the last look. The next look reports which one.
    authority = undefined;
    return ca().then(
      () => networkError(new URL(base), error),
      (fault: Error) => (fault instanceof SendError ? fault : networkError(new URL(base), fault)),
    );
  };
  const connected = async <Result>(request: () => Promise<Result>): Promise<Result> => {
    try {
      return await request();
    } catch (error) {
      throw error instanceof SendError ? error : await failure(error as Error);
    }
  };
  return { ca, connected };
}

async function encodeBody(value: unknown): Promise<{ headers: http.OutgoingHttpHeaders; body: Uint8Array }> {
  if (value instanceof Uint8Array) {
    return { headers: { "content-type": "application/octet-stream", "content-length": value.length }, body: value };
  }
  const json = Buffer.from(JSON.stringify(value));
  const compressed = json.length >= GZIP_BYTES_MIN;
  const body = compressed ? await compress(json) : json;
  const encoding = compressed ? { "content-encoding": "gzip" } : {};
  return { headers: { "content-type": "application/json", "content-length": body.length, ...encoding }, body };
}

async function readResponse(response: http.IncomingMessage): Promise<ServerResponse> {
  const parts: Buffer[] = [];
  for await (const part of atMost(RESPONSE_BYTES_MAX)(response as AsyncIterable<Buffer>)) parts.push(part);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: Buffer.concat(parts).toString() };
}

/** Passes on at most that many bytes. @throws SendError for more */
function atMost(bytesMax: number) {
  return async function* (parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let length = 0;
    for await (const part of parts) {
      length += part.length;
      if (length > bytesMax) {
        const message = `response too long: expected at most ${bytesMax} bytes`;
        throw new SendError("uncertain", message, { fault: "TOO_LONG" });
      }
      yield part;
    }
  };
}

/** Whether the connection ended a download. A refusal of the disk keeps its own words. */
function isCut({ code, name }: NodeJS.ErrnoException): boolean {
  return code === "ECONNRESET" || name === "TimeoutError";
}

async function readError(response: http.IncomingMessage): Promise<ServerResponse> {
  let body = "";
  for await (const part of response as AsyncIterable<Buffer>) {
    body += part.toString();
    // The end of the loop closes the connection, since a body may have no end.
    if (body.length > ERROR_CHARS_MAX) break;
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** @returns the JSON body; null if the server has no such route @throws SendError */
function bodyIfRoute(response: ServerResponse): unknown {
  const isMissing = response.status === 404 && envelopeOf(response.body)?.code === "ROUTE.NOT_FOUND";
  return isMissing ? null : bodyOf(response);
}

function bodyOf(response: ServerResponse): unknown {
  const { status, body } = response;
  if (status < 200 || status > 299) throw statusError(response);
  const found = jsonFault(body, RESPONSE_VALUES_MAX);
  if (found !== null) throw new SendError("uncertain", `invalid response: it ${found.fault}`, { status });
  try {
    return JSON.parse(body);
  } catch (error) {
    // V8 quotes a part of the body, which may name a patient, and the reason is logged.
    const [fault = ""] = errorMessage(error).split(/, (?:\.\.\.)?"/);
    const message = `invalid JSON in the response: ${fault}`;
    throw new SendError("uncertain", message, { status, fault: "NOT_JSON" });
  }
}

/** @throws SendError of kind "unauthorized", because a user has to repair the key file */
function keyOrThrow(key: () => string): string {
  try {
    return key();
  } catch (error) {
    throw new SendError("unauthorized", `the key file cannot be read: ${errorMessage(error)}`);
  }
}

const PROBE_MS = 5_000;

/** Checks whether only one side uses TLS. @returns null if that is not the cause */
async function wrongScheme(url: URL, code: string): Promise<SendError | null> {
  const { host, hostname, port, protocol } = url;
  const isSecure = protocol === "https:";
  // A request of HTTPS hides OpenSSL's code in EPROTO. A TLS server responds to plain HTTP with an alert, or closes the
  // connection as in a crash.
  const isUnclear = isSecure ? code === "EPROTO" || isNoTls(code) : code.startsWith("HPE_") || code === "ECONNRESET";
  if (!isUnclear || currentProxy(url) !== null) return null;
  const refusal = await handshakeFault(hostname.replaceAll(/[[\]]/g, ""), Number(port || (isSecure ? 443 : 80)));
  if (isSecure) {
    const message = `the server at ${host} does not speak TLS: is the url http://?`;
    return isNoTls(refusal ?? "") ? new SendError("transient", message, { fault: "NO_TLS" }) : null;
  }
  const message = `the server at ${host} speaks TLS: is the url https://?`;
  return refusal === null ? new SendError("transient", message, { fault: "SPEAKS_TLS" }) : null;
}

/** Tries a TLS handshake. No data follows, so the certificate is not verified. @returns the code of its error; null if it succeeds */
function handshakeFault(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = tls.connect({ host, port, rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (code: string | null) => {
      socket.destroy();
      resolve(code);
    };
    socket.once("secureConnect", () => end(null));
    socket.once("timeout", () => end("ETIMEDOUT"));
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => end(code));
  });
}

/** Bodies with which nginx, Apache and Go refuse plain HTTP at an HTTPS port. Status 400 has many causes, and no header names this one. */
const PLAIN_AT_TLS_PORT =
  /plain HTTP request was sent to HTTPS port|SSL-enabled server port|HTTP request to an HTTPS server/;

function isPlainAtTlsPort({ status, body }: ServerResponse): boolean {
  return status === 400 && PLAIN_AT_TLS_PORT.test(body);
}

/** Creates the error of a request without a response. The server may have processed it, unless the connection failed. */
async function networkError(url: URL, error: NodeJS.ErrnoException): Promise<SendError> {
  if (error.name === "TimeoutError")
    return new SendError("uncertain", "the server cannot be reached: no response in time");
  const wrong = await wrongScheme(url, error.code ?? "");
  if (wrong !== null) return wrong;
  const kind = isUnsent(error) ? "transient" : "uncertain";
  return new SendError(kind, `the server cannot be reached: ${connectionFault(error)}`, { cause: error });
}

function statusError({ status, headers, body }: ServerResponse): SendError {
  if (isPlainAtTlsPort({ status, headers, body })) {
    return new SendError("transient", "the server speaks TLS: is the url https://?", { status, fault: "SPEAKS_TLS" });
  }
  const envelope = envelopeOf(body);
  const explanation = envelope === null ? "no error envelope, so another program responded" : envelopeText(envelope);
  return new SendError(kindOf(status, envelope), `the server answered ${status}: ${explanation}`, {
    status,
    retryAfterMs: readRetryAfter(headers),
    envelope,
  });
}

/** Any program may respond with an error envelope, so no status decides about the content of a request. */
function kindOf(status: number, envelope: ErrorEnvelope | null): FailureKind {
  // The server is reached and the key is right: the operator serves the clinic again.
  if ([408, 409, 425, 429].includes(status) || envelope?.code === "CLINIC.SUSPENDED") return "transient";
  return envelope !== null && (status === 401 || status === 403) ? "unauthorized" : "uncertain";
}

function envelopeText({ code, message, required }: ErrorEnvelope): string {
  return `${code} ${message}${required === null ? "" : ` The key needs ${required.join(" or ")}.`}`;
}

/** Parses the error envelope of our server, whose codes are like `ROUTE.NOT_FOUND`. @returns null for any other body */
function envelopeOf(text: string): ErrorEnvelope | null {
  try {
    const { success, error } = JSON.parse(text) as { success?: unknown; error?: Record<string, unknown> };
    const { code, message, details } = error ?? {};
    if (success !== false || typeof code !== "string" || !/^[A-Z_]+\.[A-Z_]+$/.test(code)) return null;
    const { required } = (details ?? {}) as { required?: unknown };
    const isList = Array.isArray(required) && required.length > 0 && required.every((one) => typeof one === "string");
    return { code, message: typeof message === "string" ? message : "", required: isList ? required : null };
  } catch {
    return null;
  }
}

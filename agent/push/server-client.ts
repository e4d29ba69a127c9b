import http from "node:http";
import https from "node:https";
import { gzip } from "node:zlib";
import tls from "node:tls";
import { promisify } from "node:util";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Exchange } from "./clock-watch.ts";
import { type FailureKind, SendError } from "../runtime/send-error.ts";

// The agent's HTTP client. How a request failed decides what happens next, so the kind is set here, where it is known.

export interface Server {
  /** The JSON body; null where our server says 404. @throws SendError */
  get(path: string): Promise<unknown>;
  /** The JSON body of the answer. @throws SendError */
  post(path: string, body: unknown): Promise<unknown>;
}

const TIMEOUT_MS = 30_000;
/** Below this a body is not worth compressing. */
const GZIP_BYTES_MIN = 1_400;
/** Far above a page of patients or a clinic's intervals; a longer answer is broken off. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const compress = promisify(gzip);

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/**
 * `key` is read anew for each request, so that a rolled key needs no restart. Not fetch(): what it loads and compiles takes
 * 10 MB for good and 40 for a moment, which is a quarter of the agent. `heard` gets each exchange, also a failed one.
 */
export function httpServer(
  url: string,
  key: () => string,
  timeoutMs = TIMEOUT_MS,
  heard: (exchange: Exchange) => void = () => undefined,
): Server {
  const base = url.replace(/\/+$/, "");
  const { request } = base.startsWith("https:") ? https : http;
  const send = (method: string, path: string, headers: http.OutgoingHttpHeaders, body?: Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const options = { method, headers: { ...headers, "x-api-key": keyOrThrow(key) }, signal };
      const asked = request(`${base}${path}`, options, (response) => {
        const parts: Buffer[] = [];
        let length = 0;
        response.on("data", (part: Buffer) => {
          length += part.length;
          if (length <= ANSWER_BYTES_MAX) parts.push(part);
          else {
            reject(new SendError("uncertain", `the server's answer is longer than ${ANSWER_BYTES_MAX} bytes`));
            response.destroy();
          }
        });
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(body);
    });
  const ask = async (...parts: Parameters<typeof send>): Promise<Answer> => {
    const began = performance.now();
    let answer: Answer | null = null;
    try {
      answer = await send(...parts);
      return answer;
    } catch (error) {
      throw error instanceof SendError ? error : await networkError(base, error as NodeJS.ErrnoException);
    } finally {
      const receivedAt = Date.now();
      const sentAt = receivedAt - (performance.now() - began);
      heard({ date: answer?.headers.date, sentAt, receivedAt });
    }
  };
  return {
    async get(path) {
      const answer = await ask("GET", path, {});
      return answer.status === 404 && envelopeOf(answer.body) !== null ? null : bodyOf(answer);
    },
    async post(path, value) {
      const json = Buffer.from(JSON.stringify(value));
      const compressed = json.length >= GZIP_BYTES_MIN;
      const body = compressed ? await compress(json) : json;
      const encoding = compressed ? { "content-encoding": "gzip" } : {};
      const headers = { "content-type": "application/json", "content-length": body.length, ...encoding };
      return bodyOf(await ask("POST", path, headers, body));
    },
  };
}

function bodyOf(answer: Answer): unknown {
  if (answer.status < 200 || answer.status > 299) throw statusError(answer);
  try {
    return JSON.parse(answer.body);
  } catch (error) {
    throw new SendError("uncertain", `the server's answer could not be read: ${errorMessage(error)}`);
  }
}

/** A person has to mend the key's file: no study is at fault. */
function keyOrThrow(key: () => string): string {
  try {
    return key();
  } catch (error) {
    throw new SendError("unauthorized", `the key's file cannot be read: ${errorMessage(error)}`);
  }
}

const PROBE_MS = 5_000;

/** Whether the request failed because one side speaks TLS and the other does not, in a sentence; else null. */
async function wrongScheme(base: string, { code = "", message }: NodeJS.ErrnoException): Promise<string | null> {
  const { host, hostname, port, protocol } = new URL(base);
  if (protocol === "https:") {
    const isPlain = /wrong version number|packet length too long|http request/i.test(message);
    return isPlain ? `the server at ${host} does not speak TLS: is the url http://?` : null;
  }
  // Some servers answer plain HTTP with a TLS alert, others hang up, as ours would if it died: a handshake tells.
  const isUnclear = code.startsWith("HPE_") || message === "socket hang up";
  const speaksTls = isUnclear && (await shakesHands(hostname.replaceAll(/[[\]]/g, ""), Number(port || 80)));
  return speaksTls ? `the server at ${host} speaks TLS: is the url https://?` : null;
}

/** Whether a TLS handshake succeeds there. Nothing is sent over it, so the certificate is not verified. */
function shakesHands(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tls.connect({ host, port, rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (speaksTls: boolean) => {
      socket.destroy();
      resolve(speaksTls);
    };
    socket.once("secureConnect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.on("error", () => end(false));
  });
}

/** How nginx, Apache and Go refuse plain HTTP at their HTTPS ports: with a 400, which is no word about a study. */
const PLAIN_AT_TLS_PORT =
  /plain HTTP request was sent to HTTPS port|SSL-enabled server port|HTTP request to an HTTPS server/;

function isPlainAtTlsPort({ status, body }: Answer): boolean {
  return status === 400 && PLAIN_AT_TLS_PORT.test(body);
}

/** Refused before it was sent, or lost on the way: who knows. */
async function networkError(base: string, error: NodeJS.ErrnoException): Promise<SendError> {
  const wrong = await wrongScheme(base, error);
  if (wrong !== null) return new SendError("transient", wrong);
  const code = error.code ?? "";
  const notSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
  const why = code === "ABORT_ERR" ? "no answer in time" : code || errorMessage(error);
  return new SendError(notSent ? "transient" : "uncertain", `the server cannot be reached: ${why}`);
}

function statusError({ status, headers, body }: Answer): SendError {
  if (isPlainAtTlsPort({ status, headers, body })) {
    return new SendError("transient", "the server speaks TLS: is the url https://?", { status });
  }
  const envelope = envelopeOf(body);
  const said =
    envelope === null ? "no error envelope, so it is not our server's" : `${envelope.code} ${envelope.message}`;
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
  return new SendError(kindOf(status, envelope !== null), `the server answered ${status}: ${said}`, {
    status,
    retryAfterMs,
  });
}

function kindOf(status: number, isOurs: boolean): FailureKind {
  switch (status) {
    case 408:
    case 409:
    case 425:
    case 429:
      return "transient";
  }
  // A redirection, or an error page of a proxy: something stands in between.
  if (status >= 500 || status < 400 || !isOurs) return "uncertain";
  return status === 401 || status === 403 ? "unauthorized" : "permanent";
}

/** The error of our server's envelope; null where the body is anything else. */
function envelopeOf(text: string): { readonly code: string; readonly message: string } | null {
  try {
    const { success, error } = JSON.parse(text) as { success?: unknown; error?: { code?: unknown; message?: unknown } };
    if (success !== false || typeof error?.code !== "string") return null;
    return { code: error.code, message: typeof error.message === "string" ? error.message : "" };
  } catch {
    return null;
  }
}

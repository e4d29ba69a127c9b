import http from "node:http";
import https from "node:https";
import { gzip } from "node:zlib";
import { promisify } from "node:util";
import { reasonOf } from "../shared/thrown.ts";

// The agent's HTTP client. How a request failed decides what happens next, so the kind is set here, where it is known.

/**
 * transient: try again; uncertain: it may have been taken, try again because the server knows the fp; permanent: keep and show.
 * Only an answer in our server's error envelope is permanent: a proxy's error page says nothing of the study.
 */
export type FailureKind = "transient" | "uncertain" | "permanent" | "unauthorized";

export class SendError extends Error {
  readonly kind: FailureKind;
  /** The server's Retry-After in milliseconds. */
  readonly retryAfterMs: number | null;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;

  constructor(kind: FailureKind, message: string, answer: { status?: number; retryAfterMs?: number | null } = {}) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = answer.retryAfterMs ?? null;
    this.status = answer.status ?? null;
  }
}

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
 * 10 MB for good and 40 for a moment, which is a quarter of the agent.
 */
export function httpServer(url: string, key: () => string, timeoutMs = TIMEOUT_MS): Server {
  const base = url.replace(/\/+$/, "");
  const { request } = base.startsWith("https:") ? https : http;
  const ask = (method: string, path: string, headers: http.OutgoingHttpHeaders, body?: Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const options = { method, headers: { ...headers, "x-api-key": key() }, signal };
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
        response.on("error", (error) => reject(networkError(error)));
      });
      asked.on("error", (error) => reject(networkError(error)));
      asked.end(body);
    });
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
    throw new SendError("uncertain", `the server's answer could not be read: ${reasonOf(error)}`);
  }
}

/** Refused before it was sent, or lost on the way: who knows. */
function networkError(error: NodeJS.ErrnoException): SendError {
  const code = error.code ?? "";
  const notSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
  const why = code === "ABORT_ERR" ? "no answer in time" : code || reasonOf(error);
  return new SendError(notSent ? "transient" : "uncertain", `the server cannot be reached: ${why}`);
}

function statusError({ status, headers, body }: Answer): SendError {
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

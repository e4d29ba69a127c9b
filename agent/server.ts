import { gzip } from "node:zlib";
import { promisify } from "node:util";
import { reasonOf } from "../shared/thrown.ts";

// The agent's HTTP client. How a request failed decides what happens next, so the kind is set here, where it is known.

/** transient: try again; uncertain: it may have been taken, try again because the server knows the fp; permanent: keep and show. */
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
  /** The JSON body; null for 404. @throws SendError */
  get(path: string): Promise<unknown>;
  /** The JSON body of the answer. @throws SendError */
  post(path: string, body: unknown): Promise<unknown>;
}

const TIMEOUT_MS = 30_000;
/** Below this a body is not worth compressing. */
const GZIP_BYTES_MIN = 1_400;

const compress = promisify(gzip);

/** `key` is read anew for each request, so that a rolled key needs no restart. */
export function httpServer(url: string, key: () => string, timeoutMs = TIMEOUT_MS): Server {
  const base = url.replace(/\/+$/, "");
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string> | undefined), "x-api-key": key() };
    try {
      return await fetch(`${base}${path}`, {
        ...init,
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: "error",
      });
    } catch (error) {
      throw networkError(error);
    }
  };
  return {
    async get(path) {
      const response = await request(path, {});
      if (response.status !== 404) return bodyOf(response);
      await response.body?.cancel();
      return null;
    },
    async post(path, value) {
      const json = Buffer.from(JSON.stringify(value));
      const compressed = json.length >= GZIP_BYTES_MIN;
      const headers = { "content-type": "application/json", ...(compressed ? { "content-encoding": "gzip" } : {}) };
      return bodyOf(await request(path, { method: "POST", headers, body: compressed ? await compress(json) : json }));
    },
  };
}

async function bodyOf(response: Response): Promise<unknown> {
  if (!response.ok) throw await statusError(response);
  try {
    return await response.json();
  } catch (error) {
    throw new SendError("uncertain", `the server's answer could not be read: ${reasonOf(error)}`);
  }
}

/** Refused before it was sent, or lost on the way: who knows. */
function networkError(error: unknown): SendError {
  const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
  const notSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
  return new SendError(notSent ? "transient" : "uncertain", `the server cannot be reached: ${code || reasonOf(error)}`);
}

async function statusError(response: Response): Promise<SendError> {
  const text = await response.text().catch(() => "");
  const message = `the server answered ${response.status}: ${envelopeMessage(text)}`;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
  return new SendError(kindOf(response.status), message, { status: response.status, retryAfterMs });
}

function kindOf(status: number): FailureKind {
  switch (status) {
    case 401:
    case 403:
      return "unauthorized";
    case 408:
    case 409:
    case 425:
    case 429:
      return "transient";
    default:
      return status >= 500 ? "uncertain" : "permanent";
  }
}

function envelopeMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } };
    return `${error?.code ?? "no code"} ${error?.message ?? ""}`.trim();
  } catch {
    return "no error envelope";
  }
}

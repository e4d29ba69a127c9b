import { signal } from "@preact/signals";
import type { Reason } from "../../shared/api/reason.ts";
import type { Refusal } from "../dashboard/types/refusals.ts";
import type { Language } from "../../shared/api/language.ts";
import { writeId, wasAnswered } from "./write-ids.ts";

// Calls of the pages: below /dashboard and /operator to the server, elsewhere to the agent.

const ROOT = rootOf(location.pathname);

function rootOf(page: string): string {
  if (page.startsWith("/dashboard")) return "/clinic/v1";
  return page.startsWith("/operator") ? "/operator/v1" : "/local/v1";
}

interface ShownRefusal {
  readonly code: Refusal["code"];
  text(language: Language): string;
}

/** An error response of the server, or the lack of a response. */
export class RequestError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Code of the error table in server/http/errors.ts; "OFFLINE" without a response. */
  readonly code: string;
  readonly requestId: string | null;
  /** Why a command was refused; null for another error. */
  readonly refusal: ShownRefusal | null;

  constructor(
    message: string,
    status: number,
    code: string,
    requestId: string | null,
    refusal: ShownRefusal | null = null,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.refusal = refusal;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: Partial<Reason>;
}

/** Set when the server reports that the session has ended. */
export const isSignedOut = signal(false);

/** The id of the user whose name the page shows; null before that. */
export const pageUser = signal<string | null>(null);

/** The server's sentence after another user signed in from another tab of this browser; null before that. */
export const otherUser = signal<string | null>(null);

/** Whether the last call got no response. */
export const isOffline = signal(false);

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Sends a request to a path below ROOT and returns the JSON of the response. @throws RequestError */
export async function call<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  return (await response.json()) as T;
}

/** Sends the bytes of a file to a path below ROOT and returns the JSON of the response. @throws RequestError */
export async function sendFile<T>(path: string, file: Blob): Promise<T> {
  const response = await send("POST", path, file);
  return (await response.json()) as T;
}

/** Loads a file from a path below ROOT. @throws RequestError, also if `end` aborts the request */
export function loadFile(path: string, end: AbortSignal): Promise<Response> {
  return send("GET", path, undefined, end);
}

/** Sends a command and returns the file of the response, of which the browser keeps a large one on its disk. @throws RequestError */
export async function commandFile(path: string, body: unknown): Promise<Blob> {
  const response = await send("POST", path, body);
  try {
    return await response.blob();
  } catch {
    throw new RequestError("The file ended before its last line.", 0, "OFFLINE", null);
  }
}

async function send(method: Method, path: string, body: unknown, end?: AbortSignal): Promise<Response> {
  let response: Response;
  const file = body instanceof Blob ? body : undefined;
  const text = body === undefined || file !== undefined ? undefined : JSON.stringify(body);
  const isWrite = method !== "GET" && file === undefined && path.startsWith("/clinics/");
  const write = isWrite ? `${method} ${path} ${text}` : undefined;
  try {
    response = await fetch(ROOT + path, {
      method,
      ...(end !== undefined && { signal: end }),
      ...(body !== undefined && { body: file ?? text ?? "" }),
      headers: {
        ...(write !== undefined && { "idempotency-key": writeId(write) }),
        ...(body !== undefined && {
          "content-type": file !== undefined ? "application/octet-stream" : "application/json",
        }),
        ...(pageUser.value !== null && { "x-vetwire-user": pageUser.value }),
      },
    });
  } catch {
    if (end?.aborted !== true) isOffline.value = true;
    throw new RequestError("The server does not answer.", 0, "OFFLINE", null);
  }
  isOffline.value = false;
  // A server that fails with a 5xx may have done the write.
  if (write !== undefined && response.status < 500) wasAnswered(write);
  if (response.ok) return response;
  const requestId = response.headers.get("x-request-id");
  const envelope = (await response.json().catch(() => ({}))) as { error?: ErrorBody };
  const { status } = response;
  const { code = codeWithoutEnvelope(status), message = `The server answered ${status}.` } = envelope.error ?? {};
  if (code === "SESSION.REQUIRED") isSignedOut.value = true;
  if (code === "SESSION.OTHER_USER") otherUser.value = message;
  const { code: reason, values = [] } = envelope.error?.details ?? {};
  const refusal = reason === undefined ? null : await refusalOf({ code: reason, values });
  throw new RequestError(message, status, code, requestId, refusal);
}

/** Names what a proxy in front of the server answers by itself, for example while the server starts again. */
function codeWithoutEnvelope(status: number): string {
  if (status === 413) return "REQUEST.TOO_LARGE";
  return status >= 502 && status <= 504 ? "SERVER.UNAVAILABLE" : "SERVER.INTERNAL";
}

/** The words of all refusals are loaded with the first one, since no first screen needs them. */
async function refusalOf(reason: Reason): Promise<ShownRefusal | null> {
  const words = await import("../dashboard/types/refusals.ts").catch(() => null);
  if (words?.isRefusal(reason) !== true) return null;
  return { code: reason.code, text: (language) => words.refusalText(reason, language) };
}

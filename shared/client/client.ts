import type { ErrorCode, ErrorEnvelope, ListedStudy, Patient, paths, RemovedRecord } from "./api.ts";

// A client of the read API for integrations. Copy this folder: it needs fetch (Node 18 or newer) and nothing else.

export interface ClientOptions {
  /** Address of the server, such as `https://vetwire.example.com`. */
  readonly url: string;
  /** An API key of the clinic. Keep it on your server. */
  readonly key: string;
  /** Time for one request. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  /** Waits between two requests of a walk, in milliseconds. By default a timer. */
  readonly wait?: (ms: number) => Promise<void>;
}

type Path = keyof paths;
type Parameters<P extends Path> = Omit<paths[P]["get"]["parameters"], "header">;
type Answer<P extends Path> = paths[P]["get"]["responses"][200]["content"]["application/json"];

/** The lists whose changes can be requested. */
type ListPath = "/api/v1/patients" | "/api/v1/lab/diagnostics" | "/api/v1/changes";

type Fields = Readonly<Record<string, string | number | boolean>>;

/** An error response of the server. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** Seconds to wait before the next request, for 429 and 503; null otherwise. */
  readonly retryAfterS: number | null;

  constructor(status: number, { error: { code, message } }: ErrorEnvelope, retryAfter: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  }
}

/** A page of a walk. Keep the cursor once the page is stored: a later call goes on after it, also in the middle of a walk. */
interface Walked {
  readonly cursor: string;
}

export interface StudyPage extends Walked {
  readonly studies: readonly ListedStudy[];
}

export interface PatientPage extends Walked {
  readonly patients: readonly Patient[];
}

export interface RemovedPage extends Walked {
  readonly removed: readonly RemovedRecord[];
}

export function createClient({
  url,
  key,
  timeoutMs = 30_000,
  fetch: send = fetch,
  wait = (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
}: ClientOptions) {
  async function request(address: URL): Promise<Response> {
    const response = await send(address, {
      // Patients, calendar and inventory read the first header, records and studies the second.
      headers: { "x-api-key": key, authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.ok) return response;
    const { status, headers } = response;
    const body = (await response.json().catch(() => null)) as ErrorEnvelope | null;
    // A proxy's response is not the server's.
    if (typeof body?.error?.code !== "string")
      throw new Error(`expected a response of the server, got status ${status}`);
    throw new ApiFailure(status, body, headers.get("retry-after"));
  }

  /** Requests one record or one page. @throws ApiFailure, or the error of fetch without a response */
  async function get<P extends Path>(path: P, parameters: Parameters<P>): Promise<Answer<P>> {
    const { path: inPath = {}, query = {} } = parameters as { path?: Fields; query?: Fields };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath[name] ?? "")));
    const address = new URL(filled, url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
    return (await (await request(address)).json()) as Answer<P>;
  }

  /** Repeats the request after Retry-After, as long as the server wishes: a key has a budget of requests. */
  async function requestPatiently(address: URL): Promise<Response> {
    for (;;) {
      try {
        return await request(address);
      } catch (error) {
        const seconds = error instanceof ApiFailure && isTemporary(error) ? error.retryAfterS : null;
        if (seconds === null) throw error;
        await wait(seconds * 1000);
      }
    }
  }

  /** Follows the Link headers of a list. `sinceName` is the parameter that takes a Sync-Cursor. */
  async function* walk<P extends ListPath>(
    path: P,
    sinceName: "updated_since" | "after",
    cursor: string | null,
  ): AsyncGenerator<{ items: Answer<P>["data"]["items"]; cursor: string }> {
    let address: URL | null = firstPage(new URL(path, url), sinceName, cursor);
    while (address !== null) {
      const response = await requestPatiently(address);
      const { data } = (await response.json()) as Answer<P>;
      const link = nextOf(response.headers.get("link"));
      if (link === null && data.has_more) throw new Error(`expected a Link header on a page of ${path}, got none`);
      const next = link ?? response.headers.get("sync-cursor");
      if (next === null) throw new Error(`expected a Sync-Cursor header on the last page of ${path}, got none`);
      yield { items: data.items, cursor: next };
      address = link === null ? null : new URL(link, url);
    }
  }

  /** Yields the studies that changed since a cursor, all of them with null. The last change of a study comes last. */
  async function* changedStudies(cursor: string | null): AsyncGenerator<StudyPage> {
    for await (const page of walk("/api/v1/lab/diagnostics", "updated_since", cursor))
      yield { studies: page.items, cursor: page.cursor };
  }

  /** Yields the patients that changed since a cursor, all of them with null. */
  async function* changedPatients(cursor: string | null): AsyncGenerator<PatientPage> {
    for await (const page of walk("/api/v1/patients", "updated_since", cursor))
      yield { patients: page.items, cursor: page.cursor };
  }

  /** Yields the patients and studies that left the lists since a cursor, and did not return. */
  async function* removedRecords(cursor: string | null): AsyncGenerator<RemovedPage> {
    for await (const page of walk("/api/v1/changes", "after", cursor))
      yield { removed: page.items, cursor: page.cursor };
  }

  return { get, changedStudies, changedPatients, removedRecords };
}

function isTemporary({ status }: ApiFailure): boolean {
  return status === 429 || status === 503;
}

/** A cursor is the address of a page, or a Sync-Cursor. */
function firstPage(list: URL, sinceName: string, cursor: string | null): URL {
  if (cursor?.startsWith("/")) return new URL(cursor, list);
  list.searchParams.set("page_size", "100");
  if (cursor !== null) list.searchParams.set(sinceName, cursor);
  return list;
}

/** @returns the address of the next page (RFC 8288); null if there is none */
function nextOf(link: string | null): string | null {
  return /<([^>]*)>;\s*rel="next"/.exec(link ?? "")?.[1] ?? null;
}

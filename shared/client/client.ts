import type { ErrorCode, ErrorEnvelope, ListedStudy, paths } from "./api.ts";

// A client of the read API for integrations. Copy this folder: it needs fetch (Node 18 or newer) and nothing else.

export interface ClientOptions {
  /** Address of the server, such as `https://vetwire.example.com`. */
  readonly url: string;
  /** An API key of the clinic. Keep it on your server. */
  readonly key: string;
  /** Time for one request. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

type Path = keyof paths;
type Parameters<P extends Path> = Omit<paths[P]["get"]["parameters"], "header">;
type Answer<P extends Path> = paths[P]["get"]["responses"][200]["content"]["application/json"];

type Fields = Readonly<Record<string, string | number | boolean>>;

/** An error that the server answered. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  /** Seconds to wait before the next request, for 429 and 503; null otherwise. */
  readonly retryAfterS: number | null;

  constructor(status: number, { error: { code, message } }: ErrorEnvelope, retryAfter: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfter === null ? null : Number(retryAfter);
  }
}

/** Studies that changed, and the cursor for the next call. */
export interface Changes {
  readonly studies: readonly ListedStudy[];
  readonly cursor: string | null;
}

export function createClient({ url, key, timeoutMs = 30_000, fetch: send = fetch }: ClientOptions) {
  /** Asks for one record or one page. @throws ApiFailure, or the error of fetch without an answer */
  async function get<P extends Path>(path: P, parameters: Parameters<P>): Promise<Answer<P>> {
    const { path: inPath = {}, query = {} } = parameters as { path?: Fields; query?: Fields };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath[name] ?? "")));
    const address = new URL(filled, url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
    const response = await send(address, {
      // Patients, calendar and inventory read the first header, records and studies the second.
      headers: { "x-api-key": key, authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      throw new ApiFailure(
        response.status,
        (await response.json()) as ErrorEnvelope,
        response.headers.get("retry-after"),
      );
    }
    return (await response.json()) as Answer<P>;
  }

  /**
   * Reads the studies that changed since a cursor, all of them with null. Keep the cursor once the studies are stored: the
   * next call misses none, and repeats the last ones.
   */
  async function changedStudies(cursor: string | null): Promise<Changes> {
    for (;;) {
      const studies: ListedStudy[] = [];
      let total = 0;
      for (let page = 1; ; page += 1) {
        const query = { page, page_size: 100, ...(cursor !== null && { updated_since: cursor }) };
        const { data } = await get("/api/v1/lab/diagnostics", { query });
        // A study left the list, so that others moved to a page that was read already: begin again.
        if (data.total < total) break;
        total = data.total;
        studies.push(...data.items);
        if (!data.has_more) return { studies, cursor: studies[0]?.updated_at ?? cursor };
      }
    }
  }

  return { get, changedStudies };
}

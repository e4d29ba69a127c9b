import type {
  CalendarEvent,
  ClinicEvent,
  ErrorCode,
  ErrorEnvelope,
  InventoryItem,
  ListedSoapRecord,
  ListedStudy,
  Patient,
  paths,
  RemovedRecord,
} from "./api.ts";

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

/** The lists whose changes can be requested, with their greatest pages. */
const PAGE_SIZES = {
  "/api/v1/patients": 100,
  "/api/v1/lab/diagnostics": 500,
  "/api/v1/soap": 500,
  "/api/v1/calendar/events": 500,
  "/api/v1/inventory": 100,
  "/api/v1/changes": 500,
  "/api/v1/events": 500,
} as const;
type ListPath = keyof typeof PAGE_SIZES;

/** The parameter that takes the cursor of a list. */
const sinceName = (path: ListPath) =>
  path === "/api/v1/changes" || path === "/api/v1/events" ? "after" : "updated_since";

type Records<Body> = Body extends readonly unknown[]
  ? Body
  : Body extends { data: { items: infer List } }
    ? List
    : never;

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

export interface SoapPage extends Walked {
  readonly records: readonly ListedSoapRecord[];
}

export interface AppointmentPage extends Walked {
  readonly appointments: readonly CalendarEvent[];
}

export interface ItemPage extends Walked {
  readonly items: readonly InventoryItem[];
}

export interface EventPage extends Walked {
  readonly events: readonly ClinicEvent[];
}

export interface RemovedPage extends Walked {
  readonly removed: readonly RemovedRecord[];
}

export function createClient(options: ClientOptions) {
  const request = requester(options);

  /** Requests one record or one page. @throws ApiFailure, or the error of fetch without a response */
  async function get<P extends Path>(path: P, parameters: Parameters<P>): Promise<Answer<P>> {
    const { path: inPath = {}, query = {} } = parameters as { path?: Fields; query?: Fields };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath[name] ?? "")));
    const address = new URL(filled, options.url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
    return (await (await request(address)).json()) as Answer<P>;
  }

  return { get, ...listsOf(walker(options, request)) };
}

type Request = (address: URL) => Promise<Response>;

function requester({ key, timeoutMs = 30_000, fetch: send = fetch }: ClientOptions): Request {
  return async (address) => {
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
  };
}

type Walk = <P extends ListPath>(
  path: P,
  cursor: string | null,
) => AsyncGenerator<{ items: Records<Answer<P>>; cursor: string }>;

function walker(
  { url, wait = (ms) => new Promise((resolve) => void setTimeout(resolve, ms)) }: ClientOptions,
  request: Request,
): Walk {
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

  /** Follows the Link headers of a list. */
  return async function* walk(path, cursor) {
    let address: URL | null = firstPage(new URL(path, url), path, cursor);
    while (address !== null) {
      const response = await requestPatiently(address);
      const body = (await response.json()) as unknown[] | { data: { items: unknown[]; has_more: boolean } };
      const { items, has_more } = Array.isArray(body) ? { items: body, has_more: false } : body.data;
      const link = nextOf(response.headers.get("link"));
      if (link === null && has_more) throw new Error(`expected a Link header on a page of ${path}, got none`);
      const next = link ?? response.headers.get("sync-cursor");
      if (next === null) throw new Error(`expected a Sync-Cursor header on the last page of ${path}, got none`);
      yield { items: items as Records<Answer<typeof path>>, cursor: next };
      address = link === null ? null : new URL(link, url);
    }
  };
}

function listsOf(walk: Walk) {
  /** Yields the studies that changed since a cursor, all of them with null. The last change of a study comes last. */
  async function* changedStudies(cursor: string | null): AsyncGenerator<StudyPage> {
    for await (const page of walk("/api/v1/lab/diagnostics", cursor))
      yield { studies: page.items, cursor: page.cursor };
  }

  /** Yields the patients that changed since a cursor, all of them with null. */
  async function* changedPatients(cursor: string | null): AsyncGenerator<PatientPage> {
    for await (const page of walk("/api/v1/patients", cursor)) yield { patients: page.items, cursor: page.cursor };
  }

  /** Yields the SOAP records that changed since a cursor, all of them with null. */
  async function* changedSoapRecords(cursor: string | null): AsyncGenerator<SoapPage> {
    for await (const page of walk("/api/v1/soap", cursor)) yield { records: page.items, cursor: page.cursor };
  }

  /** Yields the events of the calendar that changed since a cursor, all of them with null. */
  async function* changedAppointments(cursor: string | null): AsyncGenerator<AppointmentPage> {
    for await (const page of walk("/api/v1/calendar/events", cursor ?? EVER))
      yield { appointments: page.items, cursor: page.cursor };
  }

  /** Yields the items of the inventory that changed since a cursor, all of them with null. */
  async function* changedItems(cursor: string | null): AsyncGenerator<ItemPage> {
    for await (const page of walk("/api/v1/inventory", cursor ?? EVER)) yield page;
  }

  /**
   * Yields what happened to the records of the clinic after a cursor, all kept events with null. Begin with the cursor of
   * `events("latest")`, then read the lists. @throws ApiFailure EVENTS.EXPIRED if the next events are no longer kept
   */
  async function* events(cursor: string | null): AsyncGenerator<EventPage> {
    for await (const page of walk("/api/v1/events", cursor)) yield { events: page.items, cursor: page.cursor };
  }

  /** Yields the records that left the lists since a cursor, and did not return. */
  async function* removedRecords(cursor: string | null): AsyncGenerator<RemovedPage> {
    for await (const page of walk("/api/v1/changes", cursor)) yield { removed: page.items, cursor: page.cursor };
  }

  const changes = { changedPatients, changedStudies, changedSoapRecords, changedAppointments, changedItems };
  return { ...changes, removedRecords, events };
}

/** A cursor before all changes, for lists that are other ones without a cursor. */
const EVER = "1970-01-01T00:00:00Z";

function isTemporary({ status }: ApiFailure): boolean {
  return status === 429 || status === 503;
}

/** A cursor is the address of a page, or a Sync-Cursor. */
function firstPage(list: URL, path: ListPath, cursor: string | null): URL {
  if (cursor?.startsWith("/")) return new URL(cursor, list);
  list.searchParams.set("page_size", String(PAGE_SIZES[path]));
  if (cursor !== null) list.searchParams.set(sinceName(path), cursor);
  return list;
}

/** @returns the address of the next page (RFC 8288); null if there is none */
function nextOf(link: string | null): string | null {
  return /<([^>]*)>;\s*rel="next"/.exec(link ?? "")?.[1] ?? null;
}

import type { ErrorCode, ErrorEnvelope, operations } from "./sync-api.ts";

// A client of the sync API for practice software. Copy this folder: it needs fetch and crypto (Node 20 or newer) and nothing else.

export interface SyncClientOptions {
  /** Address of the server, such as `https://vetwire.example.com`. */
  readonly url: string;
  /** An API key of the clinic with `clinic.sync.write`. Keep it on your server. */
  readonly key: string;
  /** Name of your software at this clinic. It never changes, because an `external_id` is an id of its source. */
  readonly source: string;
  /** Time for one request. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  /** Waits before a request is sent again, in milliseconds. By default a timer. */
  readonly wait?: (ms: number) => Promise<void>;
}

/** The kinds of items that can be sent. */
export type Kind = "patients" | "owners" | "orders" | "appointments";
/** The kinds of items that have complete lists. */
type ListedKind = "patients" | "appointments";

type PathOf<K extends Kind> = `/sync/v1/${K}`;
type Body<K extends Kind> = operations[PathOf<K>]["body"];
type Answer<K extends Kind> = operations[PathOf<K>]["answer"];
export type ItemOf<K extends Kind> = Body<K>["items"][number];
type Outcome<K extends Kind> = Answer<K>["items"][number];

/** The outcome of the items. `index` is the position among all items, also of several requests. */
export interface Sent<K extends Kind> {
  readonly counts: Answer<K>["counts"];
  readonly items: readonly Outcome<K>[];
  /** The records that a complete list removed because they are absent, the first 500. */
  readonly absent: readonly { readonly external_id: string; readonly fp: string }[];
}

/** The outcome that the items would have. Nothing is stored. */
export interface Preview<K extends Kind> extends Sent<K> {
  /**
   * Stores the items as previewed. A complete list is confirmed with it, however much it removes.
   * @throws SyncFailure `SYNC.STATE_MOVED` if the outcomes would differ by now: then preview again
   */
  readonly commit: () => Promise<Sent<K>>;
}

/** An error response of the server. Nothing of its request was stored. */
export class SyncFailure extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds to wait before the next request, for 429 and 503; null otherwise. */
  readonly retryAfterS: number | null;

  constructor(status: number, { error: { code, message, details = {} } }: ErrorEnvelope, retryAfter: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterS = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  }
}

/** Max items of one request. */
const ITEMS_MAX = 500;

/** Waits after answers that got lost, in milliseconds. The last failure is thrown. */
const LOST_WAITS_MS = [1000, 2000, 5000, 10_000, 30_000];

/**
 * Returns the function that sends a request until the server decides about it. The same id goes with each try, so that a request whose
 * answer got lost is not stored twice and gets its first answer.
 */
function posterOf({
  url,
  key,
  timeoutMs = 60_000,
  fetch: send = fetch,
  wait = (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
}: Omit<SyncClientOptions, "source">) {
  async function once(address: URL, body: string, id: string): Promise<unknown> {
    const response = await send(address, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": id },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, headers } = response;
    const text = await response.text();
    const answer = parsed(text);
    if (response.ok && answer !== undefined) return answer;
    // A proxy's response is not the server's, which may have stored the request.
    if (!isEnvelope(answer)) throw new Error(`expected a response of the server, got status ${status}`);
    throw new SyncFailure(status, answer, headers.get("retry-after"));
  }

  return async function post<Path extends keyof operations>(
    path: Path,
    body: operations[Path]["body"],
    query: Readonly<Record<string, string>> = {},
  ): Promise<operations[Path]["answer"]> {
    const address = new URL(path, url);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const [text, id] = [JSON.stringify(body), crypto.randomUUID()];
    for (let lost = 0; ; ) {
      try {
        return (await once(address, text, id)) as operations[Path]["answer"];
      } catch (error) {
        if (error instanceof SyncFailure) {
          if (error.retryAfterS === null) throw error;
          await wait(error.retryAfterS * 1000);
          continue;
        }
        const waitMs = LOST_WAITS_MS[lost];
        if (waitMs === undefined) throw error;
        lost += 1;
        await wait(waitMs);
      }
    }
  };
}

export function createSyncClient({ source, ...options }: SyncClientOptions) {
  const post = posterOf(options);

  function bodyOf<K extends Kind>(items: readonly ItemOf<K>[]): Body<K> {
    return { source, mode: "partial", items } as unknown as Body<K>;
  }

  async function postAll<K extends Kind>(
    kind: K,
    bodies: readonly Body<K>[],
    queryOf: (at: number) => Readonly<Record<string, string>>,
  ): Promise<Answer<K>[]> {
    const answers: Answer<K>[] = [];
    for (const [at, body] of bodies.entries())
      answers.push(await post<PathOf<K>>(`/sync/v1/${kind}`, body, queryOf(at)));
    return answers;
  }

  async function previewAll<K extends Kind>(
    kind: K,
    bodies: readonly Body<K>[],
    commitQuery: Readonly<Record<string, string>>,
  ): Promise<Preview<K>> {
    const answers = await postAll(kind, bodies, () => ({ dry_run: "true" }));
    const tokens = answers.map(({ commit_token }) => commit_token ?? "");
    const queryOf = (at: number) => ({ ...commitQuery, commit_token: tokens[at] ?? "" });
    return { ...joined(answers), commit: async () => joined(await postAll(kind, bodies, queryOf)) };
  }

  return {
    /** Sends any number of items, in requests of 500. Repeating it changes nothing. @throws SyncFailure */
    async send<K extends Kind>(kind: K, items: readonly ItemOf<K>[]): Promise<Sent<K>> {
      return joined(await postAll<K>(kind, inBatches(items).map(bodyOf<K>), () => ({})));
    },

    /** Returns what would become of the items. @throws SyncFailure */
    async preview<K extends Kind>(kind: K, items: readonly ItemOf<K>[]): Promise<Preview<K>> {
      return previewAll<K>(kind, inBatches(items).map(bodyOf<K>), {});
    },

    /**
     * Removes what your software no longer has. Send the items first, and nothing else meanwhile.
     * @param all the external ids of everything that it has
     * @throws SyncFailure `SYNC.TOO_MANY_REMOVALS` beyond a tenth: preview the list, and commit what a person has seen
     */
    async sendList<K extends ListedKind>(kind: K, all: readonly string[]): Promise<Sent<K>> {
      return joined(await postAll<K>(kind, [listOf<K>(source, all)], () => ({})));
    },

    /** Returns what a complete list would remove. @throws SyncFailure */
    async previewList<K extends ListedKind>(kind: K, all: readonly string[]): Promise<Preview<K>> {
      return previewAll<K>(kind, [listOf<K>(source, all)], { confirm_removals: "true" });
    },

    /** Makes one patient of two, by their external ids. Repeating it changes nothing. @throws SyncFailure */
    async merge(survivor: string, merged: string): Promise<operations["/sync/v1/patients/merge"]["answer"]> {
      return post("/sync/v1/patients/merge", { source, survivor, merged });
    },
  };
}

function listOf<K extends ListedKind>(source: string, all: readonly string[]): Body<K> {
  return { source, mode: "full", items: [], all } as unknown as Body<K>;
}

/** @throws Error if two items have one external id: in different requests the later one would win, in one both are rejected */
function inBatches<Item extends { readonly external_id: string }>(items: readonly Item[]): (readonly Item[])[] {
  const places = new Map<string, number>();
  for (const [index, { external_id }] of items.entries()) {
    const other = places.get(external_id);
    if (other !== undefined)
      throw new Error(`items ${other} and ${index} have the same external_id, expected one item for each`);
    places.set(external_id, index);
  }
  const count = Math.ceil(items.length / ITEMS_MAX);
  return Array.from({ length: count }, (_, at) => items.slice(at * ITEMS_MAX, (at + 1) * ITEMS_MAX));
}

function joined<K extends Kind>(answers: readonly Answer<K>[]): Sent<K> {
  const counts = { created: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
  for (const answer of answers) {
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += answer.counts[name];
  }
  const items = answers.flatMap((answer, at) =>
    answer.items.map((item) => ({ ...item, index: at * ITEMS_MAX + item.index })),
  );
  return { counts, items, absent: answers.flatMap((answer) => ("absent" in answer ? (answer.absent ?? []) : [])) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isEnvelope(answer: unknown): answer is ErrorEnvelope {
  return typeof (answer as { error?: { code?: unknown } } | undefined)?.error?.code === "string";
}

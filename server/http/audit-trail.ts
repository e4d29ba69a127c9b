import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { isAnyFp } from "../../shared/api/fp.ts";
import { networkOf } from "./rate-limit.ts";
import { type AuditRow, insertRow, insertRows, removeOldest, setTimes } from "../store/audit.ts";
import type { ApiKey } from "../store/keys.ts";
import type { Session } from "../store/query.ts";
import type { Store } from "../store/types.ts";

// Who asked for what: every request with a key, and every refusal. Rows are gathered in memory and written twice a second,
// so that no answer waits for a disk; a crash loses what came since.

export const FLUSH_MS = 500;

/** Requests that wait while the database takes no writes: some 20 MB. Beyond it the oldest are lost, and their number is kept. */
export const ENTRIES_MAX = 50_000;

/** Different refusals a minute with a row of their own: a flood must not fill the disk. */
export const REFUSALS_MAX = 250;

/** Thirteen months: what happened a year ago can still be looked at. */
export const KEPT_MS = 400 * 86_400_000;

/** How long a key that is still looked for holds the end up. */
const GUARDS_MS_MAX = 5_000;

const MINUTE_MS = 60_000;

export type AuditedRequests = ReturnType<typeof auditedRequests>;

/** Requests whose every answer is in the audit, and which are in it too when their client left before. */
export function auditedRequests(audit: AuditTrail, now: () => number) {
  function note(request: FastifyRequest, reply: FastifyReply): void {
    const entry = entryOf(request, reply, now());
    if (entry !== undefined) audit.note(entry);
  }

  return {
    /** Before its key is looked for. */
    begin(request: FastifyRequest): void {
      // Asked for while there is a connection: the socket keeps it.
      void request.ip;
      audit.guardsUnderWay += 1;
    },
    /** When it is refused, let through, or answered already. */
    end(request: FastifyRequest, reply: FastifyReply): void {
      audit.guardsUnderWay -= 1;
      // Answered out of the cache, or left by its client while the key was looked for.
      if (reply.raw.writableEnded || reply.raw.closed) note(request, reply);
      // Not onResponse, which does not come when a client hangs up first: its push is stored all the same.
      else reply.raw.on("close", () => note(request, reply));
    },
  };
}

/** What the audit keeps of a request that is over; undefined when it had no key and was not refused. */
function entryOf(request: FastifyRequest, reply: FastifyReply, at: number): AuditRow | undefined {
  const key = request.getDecorator<ApiKey | null>("apiKey") ?? request.getDecorator<ApiKey | null>("refusedKey");
  // Not Fastify's: when the client went away first, there was no answer.
  const status = reply.raw.headersSent ? reply.raw.statusCode : null;
  if (key === null && !isRefusal(status)) return undefined;
  const { route, fp, count } = request.getDecorator<Subject | null>("subject") ?? subjectOf(request);
  return {
    at,
    request_id: request.id,
    api_key_id: key?.id ?? null,
    method: request.method,
    route,
    fp,
    count,
    status,
    address: request.ip,
    times: 1,
  };
}

/** What was asked for: one record, or of a list how many. It is kept with an answer, since to find it out takes a while. */
export type Subject = Pick<AuditRow, "route" | "fp" | "count">;

export function subjectOf(request: FastifyRequest, payload: unknown = {}): Subject {
  const { fp } = request.params as { fp?: string };
  return {
    route: request.routeOptions.url ?? null,
    // What else stands in its place may be a name.
    fp: fp !== undefined && isAnyFp(fp) ? fp : null,
    count: countItems(payload),
  };
}

/** How many records an answer is a list of: items of a page, a bare array, outcomes of a push. */
function countItems(payload: unknown): number | null {
  if (Array.isArray(payload)) return payload.length;
  const { data, outcomes } = payload as { data?: { items?: unknown[] }; outcomes?: unknown[] };
  return (data?.items ?? outcomes)?.length ?? null;
}

// A key over its limit, and whoever has none, may ask without end.
function isRefusal(status: number | null): boolean {
  return status === 401 || status === 429;
}

export class AuditTrail {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #now: () => number;
  #entries: AuditRow[] = [];
  readonly #refusals = new Map<string, Refusal>();
  #lost: AuditRow | undefined;
  #flushing: Promise<void> | undefined;
  /** Requests whose client is not known yet, and may have left already. */
  guardsUnderWay = 0;
  #isWaiting = false;

  constructor(store: Store, logger: Logger, now: () => number) {
    this.#store = store;
    this.#logger = logger;
    this.#now = now;
  }

  /** Takes a request into the next flush. */
  note(entry: AuditRow): void {
    if (isRefusal(entry.status)) this.#noteRefusal(entry);
    else {
      this.#entries.push(entry);
      // Many at once: taking the first off a long list moves all others.
      if (this.#entries.length > ENTRIES_MAX) this.#lose(ENTRIES_MAX / 10);
    }
  }

  /** Writes what was noted; what the database refuses is kept for the next time. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      this.#forgetRefusals();
    });
    return this.#flushing;
  }

  /** The last flush: what cannot be written now is lost. */
  async close(): Promise<void> {
    for (let waited = 0; this.guardsUnderWay > 0 && waited < GUARDS_MS_MAX; waited += 1) await sleep(1);
    await this.#flushing;
    await this.flush();
    let lost = this.#entries.length + (this.#lost?.times ?? 0);
    for (const { row, timesStored } of this.#refusals.values()) lost += row.times - timesStored;
    if (lost > 0) this.#logger.error({ lost }, "audit entries were lost");
  }

  #noteRefusal(entry: AuditRow): void {
    const { at, status, api_key_id, method, route, address } = entry;
    const alike = `${status} ${api_key_id} ${method} ${route} ${networkOf(address ?? "")}`;
    if (this.#count(alike)) return;
    if (this.#refusals.size < REFUSALS_MAX) {
      this.#refusals.set(alike, { row: { ...entry, fp: null }, id: undefined, timesStored: 0 });
      return;
    }
    const further = `${status} ${api_key_id}`;
    if (this.#count(further)) return;
    const row = { ...unknown, at, status, api_key_id, times: 1 };
    this.#refusals.set(further, { row, id: undefined, timesStored: 0 });
  }

  #count(alike: string): boolean {
    const refusal = this.#refusals.get(alike);
    if (refusal !== undefined) refusal.row.times += 1;
    return refusal !== undefined;
  }

  async #write(): Promise<void> {
    const entries = this.#entries;
    const lost = this.#lost;
    const refusals = [...this.#refusals.values()].filter(({ row, timesStored }) => row.times > timesStored);
    if (entries.length === 0 && lost === undefined && refusals.length === 0) return;
    this.#entries = [];
    this.#lost = undefined;
    try {
      const stored = await this.#store.transaction(async (session) => {
        await removeOldest(session, this.#now() - KEPT_MS);
        if (lost !== undefined) await insertRow(session, lost);
        await insertRows(session, entries);
        return Promise.all(refusals.map((refusal) => storeRefusal(session, refusal)));
      });
      for (const [index, refusal] of refusals.entries()) Object.assign(refusal, stored[index]);
      if (lost !== undefined) this.#logger.error({ lost: lost.times }, "audit entries were lost");
      if (this.#isWaiting) this.#logger.info({ entries: entries.length }, "the audit is written again");
      this.#isWaiting = false;
    } catch (error) {
      this.#keep(entries, lost);
      if (!this.#isWaiting) this.#logger.warn({ err: error }, "the audit cannot be written, it waits in memory");
      this.#isWaiting = true;
    }
  }

  #keep(entries: AuditRow[], lost: AuditRow | undefined): void {
    this.#entries = [...entries, ...this.#entries];
    if (lost !== undefined) this.#lost = { ...lost, times: lost.times + (this.#lost?.times ?? 0) };
    const tooMany = this.#entries.length - ENTRIES_MAX;
    if (tooMany > 0) this.#lose(tooMany);
  }

  #lose(count: number): void {
    const [oldest] = this.#entries.splice(0, count);
    this.#lost ??= { ...unknown, at: oldest?.at ?? this.#now(), times: 0 };
    this.#lost.times += count;
  }

  #forgetRefusals(): void {
    for (const [alike, { row, timesStored }] of this.#refusals) {
      // Both ways: a clock that was set back must not make a minute longer.
      const isOver = Math.abs(this.#now() - row.at) >= MINUTE_MS;
      if (isOver && row.times === timesStored) this.#refusals.delete(alike);
    }
  }
}

/** A refusal and those after it that are alike, in one row that goes on counting for a minute. */
interface Refusal {
  readonly row: AuditRow;
  /** Its row in the database. */
  id: number | undefined;
  timesStored: number;
}

async function storeRefusal(session: Session, { row, id }: Refusal): Promise<Pick<Refusal, "id" | "timesStored">> {
  const { times } = row;
  if (id === undefined) return { id: await insertRow(session, row), timesStored: times };
  await setTimes(session, id, times);
  return { id, timesStored: times };
}

const unknown = {
  request_id: null,
  api_key_id: null,
  method: null,
  route: null,
  fp: null,
  count: null,
  status: null,
  address: null,
};

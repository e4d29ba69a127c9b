import type { Logger } from "pino";
import { type AuditRow, insertRow, insertRows, removeOldest, setTimes } from "./audit.ts";
import type { Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import type { SteadyTime } from "../../database/steady-time.ts";
import { networkOf } from "../../../shared/network/network-address.ts";

// Audit rows in memory until the next flush. No response waits for the disk; a crash loses the rows since the last flush.

/** Max rows in memory while the database takes no writes, about 20 MB. Beyond it the oldest are dropped and counted. */
export const ENTRIES_MAX = 50_000;

/** Max different refusals per minute with a row of their own, so that a flood cannot fill the disk. */
export const REFUSALS_MAX = 250;

/** Retention of a row: thirteen months. */
export const RETENTION_MS = 400 * 86_400_000;

const MINUTE_MS = 60_000;

/** Interval between two looks for old rows, once none is left. */
const REMOVE_MS = 3_600_000;

/** Whether a status is a refusal that a client can repeat without limit. Rows of such refusals are merged. */
export function isRefusal(status: number | null): boolean {
  return status === 401 || status === 429;
}

export class AuditQueue {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #steady: Pick<SteadyTime, "now">;
  /** The steady time of the last look that left no old row. */
  #removedAt = Number.NEGATIVE_INFINITY;
  #entries: AuditRow[] = [];
  readonly #refusals = new Map<string, Refusal>();
  #lost: AuditRow | undefined;
  #dropped = 0;
  #flushing: Promise<void> | undefined;
  /** True from a failed flush to the next successful one. */
  #isFailing = false;

  /** Rows have the time of `now`. They are removed by the `steady` one. */
  constructor(store: Store, logger: Logger, now: () => number, steady: Pick<SteadyTime, "now">) {
    this.#store = store;
    this.#logger = logger;
    this.#now = now;
    this.#steady = steady;
  }

  /** Rows that wait for the next flush. Repeated refusals change a row, and do not count. */
  get waiting(): number {
    return this.#entries.length;
  }

  /** Rows that were dropped, because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds a row to the next flush. */
  add(entry: AuditRow): void {
    if (isRefusal(entry.status)) this.#addRefusal(entry);
    else {
      this.#entries.push(entry);
      // Drops a tenth in one step, since each splice at the front moves all other entries.
      if (this.#entries.length > ENTRIES_MAX) this.#drop(ENTRIES_MAX / 10);
    }
  }

  /** Writes the rows. After a failure they stay for the next flush. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      this.#removeOldRefusals();
    });
    return this.#flushing;
  }

  /** Flushes for the last time. Rows that cannot be written are lost. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.flush();
    let lost = this.#entries.length + (this.#lost?.times ?? 0);
    for (const { row, timesStored } of this.#refusals.values()) lost += row.times - timesStored;
    if (lost > 0) this.#logger.error({ lost }, "audit entries were lost");
  }

  #addRefusal(entry: AuditRow): void {
    const { at, status, api_key_id, method, route, address } = entry;
    const group = `${status} ${api_key_id} ${method} ${route} ${networkOf(address ?? "")}`;
    if (this.#countRepeat(group)) return;
    if (this.#refusals.size < REFUSALS_MAX) {
      this.#refusals.set(group, { row: { ...entry, fp: null }, id: undefined, timesStored: 0 });
      return;
    }
    const overflowGroup = `${status} ${api_key_id}`;
    if (this.#countRepeat(overflowGroup)) return;
    const row = { ...emptyRow, at, status, api_key_id, times: 1 };
    this.#refusals.set(overflowGroup, { row, id: undefined, timesStored: 0 });
  }

  #countRepeat(group: string): boolean {
    const refusal = this.#refusals.get(group);
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
    const steady = this.#steady.now();
    const isDue = steady !== null && Math.abs(steady - this.#removedAt) >= REMOVE_MS;
    let isLeft = false;
    try {
      const stored = await this.#store.transaction(async (session) => {
        if (isDue) isLeft = await removeOldest(session, steady, RETENTION_MS);
        if (lost !== undefined) await insertRow(session, lost);
        await insertRows(session, entries);
        return Promise.all(refusals.map((refusal) => storeRefusal(session, refusal)));
      });
      if (isDue && !isLeft) this.#removedAt = steady;
      for (const [index, refusal] of refusals.entries()) Object.assign(refusal, stored[index]);
      if (lost !== undefined) this.#logger.error({ lost: lost.times }, "audit entries were lost");
      if (this.#isFailing) this.#logger.info({ entries: entries.length }, "the audit is written again");
      this.#isFailing = false;
    } catch (error) {
      this.#keep(entries, lost);
      if (!this.#isFailing) this.#logger.warn({ err: error }, "the audit cannot be written, it waits in memory");
      this.#isFailing = true;
    }
  }

  /** Returns rows to the queue after a failed flush. */
  #keep(entries: AuditRow[], lost: AuditRow | undefined): void {
    this.#entries = [...entries, ...this.#entries];
    if (lost !== undefined) this.#lost = { ...lost, times: lost.times + (this.#lost?.times ?? 0) };
    const tooMany = this.#entries.length - ENTRIES_MAX;
    if (tooMany > 0) this.#drop(tooMany);
  }

  #drop(count: number): void {
    const [oldest] = this.#entries.splice(0, count);
    this.#lost ??= { ...emptyRow, at: oldest?.at ?? this.#now(), times: 0 };
    this.#lost.times += count;
    this.#dropped += count;
  }

  #removeOldRefusals(): void {
    for (const [group, { row, timesStored }] of this.#refusals) {
      // The absolute value, so that a clock that was set back does not lengthen the minute.
      const isOver = Math.abs(this.#now() - row.at) >= MINUTE_MS;
      if (isOver && row.times === timesStored) this.#refusals.delete(group);
    }
  }
}

/** Similar refusals, counted in one row for a minute. */
interface Refusal {
  readonly row: AuditRow;
  /** Id of the row in the database. Undefined until it is stored. */
  id: number | undefined;
  timesStored: number;
}

async function storeRefusal(session: Session, { row, id }: Refusal): Promise<Pick<Refusal, "id" | "timesStored">> {
  const { times } = row;
  if (id === undefined) return { id: await insertRow(session, row), timesStored: times };
  await setTimes(session, id, times);
  return { id, timesStored: times };
}

const emptyRow = {
  request_id: null,
  api_key_id: null,
  user_id: null,
  clinic_id: null,
  method: null,
  route: null,
  fp: null,
  count: null,
  status: null,
  address: null,
};

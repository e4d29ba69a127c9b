import type { ClientBase, ClientConfig, Pool } from "pg";
import { DamagedRecord } from "./damaged-records.ts";
import { execute, isSerializationFailure, openPool, poolState, withPoolClient } from "./postgres-client.ts";
import { StoreUnavailable } from "./query.ts";
import type { PoolState } from "./store.ts";

// Reads from the nodes of DATABASE_READ_URL. A node that is away or behind is left alone for a while, so that no request waits for it.

/** Max time in ms for a connection, and for a response. The primary serves the request after it. */
const CONNECT_WAIT_MS = 1000;
const RESPONSE_WAIT_MS = 3000;

/** Time in ms for which a node that was lost, or that was behind, is left alone. */
const LOST_REST_MS = 1000;
const BEHIND_REST_MS = 50;

interface Standby {
  readonly config: ClientConfig;
  /** Undefined until a first connection worked, and after one was lost. */
  pool: Pool | undefined;
  /** Monotonic time. */
  restsUntil: number;
  isConnecting: boolean;
  /** Monotonic time since which it lacks the versions that reads ask for; null if it had the last one. */
  behindSince: number | null;
}

/** The standby cannot serve this read: the primary serves it. */
export class Behind extends Error {}

export class Standbys {
  readonly #nodes: readonly Standby[];
  readonly #onlyStandbys: boolean;
  readonly #closing = new Set<Promise<void>>();
  #turn = 0;
  #isClosed = false;

  /** `onlyStandbys` leaves a node out that takes writes. */
  constructor(hosts: readonly ClientConfig[], onlyStandbys: boolean) {
    const bounds = { connectionTimeoutMillis: CONNECT_WAIT_MS, query_timeout: RESPONSE_WAIT_MS };
    this.#nodes = hosts.map((config) => ({
      ...{ config: { ...config, ...bounds }, pool: undefined, restsUntil: 0, isConnecting: false, behindSince: null },
    }));
    this.#onlyStandbys = onlyStandbys;
  }

  /** Runs reads on a standby. @returns null if none can serve them: then the primary does */
  async read<T>(work: (client: ClientBase) => Promise<T>): Promise<{ readonly result: T } | null> {
    const node = this.#next();
    if (node?.pool === undefined) return null;
    const { pool } = node;
    try {
      const result = await withPoolClient(pool, work);
      node.behindSince = null;
      return { result };
    } catch (error) {
      if (error instanceof Behind) {
        node.behindSince ??= performance.now();
        node.restsUntil = performance.now() + BEHIND_REST_MS;
      } else if (error instanceof StoreUnavailable) this.#leave(node, pool);
      // The replay of the log cancels reads that hold it up, with the code of a serialization failure.
      else if (!isSerializationFailure(error) && !(error instanceof DamagedRecord)) throw error;
      return null;
    }
  }

  pools(): PoolState[] {
    return this.#nodes.map(({ pool, behindSince }, index) => {
      const lagMs = behindSince === null ? 0 : performance.now() - behindSince;
      return poolState(`standby ${index + 1}`, pool, lagMs);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const node of this.#nodes) if (node.pool !== undefined) this.#leave(node, node.pool);
    await Promise.all(this.#closing);
  }

  /** The nodes take turns. One that rested is connected in the background first. */
  #next(): Standby | undefined {
    const now = performance.now();
    this.#turn += 1;
    let found: Standby | undefined;
    for (let index = 0; index < this.#nodes.length; index += 1) {
      const node = this.#nodes[(this.#turn + index) % this.#nodes.length];
      if (node === undefined || node.restsUntil > now) continue;
      if (node.pool === undefined) void this.#connect(node);
      else found ??= node;
    }
    return found;
  }

  async #connect(node: Standby): Promise<void> {
    if (node.isConnecting || this.#isClosed) return;
    node.isConnecting = true;
    const pool = openPool(node.config, (client) => this.#check(client));
    try {
      await withPoolClient(pool, (client) => execute(client, "select 1"));
      node.pool = pool;
    } catch {
      this.#leave(node, pool);
    } finally {
      node.isConnecting = false;
    }
    if (this.#isClosed) this.#leave(node, pool);
  }

  async #check(client: ClientBase): Promise<void> {
    if (!this.#onlyStandbys) return;
    const { rows } = await execute(client, "select pg_is_in_recovery() as standby");
    const [{ standby }] = rows as [{ standby: boolean }];
    if (!standby) throw new StoreUnavailable("expected a standby, got a node that takes writes");
  }

  #leave(node: Standby, pool: Pool): void {
    node.restsUntil = performance.now() + LOST_REST_MS;
    if (node.pool === pool) node.pool = undefined;
    if (pool.ending) return;
    const closing = pool.end().then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

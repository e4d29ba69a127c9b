import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase, ClientConfig, Pool } from "pg";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { Lease } from "./postgres-lease.ts";
import {
  commitProof,
  execute,
  isNodeLost,
  isRefused,
  NodeLost,
  openPool,
  poolState,
  withClient,
  withPoolClient,
} from "./postgres-client.ts";
import { StoreUnavailable } from "./query.ts";
import type { PoolState } from "./store.ts";

// Finds the node that takes writes among the hosts of DATABASE_URL, and finds its successor after a failover.

/** Time in ms for the other nodes to respond once one takes writes. A primary of the past takes writes too. */
const GRACE_MS = 250;

/** Connections to the node that takes writes. */
export interface PrimaryNode {
  /** Two pools: a transaction may read outside itself, and an import must not block readers. */
  readonly readers: Pool;
  readonly writers: Pool;
  /** Null for a single node without a successor. */
  readonly lease: Lease | null;
}

interface Role {
  readonly takesWrites: boolean;
  /** Differs for each start of each node. */
  readonly instance: string;
  /** Number of failovers that the node knows of. Null on a standby. */
  readonly timeline: number | null;
}

export interface PrimaryOptions {
  /** A configuration for each host. */
  readonly hosts: readonly ClientConfig[];
  /** Null if the node has no successor. Otherwise reads hold with a commit within that time. */
  readonly leaseMs: number | null;
}

export class Primary {
  readonly #hosts: readonly ClientConfig[];
  readonly #leaseMs: number | null;
  #node: PrimaryNode | undefined;
  #search: Promise<PrimaryNode> | undefined;
  /** The highest timeline that was seen. A node of a lower one was replaced. */
  #timeline = 0;
  readonly #closing = new Set<Promise<void>>();

  constructor({ hosts, leaseMs }: PrimaryOptions) {
    this.#hosts = hosts;
    this.#leaseMs = leaseMs;
  }

  /** Whether another node may take over. */
  get hasSuccessors(): boolean {
    return this.#leaseMs !== null;
  }

  /** Runs the work on the node that takes writes. Looks for its successor next time if the work finds the node lost. */
  async use<T>(work: (node: PrimaryNode) => Promise<T>): Promise<T> {
    const node = await this.#find();
    try {
      return await work(node);
    } catch (error) {
      if (isNodeLost(error)) this.#drop(node);
      throw error;
    }
  }

  /** Runs reads on the node. Their result holds only if the node was the primary then. Single reads run again on its successor. */
  async read<T>(work: (readers: Pool) => Promise<T>, runsAgain = true): Promise<T> {
    const confirmed = () =>
      this.use(async (node) => {
        const result = await work(node.readers);
        await node.lease?.confirm();
        return result;
      });
    try {
      return await confirmed();
    } catch (error) {
      if (!runsAgain || !this.hasSuccessors || !isNodeLost(error)) throw error;
      return confirmed();
    }
  }

  /** Finds the node that takes writes. @returns the configuration of its connections */
  async config(): Promise<ClientConfig> {
    return (await this.#choose()).config;
  }

  pools(): PoolState[] {
    return [poolState("read", this.#node?.readers), poolState("write", this.#node?.writers)];
  }

  async close(): Promise<void> {
    if (this.#node !== undefined) this.#drop(this.#node);
    await Promise.all(this.#closing);
  }

  #drop(node: PrimaryNode): void {
    if (this.#node !== node) return;
    this.#node = undefined;
    // Work under way ends by itself.
    const closing = Promise.all([node.readers.end(), node.writers.end()]).then(
      () => void this.#closing.delete(closing),
    );
    this.#closing.add(closing);
  }

  async #find(): Promise<PrimaryNode> {
    if (this.#node !== undefined) return this.#node;
    this.#search ??= this.#open().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  async #open(): Promise<PrimaryNode> {
    const { config, role } = await this.#choose();
    const pool = () => openPool(config, (client) => requireInstance(client, role.instance));
    const readers = pool();
    // On this node and no other.
    const renew = () =>
      withPoolClient(readers, (client) => commitProof(client)).catch((error: unknown) => {
        if (isNodeLost(error)) this.#drop(node);
        throw error;
      });
    const node: PrimaryNode = {
      ...{ readers, writers: pool() },
      lease: this.#leaseMs === null ? null : new Lease(this.#leaseMs, renew),
    };
    this.#node = node;
    return node;
  }

  /** Asks all hosts at once. @throws StoreUnavailable if none takes writes */
  async #choose(): Promise<{ config: ClientConfig; role: Role }> {
    const found: { config: ClientConfig; role: Role }[] = [];
    const failures: unknown[] = [];
    const asking = this.#hosts.map(async (config, index) => {
      const role = await withClient({ ...config, query_timeout: config.connectionTimeoutMillis }, roleOf).catch(
        (error: unknown) => {
          failures.push(error);
          throw error;
        },
      );
      if (!role.takesWrites) {
        const standby = new Standby(`host ${index + 1} of ${this.#hosts.length} of the database takes no writes`);
        failures.push(standby);
        throw standby;
      }
      found.push({ config, role });
    });
    const all = Promise.allSettled(asking);
    const first = Promise.any(asking).then(
      () => sleep(GRACE_MS, undefined, { ref: false }),
      () => undefined,
    );
    await Promise.race([all, first]);
    const newest = found.toSorted((a, b) => (b.role.timeline ?? 0) - (a.role.timeline ?? 0)).at(0);
    if (newest === undefined) throw noPrimary(failures);
    const timeline = newest.role.timeline ?? 0;
    if (timeline < this.#timeline) {
      throw new NodeLost(
        `the database cannot be used now: the node that takes writes is of timeline ${timeline}, expected ${this.#timeline} or later`,
      );
    }
    this.#timeline = timeline;
    return newest;
  }
}

const ROLE = `
  select
    not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off' as "takesWrites",
    concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port()) as instance,
    case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end as timeline
`;

// Whatever the settings of the user: a commit waits for the disk and for the standby, and says so if its wait was cancelled.
const SESSION = `
  set statement_timeout = 0;
  set client_min_messages = notice;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')
`;

async function roleOf(client: ClientBase): Promise<Role> {
  const { rows } = await execute(client, ROLE);
  const [{ timeline, ...role }] = rows as [Omit<Role, "timeline"> & { timeline: string | null }];
  return { ...role, timeline: timeline === null ? null : Number.parseInt(timeline, 16) };
}

/** Behind a proxy each connection may reach another node. @throws NodeLost if it did */
async function requireInstance(client: ClientBase, instance: string): Promise<void> {
  const [role] = await Promise.all([roleOf(client), execute(client, SESSION)]);
  if (!role.takesWrites || role.instance !== instance) throw new NodeLost("the node that takes writes has changed");
}

/** With several hosts the error names each failure. */
function noPrimary(failures: readonly unknown[]): StoreUnavailable {
  const standby = failures.find((failure) => failure instanceof Standby);
  const cause = standby ?? failures.find(isRefused) ?? failures[0];
  const reason = standby !== undefined ? "no node of the database takes writes" : undefined;
  return new StoreUnavailable(failures.map(errorMessage).join("; "), {
    cause: cause instanceof StoreUnavailable ? (cause.cause ?? cause) : cause,
    ...(reason !== undefined && { reason }),
  });
}

/** A node that takes no writes. */
class Standby extends StoreUnavailable {}

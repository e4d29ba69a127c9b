import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { VERSION } from "../../shared/files/program-files.ts";
import type { AuditQueue } from "../records/audit/audit-queue.ts";
import type { Drain } from "../http/drain.ts";
import type { CacheUse } from "../http/response-cache/response-cache.ts";
import type { Quota } from "../records/filing/quota.ts";
import type { Store } from "../database/store.ts";
import { RequestTimes } from "./request-times.ts";

// The metrics of the server. All but the durations of requests are read at each scrape.

/** The parts of a server that the metrics read. */
export interface MetricsSource {
  readonly store: Store;
  readonly audit: AuditQueue;
  readonly cache: CacheUse;
  readonly drain: Drain;
  readonly quota: Pick<Quota, "deferred">;
  /** The port of the clinic's network. */
  readonly network: { readonly connections: () => Promise<number> } | null;
}

export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #times = new RequestTimes(this.#registry);

  /** Register after the request context and before everything that may refuse a request. */
  watch(app: FastifyInstance, source: MetricsSource): void {
    this.#times.measure(app);
    collectDefaultMetrics({ register: this.#registry });
    addRequests(this.#registry, this.#times, async () => {
      return (await connectionsOf(app.server)) + ((await source.network?.connections()) ?? 0);
    });
    addStore(this.#registry, source.store);
    addQueues(this.#registry, source);
  }

  /** Adds who does the periodic work, and how long ago the alerts were computed. */
  watchPeriodic(lease: { readonly isHeld: boolean }, alerts: { readonly passAgeSeconds: number | null }): void {
    const leads = "1 if this server does the periodic work of all servers";
    gauge(this.#registry, "vetwire_server_periodic_work", leads, () => (lease.isHeld ? 1 : 0));
    const age = "Seconds since this server has looked for alerts; NaN before it does, and while another server does";
    gauge(this.#registry, "vetwire_server_alert_pass_age_seconds", age, () => alerts.passAgeSeconds ?? Number.NaN);
  }

  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

function addRequests(registry: Registry, times: RequestTimes, connections: () => Promise<number>): void {
  const registers = [registry];
  const info = new Gauge({
    name: "vetwire_server_info",
    help: "1, with the version of the server",
    labelNames: ["version"],
    registers,
  });
  info.set({ version: VERSION }, 1);
  total(registry, "vetwire_server_rate_limited_total", "Requests refused with 429", () => times.limited);
  gauge(
    registry,
    "vetwire_server_event_streams",
    "Open streams of pages of the dashboard, and requests of agents that wait for news",
    () => times.streams,
  );
  gauge(registry, "vetwire_server_connections", "Open connections of clients", connections);
}

function addStore(registry: Registry, store: Store): void {
  const registers = [registry];
  gauge(registry, "vetwire_server_database_up", "1 if the database responds", async () =>
    store.ping().then(
      () => 1,
      () => 0,
    ),
  );
  const pool = ["pool"];
  const open = new Gauge({
    name: "vetwire_server_pool_connections",
    help: "Open connections to PostgreSQL, by pool and state; none on SQLite",
    labelNames: [...pool, "state"],
    registers,
    collect() {
      for (const { name, open: all, idle } of store.pools()) {
        open.set({ pool: name, state: "idle" }, idle);
        open.set({ pool: name, state: "busy" }, all - idle);
      }
    },
  });
  const waiting = new Gauge({
    name: "vetwire_server_pool_waiting",
    help: "Queries that wait for a connection to PostgreSQL, by pool",
    labelNames: pool,
    registers,
    collect() {
      for (const { name, waiting: count } of store.pools()) waiting.set({ pool: name }, count);
    },
  });
}

function addQueues(registry: Registry, { audit, cache, drain, quota }: MetricsSource): void {
  const reads = new Counter({
    name: "vetwire_server_cache_reads_total",
    help: "Requests that looked into the response cache, by result",
    labelNames: ["result"],
    registers: [registry],
    collect() {
      reads.reset();
      reads.inc({ result: "hit" }, cache.hits);
      reads.inc({ result: "miss" }, cache.misses);
    },
  });
  gauge(registry, "vetwire_server_cache_bytes", "Size of the response cache", () => cache.bytes);
  gauge(registry, "vetwire_server_audit_waiting", "Audit rows that wait for the database", () => audit.waiting);
  total(registry, "vetwire_server_audit_dropped_total", "Audit rows that found no room in memory", () => audit.dropped);
  const deferred = "New studies beyond the limit of their clinic, each time an agent sent one";
  total(registry, "vetwire_server_studies_deferred_total", deferred, () => quota.deferred);
  gauge(registry, "vetwire_server_draining", "1 from the signal to stop on", () => (drain.hasBegun ? 1 : 0));
}

function gauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  const metric = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      metric.set(await read());
    },
  });
}

function total(registry: Registry, name: string, help: string, read: () => number): void {
  const metric = new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      metric.reset();
      metric.inc(read());
    },
  });
}

async function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}

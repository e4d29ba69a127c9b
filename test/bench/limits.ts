import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import autocannon from "autocannon";
import type * as keys from "../../server/http/auth/api-keys.ts";
import type * as pepper from "../../server/http/auth/pepper.ts";
import type * as importer from "../../server/import/importer.ts";
import type * as stored from "../../server/store/keys.ts";
import type * as open from "../../server/store/database/open.ts";
import { Postgres } from "../support/postgres.ts";
import { CLINIC, clinicFile, type Running, start, temporaryFolder, testPatients, until } from "../support/processes.ts";
import { fromBuild } from "./build.ts";
import { type Figure, median, milliseconds, whole } from "./figure.ts";
import { postgresTime } from "./processor-time.ts";

// The limits over several servers: counters that they share in PostgreSQL, beside counters in the memory of each, in one run.

const SERVERS = [1, 2, 4] as const;
const SERVERS_MAX = 4;
const KEYS = 16;
/** Connections of all clients together. */
const CONNECTIONS = 32;
/** Requests a minute of the key whose limit is checked. */
const LIMIT = 500;
/** Shared counters write a row for each request, memory counters none. */
const RATIO_MIN = 0.15;
const P99_MAX_MS = 250;
/** The count, and a share of the read of the clinic's version. */
const QUERIES_MAX = 2.2;

type Kind = "shared" | "memory";

interface Server {
  readonly url: string;
  readonly use: string;
  readonly running: Running;
}

interface Measured {
  readonly rate: number;
  readonly p99Ms: number;
  readonly queries: number;
  /** Processor time for each request in microseconds, of the servers and of PostgreSQL. */
  readonly serverUs: number;
  readonly postgresUs: number;
}

interface World {
  readonly postgres: Postgres;
  readonly servers: Readonly<Record<Kind, readonly Server[]>>;
  readonly keys: readonly string[];
  readonly limitedKey: string;
  readonly paths: readonly string[];
}

/** Measures 1, 2 and 4 servers on one PostgreSQL. */
export async function* limits(quick: boolean): AsyncGenerator<Figure> {
  const folder = temporaryFolder();
  const postgres = await Postgres.start();
  const running: Running[] = [];
  try {
    const world = await build(folder, postgres, running);
    yield await exactness(world);
    for (const count of SERVERS) {
      yield* compare(world, count, world.keys, `${KEYS} keys`, quick);
      yield* compare(world, count, world.keys.slice(0, 1), "one key", quick);
    }
  } finally {
    await Promise.all(running.map((one) => one.end("SIGKILL")));
    await postgres.end();
    rmSync(folder, { recursive: true });
  }
}

async function build(folder: string, postgres: Postgres, running: Running[]): Promise<World> {
  const { openStore } = await fromBuild<typeof open>("server/store/database/open.ts");
  const { importFile } = await fromBuild<typeof importer>("server/import/importer.ts");
  const { createKey } = await fromBuild<typeof keys>("server/http/auth/api-keys.ts");
  const { loadPepper } = await fromBuild<typeof pepper>("server/http/auth/pepper.ts");
  const { findClinic } = await fromBuild<typeof stored>("server/store/keys.ts");
  const file = path.join(folder, "clinic.ndjson");
  const patients = testPatients(100);
  writeFileSync(file, clinicFile(patients));
  const store = await openStore(postgres.url());
  await importFile(store, file, () => undefined, Date.now, null);
  const clinicId = (await findClinic(store, CLINIC))?.id ?? 0;
  const secret = loadPepper(folder, false);
  const make = async (type: "integration" | "partner") => {
    const permissions: keys.Permission[] = ["clinic.patient.view"];
    return createKey(store, secret, { clinicId, name: "bench", type, permissions, now: Date.now(), expiresAt: null });
  };
  const made: string[] = [];
  for (let count = 0; count < KEYS; count += 1) made.push(await make("integration"));
  const limitedKey = await make("partner");
  await store.close();

  const startAll = async (kind: Kind) =>
    Promise.all(Array.from({ length: SERVERS_MAX }, () => startServer(folder, postgres, kind, running)));
  const servers = { shared: await startAll("shared"), memory: await startAll("memory") };
  return { postgres, servers, keys: made, limitedKey, paths: patients.map(({ fp }) => `/api/v1/patients/${fp}`) };
}

async function startServer(folder: string, postgres: Postgres, kind: Kind, all: Running[]): Promise<Server> {
  const script = path.join(import.meta.dirname, "limits/server.ts");
  const env = { DATABASE_URL: postgres.url() };
  const running = start(script, [folder, kind, String(LIMIT)], env);
  all.push(running);
  const [, url = "", use = ""] = await until("a server serves", () => {
    if (running.process.exitCode !== null) throw new Error(`a server ended: ${running.output()}`);
    return /serves (http:\S+), use (http:\S+), ready/.exec(running.output());
  });
  return { url, use, running };
}

/** Spreads more requests of one key than its limit over four servers at once, and counts those that are admitted. */
async function exactness({ servers, limitedKey, paths }: World): Promise<Figure> {
  const admitted = async (kind: Kind) => {
    const ask = async (index: number) => {
      const { url } = servers[kind][index % SERVERS_MAX] as Server;
      const response = await fetch(`${url}${paths[0]}`, { headers: { "x-api-key": limitedKey } });
      await response.arrayBuffer();
      if (response.status !== 200 && response.status !== 429)
        throw new Error(`expected 200 or 429, got ${response.status}`);
      return response.status;
    };
    let next = 0;
    let count = 0;
    const client = async () => {
      while (next < 3 * LIMIT) if ((await ask(next++)) === 200) count += 1;
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return count;
  };
  const [shared, memory] = [await admitted("shared"), await admitted("memory")];
  return {
    name: `admitted of ${3 * LIMIT} requests of one key with a limit of ${LIMIT}, over ${SERVERS_MAX} servers`,
    ours: `${shared} with shared counters`,
    baseline: `${memory} with counters in memory`,
    ratio: shared / LIMIT,
    bar: `exactly ${LIMIT}`,
    met: shared === LIMIT,
  };
}

async function* compare(
  world: World,
  count: number,
  used: readonly string[],
  name: string,
  quick: boolean,
): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [2, 1] : [5, 4];
  const measured: Record<Kind, Measured[]> = { shared: [], memory: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of ["memory", "shared"] as const) {
      const one = await measure(world, kind, count, used, seconds);
      if (round > 0) measured[kind].push(one);
    }
  }
  const of = (kind: Kind, field: keyof Measured) => median(measured[kind].map((one) => one[field]));
  const described = (kind: Kind) =>
    `${whole(of(kind, "rate"))} requests/s, p99 ${milliseconds(of(kind, "p99Ms"))}, ` +
    `${of(kind, "queries").toFixed(2)} queries a request, processor ${whole(of(kind, "serverUs"))} us of the servers and ` +
    `${whole(of(kind, "postgresUs"))} us of PostgreSQL`;
  const ratio = of("shared", "rate") / of("memory", "rate");
  yield {
    name: `${count} server${count === 1 ? "" : "s"}, ${name}, GET one record, cached`,
    ours: `shared ${described("shared")}`,
    baseline: `memory ${described("memory")} (medians of ${rounds} rounds)`,
    ratio,
    bar: `ratio >= ${RATIO_MIN}, p99 < ${P99_MAX_MS} ms, at most ${QUERIES_MAX} queries`,
    met: ratio >= RATIO_MIN && of("shared", "p99Ms") < P99_MAX_MS && of("shared", "queries") <= QUERIES_MAX,
  };
}

async function measure(
  { postgres, servers, paths }: World,
  kind: Kind,
  count: number,
  used: readonly string[],
  seconds: number,
): Promise<Measured> {
  const loaded = servers[kind].slice(0, count);
  const before = await readUse(loaded, postgres);
  const results = await Promise.all(
    loaded.map(({ url }) =>
      autocannon({
        url,
        connections: CONNECTIONS / count,
        duration: seconds,
        requests: paths.map((one, index) => ({
          path: one,
          headers: { "x-api-key": used[index % used.length] ?? "" },
        })),
      }),
    ),
  );
  const after = await readUse(loaded, postgres);
  for (const { statusCodeStats = {}, errors } of results) {
    const statuses = Object.keys(statusCodeStats).join();
    if (statuses !== "200" || errors > 0)
      throw new Error(`expected status 200 alone, got ${statuses}, ${errors} errors`);
  }
  const requests = results.reduce((sum, result) => sum + result.requests.total, 0);
  const each = (field: keyof Use) => (after[field] - before[field]) / requests;
  return {
    rate: requests / seconds,
    p99Ms: Math.max(...results.map(({ latency }) => latency.p99)),
    queries: each("queries"),
    serverUs: each("serverMs") * 1000,
    postgresUs: each("postgresMs") * 1000,
  };
}

interface Use {
  readonly queries: number;
  readonly serverMs: number;
  readonly postgresMs: number;
}

/** Reads what the servers and PostgreSQL used since their start. */
async function readUse(servers: readonly Server[], postgres: Postgres): Promise<Use> {
  const uses = await Promise.all(
    servers.map(async ({ use }) => (await (await fetch(use)).json()) as { queries: number; cpuMs: number }),
  );
  return {
    queries: uses.reduce((sum, one) => sum + one.queries, 0),
    serverMs: uses.reduce((sum, one) => sum + one.cpuMs, 0),
    postgresMs: await postgresTime(postgres),
  };
}

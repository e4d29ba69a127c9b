import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { postgresProblem } from "../../support/postgres.ts";
import { soakCount } from "../../support/soak.ts";
import { Cluster, haproxyProblem } from "./cluster.ts";
import { type LoadResult, underLoad } from "./load.ts";

// Goal: servers that restart one after the other fail no request. Method: server processes on one PostgreSQL behind HAProxy, with
// clients that read and push all the time. HAProxy repeats nothing, so that each failure reaches a client.

const problem = postgresProblem() ?? haproxyProblem();
if (problem !== null) process.stderr.write(`no rolling restart: ${problem}\n`);

const ROUNDS = soakCount(10);
const SERVERS = ROUNDS > 1 ? 3 : 2;
/** Above the time that HAProxy needs to see it, twice 250 ms, on a machine that is busy. */
const DRAIN = ["--drain-seconds", "4"];
const NO_LIMIT = ["--rate-limit", "device=999999999/999999999", "--rate-limit", "ingest=999999999/999999999"];

async function started(servers: number, ...options: string[]): Promise<Cluster> {
  const cluster = await Cluster.start(servers, [...NO_LIMIT, ...options]);
  onTestFinished(() => cluster.end());
  return cluster;
}

/** Returns the fps of all stored studies. */
async function stored({ postgres }: Cluster): Promise<string[]> {
  const client = new Client({ connectionString: postgres.url() });
  await client.connect();
  try {
    const { rows } = await client.query<{ fp: string }>("select fp from study");
    return rows.map(({ fp }) => fp).toSorted();
  } finally {
    await client.end();
  }
}

async function underRestarts(cluster: Cluster, names: readonly string[], signal: NodeJS.Signals): Promise<LoadResult> {
  return underLoad(cluster, async () => {
    for (const name of names) expect(await cluster.restart(name, signal)).toBe(signal === "SIGTERM" ? 0 : null);
  });
}

describe.skipIf(problem !== null)("a rolling restart", { timeout: 90_000 + ROUNDS * 60_000 }, () => {
  test(`${SERVERS} servers that restart in turn, ${ROUNDS} times each, fail no request`, async () => {
    const cluster = await started(SERVERS, ...DRAIN);
    const names = Array.from({ length: ROUNDS }, () => cluster.names).flat();
    const { reads, pushed, failures } = await underRestarts(cluster, names, "SIGTERM");
    expect(failures).toEqual([]);
    expect(reads).toBeGreaterThan(100 * names.length);
    expect(pushed.length).toBeGreaterThan(20 * names.length);
    expect(await stored(cluster)).toEqual([...pushed].toSorted());
  });

  // The control: the load finds what a drain prevents.
  test("a stop without a drain and a kill fail requests, and lose no acknowledged study", async () => {
    const cluster = await started(2, "--drain-seconds", "0");
    const stopped = await underRestarts(cluster, ["s1"], "SIGTERM");
    const killed = await underRestarts(cluster, ["s2"], "SIGKILL");
    expect(stopped.failures.length).toBeGreaterThan(0);
    expect(killed.failures.length).toBeGreaterThan(0);
    const found = new Set(await stored(cluster));
    expect([...stopped.pushed, ...killed.pushed].filter((fp) => !found.has(fp))).toEqual([]);
  });
});

import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Postgres, postgresProblem } from "../support/machine/postgres.ts";
import { freePort, type Running, SERVER, start, temporaryFolder, until } from "../support/machine/processes.ts";
import { addressOf } from "./api/server.ts";
import { type Figure, median, percentile, whole } from "./figure.ts";
import { changeName } from "./idle/agents.ts";
import { IdleAgents } from "./idle/processes.ts";
import { fillClinics } from "./many/clinics.ts";
import { Connections } from "./many/load.ts";

// Idle agents of many clinics at two servers with one PostgreSQL: their requests as the servers count them, the time from a change at
// one server to an agent of the other, and the return of the agents of a server that restarts. CLINICS and SECONDS are variables of the
// environment.

const PER_SECOND_MAX = 500;
const HOST_OF = 10_000;
const MEDIAN_MS_MAX = 5_000;
const PROCESSES = 4;
/** Starts a second at most. Each agent reads all lists then, and the machine is shared with the agents. */
const STARTS = 100;
/** Time of all starts at least, so that heartbeats and waits are spread as those of a host that runs for long. */
const START_MS_MIN = 60_000;
const CHANGE_EVERY_MS = 400;
/** Reads of an agent in an hour that a short run has none of: five of the directory, placements, four of appointments. */
const READS_IN_HOUR = 5 + 1 + 4;
/** The least: a heartbeat a minute, and news that wait 50 s. */
const LEAST_PER_AGENT = 1 / 60 + 1 / 50;
/** The servers store their counts every ten seconds. */
const COUNTED_MS = 15_000;
/** Part of the agents that wait at any moment. The others have a request under way, or a pause. */
const WAITING_PART = 0.9;

interface Server {
  running: Running;
  readonly url: string;
  readonly metrics: string;
  readonly restart: () => Promise<void>;
}

interface World {
  readonly cluster: Postgres;
  readonly servers: readonly Server[];
  readonly keys: readonly string[];
  readonly agents: IdleAgents;
  readonly seconds: number;
}

export async function* idle(quick: boolean): AsyncGenerator<Figure> {
  const problem = postgresProblem();
  if (problem !== null) throw new Error(`idle agents are not measured: ${problem}`);
  const clinics = Number(process.env["CLINICS"] ?? (quick ? 300 : HOST_OF));
  const seconds = Number(process.env["SECONDS"] ?? (quick ? 30 : 60));
  const cluster = await Postgres.start(["shared_buffers=512MB"]);
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const servers: Server[] = [];
  let agents: IdleAgents | undefined;
  try {
    const keys = await fillClinics(cluster.url(), folders[0], clinics);
    // They were used before, at different times of the last minute.
    await cluster.run(`update api_key set last_used_at = ${Date.now()} - (id % 60) * 1000`);
    cpSync(path.join(folders[0], "pepper"), path.join(folders[1], "pepper"));
    for (const folder of folders) servers.push(await startServer(folder, cluster.url()));
    process.stdout.write(`          ${whole(clinics)} clinics are filled\n`);
    const of = (part: number) =>
      keys.map((key, n) => ({ key, url: hostOf(servers, n) })).filter((_, n) => n % PROCESSES === part);
    const startMs = Math.max(START_MS_MIN, (clinics / STARTS) * 1000);
    agents = new IdleAgents(Array.from({ length: PROCESSES }, (_, part) => ({ agents: of(part), startMs })));
    const world = { cluster, servers, keys, agents, seconds };
    await until("all agents have their lists", () => world.agents.begun === clinics, startMs + 600_000, 1_000);
    await allWait(world, 60_000);
    await sleep(COUNTED_MS);
    process.stdout.write(`          ${whole(clinics)} agents wait for news\n`);
    yield await requests(world);
    yield await changes(world);
    yield await restart(world);
    yield faults(world);
  } finally {
    agents?.end();
    for (const { running } of servers) await running.end("SIGKILL");
    await cluster.end();
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

async function startServer(data: string, url: string): Promise<Server> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const args = [
    "run",
    "--operator-console",
    "--host",
    "0.0.0.0",
    "--port",
    String(port),
    "--metrics",
    String(metricsPort),
    "--data",
    data,
  ];
  const begin = () => start(SERVER, args, { DATABASE_URL: url });
  const server: Server = {
    running: begin(),
    url: `http://127.0.0.1:${port}`,
    metrics: `http://127.0.0.1:${metricsPort}/metrics`,
    async restart() {
      await server.running.end("SIGTERM");
      server.running = begin();
      await addressOf(server.running);
    },
  };
  await addressOf(server.running);
  return server;
}

/** The server of an agent under an address of its own, so that the agents of a process share no connection. */
function hostOf(servers: readonly Server[], n: number): string {
  const own = `127.${1 + (n >> 14)}.${(n >> 7) % 128}.${1 + (n % 128)}`;
  return (servers[n % servers.length]?.url ?? "").replace("127.0.0.1", own);
}

/** @returns a metric of each server */
async function metric({ servers }: Pick<World, "servers">, name: string): Promise<number[]> {
  return Promise.all(
    servers.map(async ({ metrics }) => {
      const text = await (await fetch(metrics)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    }),
  );
}

async function allWait(world: World, ms: number): Promise<void> {
  const enough = world.keys.length * WAITING_PART;
  const areWaiting = async () => {
    const waiting = await metric(world, "vetwire_server_event_streams");
    return waiting.reduce((sum, count) => sum + count) >= enough && waiting.every((count) => count >= enough / 2.5);
  };
  await until("the agents wait for news", areWaiting, ms, 1_000);
}

/** Requests that the servers have counted. */
async function served({ cluster }: World): Promise<number> {
  const [row] = await cluster.run("select coalesce(sum(calls), 0)::float as calls from api_calls");
  return Number(row?.["calls"]);
}

async function requests(world: World): Promise<Figure> {
  const { agents, keys, seconds } = world;
  agents.takeRequests();
  const [before, cpuBefore, audit] = [await served(world), await metric(world, CPU), await rows(world, "audit")];
  const began = performance.now();
  await sleep(seconds * 1000);
  const tookS = (performance.now() - began) / 1000;
  const perSecond = (((await served(world)) - before) / tookS) * (HOST_OF / keys.length);
  const routes = [...agents.takeRequests()].toSorted(([, one], [, other]) => other - one);
  const cpu = (await metric(world, CPU)).map((used, n) => ((used - (cpuBefore[n] ?? 0)) / tookS) * 100);
  const memory = await metric(world, "process_resident_memory_bytes");
  const connections = await metric(world, "vetwire_server_connections");
  const each = (values: readonly number[], unit: string) =>
    `${values.map((value) => whole(value)).join(" and ")} ${unit}`;
  process.stdout.write(`          sent: ${routes.map(([route, count]) => `${route} ${count}`).join(", ")}\n`);
  process.stdout.write(
    `          servers: ${each(connections, "connections")}, ${each(
      memory.map((bytes) => bytes / 2 ** 20),
      "MB",
    )}, ` +
      `${each(cpu, "% of a core")}; ${((await rows(world, "audit")) - audit) / tookS} rows of the audit a second\n`,
  );
  const withReads = perSecond + (HOST_OF * READS_IN_HOUR) / 3600;
  const least = HOST_OF * LEAST_PER_AGENT;
  return {
    name: `requests of ${whole(keys.length)} idle agents, for ${whole(HOST_OF)}`,
    ours: `${whole(withReads)}/s, of which ${whole(withReads - perSecond)} by the reads of an hour`,
    baseline: `a heartbeat and news at their longest intervals ${whole(least)}/s`,
    ratio: withReads / least,
    bar: `< ${PER_SECOND_MAX}/s`,
    met: perSecond > 0 && withReads < PER_SECOND_MAX,
  };
}

const CPU = "process_cpu_seconds_total";

async function rows({ cluster }: World, table: string): Promise<number> {
  const [row] = await cluster.run(`select count(*)::float as count from ${table}`);
  return Number(row?.["count"]);
}

/** Changes an animal at one server, whose agent waits at either. */
async function changes({ agents, servers, keys, seconds }: World): Promise<Figure> {
  const connections = new Connections(
    servers.map(({ url }) => url),
    servers.length,
  );
  const commits: number[] = [];
  const made = Math.round((seconds * 1000) / 2 / CHANGE_EVERY_MS);
  const before = agents.arrivals.length;
  for (let n = 0; n < made; n += 1) {
    const began = Date.now();
    const item = {
      external_id: "1",
      name: changeName(began),
      species: "dog",
      owner: { external_id: "1", name: "Owner" },
    };
    const send = connections.sends[n % 2];
    const key = keys[(n * 7919) % keys.length] ?? "";
    const body = { source: "bench", mode: "partial", items: [item] };
    const answer = await send?.({ method: "POST", path: "/sync/v1/patients", key, body });
    if (answer?.status !== 200) throw new Error(`expected a changed animal, got ${answer?.status} ${answer?.text}`);
    commits.push(Date.now() - began);
    await sleep(Math.max(0, CHANGE_EVERY_MS - (Date.now() - began)));
  }
  connections.close();
  const arrived = () => agents.arrivals.slice(before);
  await until("each change arrives", () => arrived().length >= made, 60_000).catch(() => undefined);
  const [ours, commit] = [median(arrived()), median(commits)];
  return {
    name: `a change at a server, until its agent has it: ${arrived().length} of ${made}`,
    ours: `median ${whole(ours)} ms, p95 ${whole(percentile(arrived(), 95))} ms`,
    baseline: `the request that changes ${whole(commit)} ms`,
    ratio: ours / commit,
    bar: `median < ${whole(MEDIAN_MS_MAX)} ms, all arrive`,
    met: ours < MEDIAN_MS_MAX && arrived().length === made,
  };
}

/** Restarts a server with half of the agents. */
async function restart(world: World): Promise<Figure> {
  const { agents, servers, keys } = world;
  const [began, from] = [performance.now(), Math.floor(Date.now() / 1000)];
  await servers[0]?.restart();
  const upMs = performance.now() - began;
  await allWait(world, 120_000);
  const backMs = performance.now() - began;
  const peak = Math.max(...[...agents.perSecond].filter(([second]) => second > from).map(([, count]) => count));
  const returning = keys.length / servers.length;
  return {
    name: `a restart of a server with ${whole(returning)} agents`,
    ours: `at most ${whole(peak)} requests in a second, all wait again after ${(backMs / 1000).toFixed(1)} s`,
    baseline: `all of its agents at the same time ${whole(returning)}; the server was back after ${(upMs / 1000).toFixed(1)} s`,
    ratio: peak / returning,
    bar: "< 0.5",
    met: peak < returning / 2,
  };
}

function faults({ agents, keys }: World): Figure {
  for (const fault of agents.faults) process.stdout.write(`          ${fault}\n`);
  const count = agents.faults.filter((fault) => !/cannot be reached|ECONN|closed/.test(fault)).length;
  return {
    name: "failures of agents, but those of the restart",
    ours: String(count),
    baseline: `${whole(keys.length)} agents`,
    ratio: count / keys.length,
    bar: "none",
    met: count === 0,
  };
}

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import autocannon from "autocannon";
import Database from "better-sqlite3";
import { Client } from "pg";
import { Postgres, urlOf } from "../support/postgres.ts";
import { ROOT, type Running, SERVER, start, temporaryFolder, until } from "../support/processes.ts";
import { fpOf } from "./api/data.ts";
import { fillCluster, FIRST_CLINIC_SHARE } from "./cluster/fill.ts";
import { type Figure, median, milliseconds, whole } from "./figure.ts";
import { postgresTime, processTime } from "./processor-time.ts";

// Reads of 1, 2 and 4 servers on a PostgreSQL primary with two standbys, beside one server on SQLite with the same rows. All
// programs share the processors of one machine. So the processor time of a request tells more than the rate.

const SERVERS = [1, 2, 4] as const;
const SERVERS_MAX = 4;
const STUDIES = Number(process.env["STUDIES"] ?? 100_000);
const STUDIES_OF_A_PATIENT = 5;
const CLINICS = 100;
const KEYS = 8;
/** Requests to each server before the first measurement. */
const WARM_UP = 50;
/** Connections of all clients together. */
const CONNECTIONS = 32;
/** How many times the processor time of a request of one server a request of several may take. */
const TIME_GROWTH_MAX = 2;
/** Processor time of a character in the plot, in microseconds. */
const CHARACTER_US = 100;
const KEY_OPTIONS = ["--type", "integration", "--permissions", "clinic.lab.view,clinic.patient.view"];
const TABLES = ["clinic", "customer", "patient", "clinic_patient", "study", "clinic_study"] as const;

interface Server {
  readonly url: string;
  readonly running: Running;
}

/** Servers on one database, with keys of its large clinic. */
interface Group {
  readonly servers: readonly Server[];
  readonly keys: readonly string[];
}

interface World {
  readonly sqlite: Group;
  readonly cluster: Group;
  readonly primary: Postgres;
  readonly standbys: readonly Postgres[];
}

interface Measured {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time for each request in microseconds. */
  readonly serverUs: number;
  readonly primaryUs: number;
  readonly standbysUs: number;
}

const PATIENTS = Math.ceil(STUDIES / STUDIES_OF_A_PATIENT);
const LIST = "/api/v1/lab/diagnostics";
const SINCE = encodeURIComponent("2026-10-01T00:00:00.000Z");

/** A target of each kind of request. A number of its own keeps it out of the response cache. */
const kinds: Record<string, (nth: number) => string> = {
  "GET one study": (nth) => `${LIST}/${fpOf("cds", patientOf(nth) - 1 || PATIENTS)}?nth=${nth}`,
  "studies of a patient": (nth) => `${LIST}?patient_fp=${fpOf("patient", patientOf(nth))}&nth=${nth}`,
  "changes since a month": (nth) => `${LIST}?updated_since=${SINCE}&nth=${nth}`,
  "first page of all studies": (nth) => `${LIST}?nth=${nth}`,
  "first page of patients": (nth) => `/api/v1/patients?nth=${nth}`,
};

/** A patient of the large clinic. */
function patientOf(nth: number): number {
  return (1 + (nth % Math.floor(PATIENTS / FIRST_CLINIC_SHARE))) * FIRST_CLINIC_SHARE;
}

export async function* severalServers(quick: boolean): AsyncGenerator<Figure> {
  const folder = temporaryFolder();
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const world = await build(folder, ends);
    const bars: Bar[] = [];
    for (const name of Object.keys(kinds)) yield* compare(world, name, quick, bars);
    process.stdout.write(`\n${plot(bars)}\n`);
  } finally {
    for (const end of ends.toReversed()) await end();
    fs.rmSync(folder, { recursive: true });
  }
}

async function build(folder: string, ends: (() => Promise<unknown>)[]): Promise<World> {
  const primary = await Postgres.start();
  ends.push(() => primary.end());
  const sqliteData = path.join(folder, "sqlite");
  const clusterEnv = { DATABASE_URL: primary.url() };
  for (const [data, env] of [
    [sqliteData, {}],
    [folder, clusterEnv],
  ] as const) {
    fs.writeFileSync(path.join(folder, "none.ndjson"), "");
    command(["import", path.join(folder, "none.ndjson"), "--data", data], env);
  }
  const client = new Client({ connectionString: primary.url() });
  await client.connect();
  try {
    await fillCluster(client, { clinics: CLINICS, patients: PATIENTS, studies: STUDIES }, () => undefined);
    await copyRows(client, path.join(sqliteData, "vetwire.db"));
  } finally {
    await client.end();
  }

  const standbys = [await primary.standby("first"), await primary.standby("second")];
  for (const standby of standbys) ends.push(() => standby.end());
  // Acknowledged commits are on a standby too, as in a cluster that fails over.
  await primary.run("alter system set synchronous_standby_names = 'ANY 1 (*)'");
  await primary.run("select pg_reload_conf()");
  const nodes = [primary, ...standbys];
  const env = {
    DATABASE_URL: urlOf(nodes, "postgres", "?target_session_attrs=read-write"),
    DATABASE_READ_URL: urlOf(nodes, "postgres", "?target_session_attrs=prefer-standby"),
  };
  const group = async (data: string, count: number, variables: NodeJS.ProcessEnv): Promise<Group> => {
    const keys = Array.from({ length: KEYS }, () => makeKey(data, variables));
    const started: Server[] = [];
    for (let index = 0; index < count; index += 1) {
      const server = await startServer(data, variables);
      ends.push(() => server.running.end("SIGKILL"));
      started.push(server);
    }
    return { servers: started, keys };
  };
  const cluster = await group(folder, SERVERS_MAX, env);
  return { sqlite: await group(sqliteData, 1, {}), cluster, primary, standbys };
}

function command(args: readonly string[], env: NodeJS.ProcessEnv): string {
  return execFileSync(process.execPath, [SERVER, ...args], {
    ...{ cwd: ROOT, encoding: "utf8", env: { ...process.env, ...env } },
  });
}

function makeKey(data: string, env: NodeJS.ProcessEnv): string {
  const clinic = fpOf("clinic", 1);
  return command(["keys", "create", "--clinic", clinic, "--name", "bench", ...KEY_OPTIONS, "--data", data], env).trim();
}

/** Copies the rows to an SQLite database whose tables have the same columns. */
async function copyRows(client: Client, file: string): Promise<void> {
  const db = new Database(file);
  db.pragma("foreign_keys = OFF");
  for (const table of TABLES) {
    const { rows, fields } = await client.query<unknown[]>({ text: `select * from ${table}`, rowMode: "array" });
    const names = fields.map(({ name }) => name);
    const insert = db.prepare(`insert into ${table} (${names.join()}) values (${names.map(() => "?").join()})`);
    db.exec("begin");
    for (const row of rows) insert.run(...row);
    db.exec("commit");
  }
  db.exec("analyze");
  db.close();
}

async function startServer(data: string, env: NodeJS.ProcessEnv): Promise<Server> {
  const limit = ["--rate-limit", "integration=999999999/999999999"];
  const running = start(SERVER, ["run", "--port", "0", "--data", data, ...limit], env);
  const url = await until("the server listens", () => {
    if (running.process.exitCode !== null) throw new Error(`the server ended: ${running.output()}`);
    return /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(running.output())?.[1];
  });
  return { running, url };
}

async function* compare(world: World, name: string, quick: boolean, bars: Bar[]): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [3, 2] : [5, 4];
  const { sqlite, cluster } = world;
  const first = (count: number): Group => ({ ...cluster, servers: cluster.servers.slice(0, count) });
  const groups = [sqlite, ...SERVERS.map(first)];
  const measured: Measured[][] = groups.map(() => []);
  for (const group of [sqlite, cluster]) await warmUp(group, name);
  // In turn, so that no group meets a quieter machine.
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, group] of groups.entries()) measured[index]?.push(await measure(world, group, name, seconds));
  }
  const [alone = [], ...several] = measured;
  const one = several[0] ?? [];
  bars.push({ name, label: "SQLite", rounds: alone });
  for (const [index, count] of SERVERS.entries()) {
    const ours = several[index] ?? [];
    const growth = timeOf(ours) / timeOf(one);
    bars.push({ name: "", label: `${count} on PostgreSQL`, rounds: ours });
    yield {
      name: `${name}, ${count} server${count === 1 ? "" : "s"} on PostgreSQL`,
      ours: `${describe(ours)}, ${growth.toFixed(2)} of one server's`,
      baseline: `one server on SQLite ${describe(alone)}`,
      ratio: of(ours, "rate") / of(alone, "rate"),
      bar: `processor time <= ${TIME_GROWTH_MAX} of one server's`,
      met: growth <= TIME_GROWTH_MAX,
    };
  }
}

function of(rounds: readonly Measured[], field: keyof Measured): number {
  return median(rounds.map((round) => round[field]));
}

function timeOf(rounds: readonly Measured[]): number {
  return of(rounds, "serverUs") + of(rounds, "primaryUs") + of(rounds, "standbysUs");
}

function describe(rounds: readonly Measured[]): string {
  const us = (["serverUs", "primaryUs", "standbysUs"] as const).map((field) => whole(of(rounds, field)));
  return (
    `${whole(of(rounds, "rate"))}/s, p50 ${milliseconds(of(rounds, "p50Ms"))}, p99 ${milliseconds(of(rounds, "p99Ms"))}, ` +
    `processor ${whole(timeOf(rounds))} us a request (servers, primary, standbys ${us.join(", ")})`
  );
}

interface Bar {
  readonly name: string;
  readonly label: string;
  readonly rounds: readonly Measured[];
}

/** Draws the processor time of a request, with its rate. */
function plot(bars: readonly Bar[]): string {
  const lines = bars.map(({ name, label, rounds }) => {
    const part = (field: "serverUs" | "primaryUs" | "standbysUs", mark: string) =>
      mark.repeat(Math.round(of(rounds, field) / CHARACTER_US));
    const drawn = part("serverUs", "s") + part("primaryUs", "P") + part("standbysUs", "r");
    return `${name.padEnd(28)}${label.padEnd(16)}${whole(of(rounds, "rate")).padStart(6)}/s  ${drawn}`;
  });
  const legend = `processor time of a request, ${CHARACTER_US} us a letter: s servers, P primary, r standbys`;
  return [legend, ...lines].join("\n");
}

/** The next target of any server. None is asked for twice. */
let nth = 0;

function nextTarget(name: string): string {
  nth += 1;
  return kinds[name]?.(nth) ?? "";
}

function headersOf(key: string): Record<string, string> {
  return { "x-api-key": key, authorization: `Bearer ${key}` };
}

/** Prepares statements on each connection, and fills the caches of the databases. */
async function warmUp({ servers, keys }: Group, name: string): Promise<void> {
  for (const { url } of servers) {
    const ask = async (index: number) => {
      const response = await fetch(`${url}${nextTarget(name)}`, { headers: headersOf(keys[index % KEYS] ?? "") });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${name}: expected status 200, got ${response.status}: ${text}`);
    };
    await Promise.all(Array.from({ length: WARM_UP }, (_, index) => ask(index)));
  }
}

async function measure(world: World, group: Group, name: string, seconds: number): Promise<Measured> {
  const before = await timesOf(world, group);
  const results = await Promise.all(
    group.servers.map(({ url }) =>
      autocannon({
        url,
        connections: CONNECTIONS / group.servers.length,
        duration: seconds,
        requests: group.keys.map((key) => ({
          headers: headersOf(key),
          setupRequest: (request) => ({ ...request, path: nextTarget(name) }),
        })),
      }),
    ),
  );
  const after = await timesOf(world, group);
  for (const { statusCodeStats = {}, errors } of results) {
    const statuses = Object.keys(statusCodeStats).join();
    if (statuses !== "200" || errors > 0)
      throw new Error(`${name}: expected status 200 alone, got ${statuses}, ${errors} errors`);
  }
  const requests = results.reduce((total, result) => total + result.requests.total, 0);
  const each = (field: keyof Times) => ((after[field] - before[field]) * 1000) / requests;
  return {
    rate: requests / seconds,
    p50Ms: median(results.map(({ latency }) => latency.p50)),
    p99Ms: Math.max(...results.map(({ latency }) => latency.p99)),
    serverUs: each("servers"),
    primaryUs: each("primary"),
    standbysUs: each("standbys"),
  };
}

interface Times {
  readonly servers: number;
  readonly primary: number;
  readonly standbys: number;
}

/** Reads the processor time of all programs since their start, in ms. */
async function timesOf({ primary, standbys, cluster }: World, group: Group): Promise<Times> {
  const servers = group.servers.reduce((total, { running }) => total + processTime(running.process.pid), 0);
  if (group.keys !== cluster.keys) return { servers, primary: 0, standbys: 0 };
  const ofStandbys = await Promise.all(standbys.map((standby) => postgresTime(standby)));
  return { servers, primary: await postgresTime(primary), standbys: ofStandbys.reduce((a, b) => a + b, 0) };
}

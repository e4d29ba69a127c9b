import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { newFp } from "../../shared/api/fp.ts";
import { Postgres } from "../support/postgres.ts";
import { ROOT, type Running, SERVER, start, temporaryFolder, until } from "../support/processes.ts";
import { fpOf } from "./api/data.ts";
import { residentMegabytes } from "./astm/memory.ts";
import { fillCluster, FIRST_CLINIC_SHARE } from "./cluster/fill.ts";
import { type Figure, median, milliseconds, percentile, whole } from "./figure.ts";

// The cost of each endpoint as the number of studies grows, on one PostgreSQL.

const SIZES = (process.env["STUDIES"] ?? "1000000,10000000").split(",").map(Number);
/** Studies of the database that the larger ones are compared with. */
const SMALL = 100_000;
const CLINICS = 1000;
const STUDIES_OF_A_PATIENT = 5;
/** How many times a request of the largest database may take as long as one of the smallest. */
const GROWTH_MAX = 3;
const GROWTH_MIN_MS = 5;
const KEY_OPTIONS = ["--type", "device", "--permissions", "clinic.lab.ingest,clinic.lab.view,clinic.patient.view"];

const NO_HINT = {
  ...{ identifier: null, name: null, species: null, breed: null, sex: null },
  ...{ owner: null, date_of_birth: null, weight_kg: null },
};

interface Measured {
  readonly studies: number;
  readonly megabytes: number;
  readonly diskGigabytes: number;
  /** Milliseconds of each request, by the name of its kind. */
  readonly times: ReadonlyMap<string, readonly number[]>;
}

export async function* scale(quick: boolean): AsyncGenerator<Figure> {
  const rounds = quick ? 100 : 400;
  const first = await measure(SMALL, rounds);
  for (const studies of SIZES) {
    const grown = await measure(studies, rounds);
    for (const [name, times] of grown.times) yield figureOf(name, times, first.times.get(name) ?? [], studies);
    yield {
      name: `memory of the server, ${whole(studies)} studies, ${grown.diskGigabytes.toFixed(1)} GB on disk`,
      ours: `${grown.megabytes.toFixed(0)} MB resident`,
      baseline: `${whole(SMALL)} studies ${first.megabytes.toFixed(0)} MB`,
      ratio: grown.megabytes / first.megabytes,
      bar: "ratio <= 1.5",
      met: grown.megabytes / first.megabytes <= 1.5,
    };
  }
}

function figureOf(name: string, ours: readonly number[], small: readonly number[], studies: number): Figure {
  const ratio = median(ours) / median(small);
  return {
    name: `${name}, ${whole(studies)} studies`,
    ours: `median ${milliseconds(median(ours))}, p99 ${milliseconds(percentile(ours, 99))}`,
    baseline: `${whole(SMALL)} studies ${milliseconds(median(small))}, ${milliseconds(percentile(small, 99))}`,
    ratio,
    bar: `ratio <= ${GROWTH_MAX}, or under ${GROWTH_MIN_MS} ms`,
    met: ratio <= GROWTH_MAX || median(ours) < GROWTH_MIN_MS,
  };
}

async function measure(studies: number, rounds: number): Promise<Measured> {
  const postgres = await Postgres.start();
  const folder = temporaryFolder();
  const env = { ...process.env, DATABASE_URL: postgres.url() };
  try {
    const command = (...args: readonly string[]) =>
      execFileSync(process.execPath, [SERVER, ...args, "--data", folder], { cwd: ROOT, encoding: "utf8", env });
    fs.writeFileSync(path.join(folder, "none.ndjson"), "");
    command("import", path.join(folder, "none.ndjson"));
    const patients = Math.ceil(studies / STUDIES_OF_A_PATIENT);
    const client = new Client({ connectionString: postgres.url() });
    await client.connect();
    await fillCluster(client, { clinics: CLINICS, patients, studies }, tell);
    const { rows } = await client.query("select pg_database_size(current_database())::float8 / 1e9 as size");
    await client.end();
    const keys = [1, 2].map((clinic) =>
      command("keys", "create", "--clinic", fpOf("clinic", clinic), "--name", "bench", ...KEY_OPTIONS).trim(),
    );
    const server = await startServer(folder, env);
    try {
      const times = await requests(server.url, keys, { studies, patients, rounds });
      const [{ size }] = rows as [{ size: number }];
      return { studies, times, megabytes: residentMegabytes(server.running), diskGigabytes: size };
    } finally {
      await server.running.end("SIGKILL");
    }
  } finally {
    await postgres.end();
    fs.rmSync(folder, { recursive: true });
  }
}

async function startServer(folder: string, env: NodeJS.ProcessEnv): Promise<{ running: Running; url: string }> {
  const limits = ["device", "ingest"].flatMap((type) => ["--rate-limit", `${type}=999999999/999999999`]);
  const running = start(SERVER, ["run", "--port", "0", "--data", folder, ...limits], env);
  const url = await until("the server listens", () => {
    if (running.process.exitCode !== null) throw new Error(`the server ended: ${running.output()}`);
    return /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(running.output())?.[1];
  });
  return { running, url };
}

/** Measures each kind of request in turn, so that no kind meets a quieter machine. No response comes from the cache. */
async function requests(
  url: string,
  keys: readonly string[],
  { studies, patients, rounds }: { studies: number; patients: number; rounds: number },
): Promise<Map<string, number[]>> {
  const [large = "", small = ""] = keys;
  const ofLarge = (round: number) =>
    ((round * 7919) % Math.floor(patients / FIRST_CLINIC_SHARE)) * FIRST_CLINIC_SHARE || 50;
  // Study n belongs to patient n % patients + 1.
  const studyOf = (patient: number, round: number) =>
    patient - 1 + (round % STUDIES_OF_A_PATIENT) * patients || patients;
  const get = async (key: string, target: string) =>
    ask(`${url}${target}`, { headers: { "x-api-key": key, authorization: `Bearer ${key}` } });
  const list = "/api/v1/lab/diagnostics";
  const since = encodeURIComponent("2026-10-31T00:00:00.000Z");
  // A client that reads everything asks for these.
  const [sinceEver, lastPage] = [encodeURIComponent("2020-01-01T00:00:00.000Z"), studies / FIRST_CLINIC_SHARE / 20];
  const kinds: Record<string, (round: number) => Promise<number>> = {
    "GET one study": (round) => get(large, `${list}/${fpOf("cds", studyOf(ofLarge(round), round))}`),
    "studies of a patient": (round) => get(large, `${list}?patient_fp=${fpOf("patient", ofLarge(round))}&nth=${round}`),
    "changes since a day, small clinic": (round) => get(small, `${list}?updated_since=${since}&nth=${round}`),
    "changes since a day, large clinic": (round) => get(large, `${list}?updated_since=${since}&nth=${round}`),
    "first page of all studies, large clinic": (round) => get(large, `${list}?nth=${round}`),
    "page 50 of all studies, large clinic": (round) => get(large, `${list}?page=50&nth=${round}`),
    "last page of all studies, large clinic": (round) => get(large, `${list}?page=${lastPage}&nth=${round}`),
    "the same, after the page before it": async (round) => {
      await get(large, `${list}?page=${lastPage - 1}&nth=${round}`);
      return get(large, `${list}?page=${lastPage}&nth=${round}a`);
    },
    "changes since ever, large clinic": (round) => get(large, `${list}?updated_since=${sinceEver}&nth=${round}`),
    "first page of patients, large clinic": (round) => get(large, `/api/v1/patients?nth=${round}`),
    "push of a new study": (round) => push(url, large, fpOf("patient", ofLarge(round)), newFp("cds"), round),
  };
  const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, request] of Object.entries(kinds)) {
      const ms = await request(round);
      // The first ones prepare statements and fill caches.
      if (round > rounds / 10) times.get(name)?.push(ms);
    }
  }
  return times;
}

async function push(url: string, key: string, patient_fp: string, fp: string, round: number): Promise<number> {
  const study = {
    ...{ fp, patient_fp, modality: "BIOCHEMISTRY", device_name: "Tester", status: "COMPLETED" },
    acquired_at: "2026-11-01T08:00:00.000Z",
    results: [{ analyte: "ALT", value: round, unit: "U/L", reference_range: null, flag: null }],
    ...{
      revision: 1,
      dedupe_key: `bench:${fp}`,
      source: { device_id: "bench", message_id: "1" },
      patient_hint: NO_HINT,
    },
  };
  return ask(`${url}/agent/v1/studies`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ studies: [study] }),
  });
}

/** @returns the milliseconds to the whole response. @throws if it is not 200 */
async function ask(url: string, init: RequestInit): Promise<number> {
  const from = performance.now();
  const response = await fetch(url, init);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: expected status 200, got ${response.status}: ${text}`);
  return performance.now() - from;
}

function tell(step: string): void {
  process.stderr.write(`${new Date().toISOString()} ${step}\n`);
}

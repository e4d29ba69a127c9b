import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { type Dice, diceOf, pick } from "../support/runner/dice.ts";
import { Postgres, postgresProblem } from "../support/machine/postgres.ts";
import { type Running, SERVER, start, temporaryFolder } from "../support/machine/processes.ts";
import { addressOf } from "./api/server.ts";
import { type Figure, percentile, whole } from "./figure.ts";
import { DAYS, DEVICE, fillClinics, idOf, type Kind, namedIn, SIZE } from "./many/clinics.ts";
import { Connections, openLoop, type Send } from "./many/load.ts";

// Reads of 10 000 clinics on two servers with one PostgreSQL, next to the same reads of one clinic of the same size in the same run.
// Each answer is checked. RATE, SECONDS (of each load) and CLINICS are variables of the environment.

const P99_MS_MAX = 50;
const RATIO_MAX = 2;
const [READERS, PCS] = [64, 4];
const READS_PER_PUSH = 100;
/** Both loads take turns, so that a machine that slows down slows both. */
const TURN_SECONDS = 30;
/** The limit counts every request and refuses none. */
const LIMIT = ["--rate-limit", "device=999999999/999999999"];
/** Wrong answers that are shown. */
const SHOWN_MAX = 5;

class Faults {
  count = 0;
  readonly shown: string[] = [];

  add(what: string, { status, text }: Answer): void {
    this.count += 1;
    if (this.shown.length < SHOWN_MAX) this.shown.push(`${what}: ${status} ${text.slice(0, 300)}`);
  }
}

type Answer = Awaited<ReturnType<Send>>;

interface World {
  readonly keys: readonly string[];
  readonly readers: readonly Send[];
  readonly pcs: readonly Send[];
  readonly perSecond: number;
  /** Answers with a record of another clinic, and other wrong ones. */
  readonly crossed: Faults;
  readonly wrong: Faults;
  revision: number;
}

export async function* many(quick: boolean): AsyncGenerator<Figure> {
  const problem = postgresProblem();
  if (problem !== null) throw new Error(`many clinics are not measured: ${problem}`);
  const perSecond = variable("RATE", quick ? 100 : 1000);
  const seconds = variable("SECONDS", quick ? 10 : 60);
  const clinics = variable("CLINICS", 10_000);
  const cluster = await Postgres.start(["shared_buffers=512MB"]);
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  const servers: Running[] = [];
  try {
    const keys = await fillClinics(cluster.url(), first, clinics);
    // A key works at both servers.
    cpSync(path.join(first, "pepper"), path.join(second, "pepper"));
    for (const data of [first, second]) {
      const args = ["run", "--port", "0", "--data", data, ...LIMIT];
      servers.push(start(SERVER, args, { DATABASE_URL: cluster.url() }));
    }
    const urls = await Promise.all(servers.map(addressOf));
    const [readers, pcs] = [new Connections(urls, READERS), new Connections(urls, PCS)];
    const faults = { crossed: new Faults(), wrong: new Faults() };
    yield* measured({ keys, readers: readers.sends, pcs: pcs.sends, perSecond, ...faults, revision: 1 }, seconds);
    readers.close();
    pcs.close();
  } finally {
    for (const server of servers) await server.end("SIGKILL");
    await cluster.end();
    for (const folder of [first, second]) rmSync(folder, { recursive: true });
  }
}

async function* measured(world: World, seconds: number): AsyncGenerator<Figure> {
  const { keys, perSecond, crossed, wrong } = world;
  const dice = diceOf(1);
  const one = () => Math.ceil(keys.length / 2);
  const all = () => dice(keys.length) + 1;
  const [ofMany, ofOne]: [number[], number[]] = [[], []];
  const turn = Math.min(TURN_SECONDS, seconds);
  for (const clinicOf of [one, all]) await load(world, { clinicOf, dice, seconds: Math.min(5, seconds) });
  for (let left = seconds; left > 0; left -= turn) {
    const share = { dice, seconds: Math.min(turn, left) };
    const alone = await load(world, { clinicOf: one, ...share });
    const together = await load(world, { clinicOf: all, ...share });
    for (const latency of alone) ofOne.push(latency);
    for (const latency of together) ofMany.push(latency);
    // A stall of the machine shows as one bad turn, a slow server as many.
    const turnOf = [alone, together].map((latencies) => `${percentile(latencies, 99).toFixed(1)} ms`);
    process.stdout.write(`          ${new Date().toISOString()} p99 of one clinic and of all: ${turnOf.join(", ")}\n`);
  }
  const shown = (latencies: readonly number[]) =>
    `p50 ${percentile(latencies, 50).toFixed(1)} ms, p99 ${percentile(latencies, 99).toFixed(1)} ms`;
  const ratio = percentile(ofMany, 99) / percentile(ofOne, 99);
  const checked = `${whole(ofMany.length + ofOne.length)} reads`;
  for (const each of [...crossed.shown, ...wrong.shown]) process.stdout.write(`          ${each}\n`);
  yield {
    name: `reads of ${whole(keys.length)} clinics, ${whole(perSecond)} a second for ${whole(seconds)} s`,
    ours: shown(ofMany),
    baseline: `one clinic ${shown(ofOne)}`,
    ratio,
    bar: `p99 < ${P99_MS_MAX} ms, ratio < ${RATIO_MAX}`,
    met: percentile(ofMany, 99) < P99_MS_MAX && ratio < RATIO_MAX,
  };
  const faults = crossed.count + wrong.count;
  yield {
    name: "answers with a record of another clinic, and other wrong answers",
    ours: `${crossed.count} and ${wrong.count}`,
    baseline: checked,
    ratio: faults / (ofMany.length + ofOne.length),
    bar: "none",
    met: faults === 0,
  };
}

/** Reads and pushes for some seconds. @returns the milliseconds of each read */
async function load(
  world: World,
  { clinicOf, dice, seconds }: { readonly clinicOf: () => number; readonly dice: Dice; readonly seconds: number },
): Promise<number[]> {
  const { readers, pcs, perSecond } = world;
  const [latencies] = await Promise.all([
    openLoop(readers, { perSecond, seconds }, async (send) => read(world, send, clinicOf(), dice)),
    openLoop(pcs, { perSecond: perSecond / READS_PER_PUSH, seconds }, async (send) =>
      push(world, send, clinicOf(), dice),
    ),
  ]);
  return latencies;
}

const LISTS: readonly (readonly [kind: Kind, path: string])[] = [
  ["patient", "/api/v1/patients?"],
  ["cds", "/api/v1/lab/diagnostics?"],
  ["calevt", `/api/v1/calendar/events?${DAYS}&`],
  ["invitem", "/api/v1/inventory?"],
];
const RECORDS: readonly (readonly [kind: Kind, path: string])[] = [
  ["patient", "/api/v1/patients"],
  ["cds", "/api/v1/lab/diagnostics"],
];
const PAGE = 20;

/** Reads a page of a list or a record. The answer must have every record that it should, and none of another clinic. */
async function read(world: World, send: Send, clinic: number, dice: Dice): Promise<void> {
  const isList = dice(2) === 0;
  const [kind, where] = pick(dice, isList ? LISTS : RECORDS);
  const record = idOf(kind, clinic, dice(SIZE[kind]));
  const asked = isList ? `${where}page_size=${PAGE}` : `${where}/${record}`;
  const answer = await send({ method: "GET", path: asked, key: world.keys[clinic - 1] ?? "" });
  const { ids } = check(world, clinic, `GET ${asked}`, answer);
  const own = [...ids].filter((id) => id.startsWith(`${kind}_`)).length;
  const complete = isList ? own === Math.min(PAGE, SIZE[kind]) : ids.has(record);
  if (answer.status !== 200 || !complete) world.wrong.add(`GET ${asked} of clinic ${clinic}`, answer);
}

const RESULT = { analyte: "ALT", unit: "U/L", reference_range: "10-118", flag: "normal" };
const NO_HINT = {
  ...{ identifier: null, name: null, species: null, breed: null, sex: null, owner: null },
  ...{ date_of_birth: null, weight_kg: null },
};

/** Sends the next revision of a study, as an agent does. */
async function push(world: World, send: Send, clinic: number, dice: Dice): Promise<void> {
  const index = dice(SIZE.cds);
  world.revision += 1;
  const fp = idOf("cds", clinic, index);
  const study = {
    ...{ fp, dedupe_key: fp, patient_fp: idOf("patient", clinic, index % SIZE.patient) },
    ...{ modality: "BIOCHEMISTRY", device_name: "Analyzer", status: "COMPLETED" },
    acquired_at: "2026-01-02T10:00:00.000Z",
    results: [{ ...RESULT, value: 20 + (world.revision % 90) }],
    ...{ revision: world.revision, source: { device_id: DEVICE, message_id: String(world.revision) } },
    patient_hint: NO_HINT,
  };
  const key = world.keys[clinic - 1] ?? "";
  const answer = await send({ method: "POST", path: "/agent/v1/studies", key, body: { studies: [study] } });
  check(world, clinic, "a push", answer);
  if (answer.status !== 200 || !/"outcome":"(filed|unchanged)"/.test(answer.text)) {
    world.wrong.add(`a push of clinic ${clinic}`, answer);
  }
}

function check(world: World, clinic: number, what: string, answer: Answer) {
  const named = namedIn(answer.text);
  if ([...named.clinics].some((other) => other !== clinic)) world.crossed.add(`${what} of clinic ${clinic}`, answer);
  return named;
}

/** A positive number of the environment. */
function variable(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise);
  if (!(value > 0)) throw new Error(`invalid ${name}, expected a positive number, got ${process.env[name]}`);
  return value;
}

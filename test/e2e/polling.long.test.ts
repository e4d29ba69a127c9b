import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { followNews, type ListReader } from "../../agent/push/news.ts";
import { createServerClient } from "../../agent/push/server-client.ts";
import { openStore } from "../../server/database/open.ts";
import type { Store } from "../../server/database/store.ts";
import { addKey, type NewApiKey } from "../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../server/http/auth/pepper.ts";
import { importFile } from "../../server/import/importer.ts";
import { listClinics } from "../../server/records/clinics/clinics.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { NewsList } from "../../shared/api/agent/agent-lists.ts";
import { HEARTBEAT_S } from "../../shared/api/study.ts";
import { newKey } from "../../shared/runtime/api-key.ts";
import { Postgres, postgresProblem } from "../support/postgres.ts";
import { type Running, SERVER, start, temporaryFolder, until } from "../support/processes.ts";

// A host of many clinics: idle agents at two servers on one PostgreSQL, each with the requests of the real one. Printed are the requests
// a second and the time from the begin of a change until its agent has it, with news and, in the same run, by polling. The number
// of agents is POLLING_AGENTS. Polling is measured with fewer: their requests are proportional.

const AGENTS = Number(process.env["POLLING_AGENTS"] ?? 10_000);
const POLLERS = Math.min(AGENTS, 1_000);
const HOST_OF = 10_000;
/** Pause between the starts of two agents, each of which reads all lists. */
const START_EVERY_MS = 20;
const START_MS_MIN = 30_000;
/** The mean wait for news, so that each agent ends one. */
const MEASURED_MS = 45_000;
const CHANGE_EVERY_MS = 250;
/** A list is read again after 15 minutes on average, which the measured time does not show. */
const READ_ALL_S = 15 * 60;

const DIRECTORY: readonly NewsList[] = ["ranges", "codes", "patients", "orders"];
const PATHS: Readonly<Record<NewsList, readonly string[]>> = {
  ranges: ["/agent/v1/ranges"],
  codes: ["/agent/v1/codes"],
  patients: [
    "/agent/v1/removed?page=1&page_size=100&updated_since=",
    "/api/v1/patients?page=1&page_size=100&updated_since=",
  ],
  orders: ["/agent/v1/orders?updated_since="],
  placements: ["/agent/v1/placements?updated_since="],
  appointments: ["/api/v1/calendar/events"],
};
const LISTS_PATHS = Object.values(PATHS).flat().length;

interface Clinic {
  readonly fp: string;
  readonly key: string;
  readonly animal: object;
}

let postgres: Postgres;
let folder: string;
let store: Store;
let clinics: Clinic[];
const servers: { running: Running; address: string }[] = [];

describe.skipIf(postgresProblem() !== null)("idle agents of a host with two servers", () => {
  beforeAll(async () => {
    postgres = await Postgres.start(["max_connections=200"]);
    folder = temporaryFolder();
    store = await openStore(postgres.url());
    const [one, two] = [path.join(folder, "one"), path.join(folder, "two")];
    for (const data of [one, two]) mkdirSync(data, { mode: 0o700 });
    const pepper = loadPepper(one, false);
    copyFileSync(path.join(one, "pepper"), path.join(two, "pepper"));
    clinics = await makeClinics(pepper);
    for (const data of [one, two]) {
      const args = ["run", "--data", data, "--port", "0", "--trust-proxy", "127.0.0.1"];
      const running = start(SERVER, args, { DATABASE_URL: postgres.url() });
      const address = await until("the server listens", () => /listening on (http:[^"]+)/.exec(running.output())?.[1]);
      servers.push({ running, address });
    }
  }, 600_000);

  afterAll(async () => {
    await Promise.all(servers.map(async ({ running }) => running.end("SIGKILL")));
    await store?.close();
    await postgres?.end();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  test("make fewer than 500 requests a second, and have a change within 5 seconds in the median", async () => {
    const polling = await measure(POLLERS, false);
    const news = await measure(AGENTS, true);
    // The lists that are read without news, which the measured time has too few of.
    const readAll = (HOST_OF * LISTS_PATHS) / READ_ALL_S;
    const withAll = news.perSecond + readAll;
    const line = (name: string, { agents, requests, perSecond, latencies }: Measured) =>
      `${name}: ${agents} agents, ${requests} requests in ${MEASURED_MS / 1000} s, ${Math.round(perSecond)}/s for ${HOST_OF}; a ` +
      `change of ${latencies.length} after ${at(latencies, 0.5)} ms (p95 ${at(latencies, 0.95)} ms)\n`;
    process.stdout.write(line("polling", polling) + line("news", news));
    process.stdout.write(`news with all lists every 15 minutes: ${Math.round(withAll)}/s for ${HOST_OF}\n`);
    expect(withAll).toBeLessThan(500);
    expect(withAll).toBeLessThan(polling.perSecond / 3);
    expect(at(news.latencies, 0.5)).toBeLessThan(5_000);
    expect(news.failures).toBe(0);
    expect(news.missed).toBe(0);
  }, 1_200_000);
});

async function makeClinics(pepper: Buffer): Promise<Clinic[]> {
  const made = Array.from({ length: AGENTS }, () => {
    const times = { created_at: "2026-10-01T08:00:00.000Z", updated_at: "2026-10-01T08:00:00.000Z" };
    const shown = { name: "Karabaş", species: "dog", breed: null, sex: null, date_of_birth: null, weight_kg: null };
    const [fp, animal] = [newFp("clinic"), newFp("patient")];
    const owner_customer_fp = newFp("customer");
    return { fp, key: newKey(), animal: { type: "patient", fp: animal, ...shown, owner_customer_fp, ...times } };
  });
  await importLines(
    made.flatMap(({ fp, animal }) => [
      { type: "clinic", fp, name: "A clinic" },
      animal,
      { type: "connection", patient_fp: animal.fp, clinic_fp: fp, active: true },
    ]),
  );
  const ids = new Map((await listClinics(store)).map(({ id, fp }) => [fp, id]));
  const permissions = ["clinic.patient.view", "clinic.lab.ingest", "clinic.calendar.view"] as const;
  const wanted: Omit<NewApiKey, "clinicId"> = {
    ...{ name: "pc", type: "device", permissions: [...permissions], now: Date.now(), expiresAt: null },
  };
  for (let from = 0; from < made.length; from += 500) {
    await store.transaction(async (session) => {
      for (const { fp, key } of made.slice(from, from + 500)) {
        await addKey(session, pepper, key, { ...wanted, clinicId: ids.get(fp) ?? 0 });
      }
    });
  }
  // They were used before, at different times of the last minute.
  await postgres.run(`update api_key set last_used_at = ${Date.now()} - (id % 60) * 1000`);
  return made;
}

async function importLines(lines: readonly object[]): Promise<void> {
  const file = path.join(folder, "lines.ndjson");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  await importFile(store, file, () => undefined, Date.now, null);
}

interface Measured {
  readonly agents: number;
  readonly requests: number;
  /** For a host of HOST_OF agents. */
  readonly perSecond: number;
  /** Ascending, in ms. */
  readonly latencies: readonly number[];
  readonly missed: number;
  readonly failures: number;
}

/** Runs that many agents: with news, or as those of an older version. */
async function measure(count: number, withNews: boolean): Promise<Measured> {
  let [requests, failures] = [0, 0];
  const waiting = new Map<string, { name: string; at: number }>();
  const latencies: number[] = [];
  const stops: (() => void)[] = [];
  const startAgent = ({ fp, key }: Clinic, index: number) => {
    const client = createServerClient(servers[index % 2]?.address ?? "", () => key);
    const get: typeof client.get = async (route, held) => {
      if (!withNews && route.startsWith("/agent/v1/news")) return null;
      requests += 1;
      return client.get(route, held);
    };
    const read = async (lists: ReadonlySet<NewsList>) => {
      const since = new Date(Date.now() - 60_000).toISOString();
      for (const list of lists) {
        for (const route of PATHS[list]) {
          const body = JSON.stringify(await get(route.endsWith("=") ? `${route}${since}` : route));
          const change = waiting.get(fp);
          if (change === undefined || !body.includes(change.name)) continue;
          waiting.delete(fp);
          latencies.push(performance.now() - change.at);
        }
      }
    };
    const failed = () => void (failures += 1);
    const readers: ListReader[] = [
      { lists: DIRECTORY, everyMs: 25_000, retryMs: 15_000, read, failed },
      { lists: ["appointments"], everyMs: 300_000, retryMs: 300_000, read, failed },
      { lists: ["placements"], everyMs: 60_000, retryMs: 60_000, read, failed },
    ];
    const beat = setInterval(() => {
      requests += 1;
      client.post("/agent/v1/heartbeat", { version: "0.2.0" }).catch(failed);
    }, HEARTBEAT_S * 1000);
    stops.push(
      followNews({ get }, readers, async () => undefined),
      () => clearInterval(beat),
    );
  };
  const agents = clinics.slice(0, count);
  const startMs = Math.max(START_MS_MIN, START_EVERY_MS * count);
  for (const [index, clinic] of agents.entries()) {
    setTimeout(() => startAgent(clinic, index), (startMs * index) / count);
  }
  // Until the last one has its lists.
  await sleep(startMs + 20_000);
  const [before, began] = [requests, performance.now()];
  for (let n = 0; performance.now() - began < MEASURED_MS; n += 1) {
    const clinic = agents[(n * 7919) % count];
    if (clinic === undefined) throw new Error("expected agents, got none");
    const name = `Change ${withNews} ${n}`;
    // Includes the time of the import, since an agent may have the change before the import has returned.
    waiting.set(clinic.fp, { name, at: performance.now() });
    await importLines([{ ...clinic.animal, name }]);
    await sleep(CHANGE_EVERY_MS);
  }
  const perSecond = ((requests - before) / (performance.now() - began)) * 1000 * (HOST_OF / count);
  const made = requests - before;
  // The last changes arrive.
  await sleep(30_000);
  for (const stop of stops) stop();
  const ascending = latencies.toSorted((one, other) => one - other);
  return { agents: count, requests: made, perSecond, latencies: ascending, missed: waiting.size, failures };
}

function at(ascending: readonly number[], part: number): number {
  return Math.round(ascending[Math.floor(ascending.length * part)] ?? Number.NaN);
}

import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Client } from "pg";
import { browserProblem, startBrowser } from "../support/peers/browser.ts";
import { createDatabase, Postgres, postgresProblem } from "../support/machine/postgres.ts";
import { ROOT, start, temporaryFolder } from "../support/machine/processes.ts";
import { fpOf } from "./api/data.ts";
import { listens } from "./api/server.ts";
import { CLINIC, fillClinic, type Size } from "./dashboard/clinic.ts";
import { type Figure, median, percentile, whole } from "./figure.ts";

const PAGE_MS_MAX = 200;
const FIRST_VIEW_MS_MAX = 1500;
const BUNDLE_BYTES_MAX = 150_000;
/** Name of the bundle of the chart library. */
const CHARTS = /^(uPlot|chart|trend)/i;

/**
 * Measures what a user waits for at a clinic of 200 000 studies: the answers behind every page, filter and search, on both
 * databases, next to the smallest answer of the same server; the first view with a four times slower processor; the bundles.
 */
export async function* dashboard(quick: boolean): AsyncGenerator<Figure> {
  yield* bundles();
  const size = quick ? { animals: 4_000, studies: 20_000 } : { animals: 40_000, studies: 200_000 };
  const folder = temporaryFolder();
  yield* served("SQLite", { place: folder, data: folder }, size, quick);
  const problem = postgresProblem();
  if (problem !== null) {
    process.stdout.write(`PostgreSQL is not measured: ${problem}\n`);
    return;
  }
  const cluster = await Postgres.start();
  try {
    yield* served("PostgreSQL", { place: await createDatabase(cluster.url()), data: temporaryFolder() }, size, quick);
  } finally {
    await cluster.end();
  }
}

async function* served(
  engine: string,
  { place, data }: { readonly place: string; readonly data: string },
  size: Size,
  quick: boolean,
): AsyncGenerator<Figure> {
  const cookie = await fillClinic(place, size);
  if (place !== data) await analyze(place);
  const env = place === data ? {} : { DATABASE_URL: place };
  const server = path.join(ROOT, "dist/server/main.js");
  const running = start(server, ["run", "--port", "0", "--data", data], env);
  try {
    const url = await listens(running);
    const rounds = quick ? 10 : 40;
    for (const [name, pathOf] of pages(size)) yield await timed(`${engine}: ${name}`, { url, cookie, pathOf, rounds });
    if (engine === "SQLite") yield await firstView(url, cookie);
  } finally {
    await running.end("SIGKILL");
    rmSync(data, { recursive: true });
  }
}

/** Counts the rows for PostgreSQL's planner, as autovacuum does a minute after such a change. */
async function analyze(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("analyze");
  await client.end();
}

type PathOf = (round: number) => string;

/** The answers behind each page. A round asks for another animal, study or page. */
function pages({ animals, studies }: Size): [string, PathOf][] {
  const animal = (round: number) => fpOf("patient", ((round * 7919) % animals) + 1);
  // A study of an animal: every 200th has none.
  const study = (round: number) => fpOf("cds", studies - ((round * 311) % 5_000) - ((round * 311) % 200 === 0 ? 1 : 0));
  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const years = (round: number) => `from=${day(1000 + round)}&to=${day(0)}`;
  const names = ["kar", "şek", "lu", "boncuk", "inci", "zey"];
  const name = (round: number) => encodeURIComponent(names[round % names.length] ?? "");
  return [
    ["Today", () => "/today"],
    ["Counts of the menu", () => "/menu"],
    ["Results", () => "/results"],
    ["Results, 500 rows", () => "/results?rows=500"],
    ["Results, critical", () => "/results?flag=critical"],
    ["Results, outside", () => "/results?flag=outside"],
    ["Results, a device", (round) => `/results?device=Analyzer%20${round % 3}`],
    ["Results, a kind without any", () => "/results?modality=URINALYSIS"],
    ["Results, days long ago", (round) => `/results?from=${day(900 + round)}&to=${day(893 + round)}`],
    [
      "Results, a device's critical ones of a year",
      (round) => `/results?device=Analyzer%20${round % 3}&flag=critical&from=${day(400)}&to=${day(35)}`,
    ],
    ["Results, a name", (round) => `/results?q=${name(round)}`],
    ["Results, a sample number", (round) => `/results?q=s${(round * 977) % studies}`],
    ["Results, a name and critical", (round) => `/results?q=${name(round)}&flag=critical`],
    ["Results, words without any", (round) => `/results?q=zzz${round}`],
    ["Results, an animal", (round) => `/results?patient=${animal(round)}`],
    ["Results, open follow-ups", () => "/results?follow=open"],
    ["Results, names of devices", () => "/results-devices"],
    ["Study", (round) => `/results/${study(round)}`],
    ["Patients", () => "/patients"],
    ["Patients, last page", (round) => `/patients?page=${Math.floor(animals / 50) - round}`],
    ["Patients, a species", () => "/patients?species=cat"],
    ["Patients, a name", (round) => `/patients?search=${name(round)}`],
    ["Patients, a card number", (round) => `/patients?search=${100_000 + ((round * 977) % animals)}`],
    ["Patients, an owner", (round) => `/patients?search=${encodeURIComponent(`Yılm ${names[round % names.length]}`)}`],
    ["Patient", (round) => `/patients/${animal(round)}`],
    ["Patient's results", (round) => `/patients/${animal(round)}/results?all=true`],
    ["Patient's trend", (round) => `/patients/${animal(round)}/results?all=true&analyte=CREA`],
    ["To place", () => "/unmatched"],
    ["To place, one", (round) => `/unmatched/${fpOf("cds", 200 * (round + 1) + 1)}`],
    ["Unknown codes", () => "/codes"],
    ["Orders", () => "/orders"],
    ["Records", () => "/records"],
    ["Calendar", () => "/calendar"],
    ["Stock", () => "/stock"],
    ["Devices", () => "/devices"],
    ["Audit", () => "/audit"],
    ["Own interval, dogs", (round) => `/ranges/own/candidates?animal=dog&analyte=ALT&age_from=366&${years(round)}`],
    ["Own interval, a kind without any", (round) => `/ranges/own/candidates?animal=ferret&analyte=ALT&${years(round)}`],
  ];
}

async function timed(
  name: string,
  { url, cookie, pathOf, rounds }: { url: string; cookie: string; pathOf: PathOf; rounds: number },
): Promise<Figure> {
  const ask = async (asked: string) => {
    const from = performance.now();
    const response = await fetch(`${url}/clinic/v1${asked}`, { headers: { cookie } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${asked}: expected 200, got ${response.status}`);
    return performance.now() - from;
  };
  const [ours, smallest]: [number[], number[]] = [[], []];
  await ask(`/clinics/${CLINIC}${pathOf(rounds)}`);
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await ask(`/clinics/${CLINIC}${pathOf(round)}`));
    smallest.push(await ask("/session"));
  }
  const p95 = percentile(ours, 95);
  return {
    name,
    ours: `${whole(p95)} ms at the 95th percentile, median ${whole(median(ours))} ms`,
    baseline: `the session alone ${percentile(smallest, 95).toFixed(1)} ms`,
    ratio: p95 / percentile(smallest, 95),
    bar: `< ${PAGE_MS_MAX} ms`,
    met: p95 < PAGE_MS_MAX,
  };
}

/** Opens Today in a new browser, until its newest results stand. */
async function firstView(url: string, cookie: string): Promise<Figure> {
  const problem = browserProblem();
  if (problem !== null) throw new Error(`the first view is not measured: ${problem}`);
  const browser = await startBrowser();
  const view = async (slower: number) => {
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 900 } });
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url, sameSite: "Strict", httpOnly: true }]);
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: slower });
    const from = performance.now();
    await page.goto(`${url}/dashboard`, { waitUntil: "commit" });
    await page.locator("main table tbody tr").first().waitFor();
    const took = performance.now() - from;
    await context.close();
    return took;
  };
  try {
    await view(1);
    const [slow, fast]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      slow.push(await view(4));
      fast.push(await view(1));
    }
    return {
      name: "the first view of Today, processor four times slower",
      ours: `${whole(median(slow))} ms`,
      baseline: `not slowed ${whole(median(fast))} ms`,
      ratio: median(slow) / median(fast),
      bar: `< ${FIRST_VIEW_MS_MAX} ms`,
      met: median(slow) < FIRST_VIEW_MS_MAX,
    };
  } finally {
    await browser.close();
  }
}

function* bundles(): Generator<Figure> {
  const assets = path.join(ROOT, "dist/server/web/assets");
  const sizes = readdirSync(assets)
    .filter((file) => /\.(js|css)$/.test(file))
    .map((file) => ({ file, bytes: gzipSync(readFileSync(path.join(assets, file))).length }))
    .toSorted((one, other) => other.bytes - one.bytes);
  for (const { file, bytes } of sizes.slice(0, 8)) process.stdout.write(`          ${whole(bytes)} bytes ${file}\n`);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = sizes.find(({ file }) => !CHARTS.test(file));
  if (largest === undefined) throw new Error(`expected bundles in ${assets}, got none`);
  yield {
    name: "the largest bundle but charts, compressed",
    ours: `${whole(largest.bytes)} bytes, ${largest.file}`,
    baseline: `all ${sizes.length} bundles ${whole(total)} bytes`,
    ratio: largest.bytes / total,
    bar: `<= ${whole(BUNDLE_BYTES_MAX)} bytes`,
    met: largest.bytes <= BUNDLE_BYTES_MAX,
  };
}

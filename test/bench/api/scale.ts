import { residentMegabytes } from "../astm/memory.ts";
import { startScript } from "../build.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";
import { fpOf } from "./data.ts";
import { client } from "./pages.ts";
import type { Clinic } from "./server.ts";

const REQUESTS_PER_SECOND = 200;
const P99_MAX_MS = 20;
const START_MAX_MS = 2000;
const MEGABYTES_MAX = 300;
const RECORDS = 200;

/** Measures a server with much data: reads at a steady rate from a warm cache, the start, and the memory afterwards. */
export async function* atScale(clinic: Clinic, quick: boolean): AsyncGenerator<Figure> {
  // With 100 clinics, every hundredth patient belongs to the first clinic.
  const paths = Array.from({ length: RECORDS }, (_, index) => `/api/v1/patients/${fpOf("patient", index * 100 + 100)}`);
  paths.push("/api/v1/patients?species=dog", "/api/v1/patients?page_size=100");
  const request = client(clinic);
  const cold: number[] = [];
  for (const path of paths) cold.push((await request(path)).ms);

  const warm: Promise<number>[] = [];
  const begun = performance.now();
  for (let count = 0; count < REQUESTS_PER_SECOND * (quick ? 3 : 15); count += 1) {
    const wait = begun + (count * 1000) / REQUESTS_PER_SECOND - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    warm.push(request(paths[count % paths.length] ?? "").then(({ ms }) => ms));
  }
  const p99 = percentile(await Promise.all(warm), 99);
  const first = percentile(cold, 99);
  const nothing = await startScript("api/raw-server.ts");
  const [resident, bare] = [residentMegabytes(clinic.running), residentMegabytes(nothing)];
  await nothing.end();

  yield {
    name: `a warm read, ${REQUESTS_PER_SECOND}/s`,
    ours: `p99 ${milliseconds(p99)}`,
    baseline: `cold reads p99 ${milliseconds(first)}`,
    ratio: p99 / first,
    bar: `< ${P99_MAX_MS} ms`,
    met: p99 < P99_MAX_MS,
  };
  yield {
    name: "start of the process until it listens",
    ours: milliseconds(clinic.startMs),
    baseline: `without data ${milliseconds(clinic.emptyStartMs)}`,
    ratio: clinic.startMs / clinic.emptyStartMs,
    bar: `< ${START_MAX_MS} ms`,
    met: clinic.startMs < START_MAX_MS,
  };
  yield {
    name: "memory after these reads",
    ours: `${resident.toFixed(0)} MB resident`,
    baseline: `raw node:http ${bare.toFixed(0)} MB`,
    ratio: resident / bare,
    bar: `< ${MEGABYTES_MAX} MB`,
    met: resident < MEGABYTES_MAX,
  };
}

import type { SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import type { Study } from "../../../shared/api/study.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { World } from "../../support/processes.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";
import { measurement, play, startDevices } from "./device.ts";

const DEVICES = 4;
const WARM_UP = 5;
const P95_MAX_MS = 300;
const POLL_MS = 2;

/** Measures the time from a device's last frame to the study in the API, beside the same study posted directly to the server. */
export async function* deviceToApi(quick: boolean): AsyncGenerator<Figure> {
  const messages = quick ? 20 : 100;
  const world = await World.create(messages + WARM_UP, ["--rate-limit", "device=1000000/1000000"]);
  try {
    const lines = await startDevices(world, DEVICES);
    const ours: number[] = [];
    const direct: number[] = [];
    for (let number = 0; number < messages + WARM_UP; number++) {
      const { ms, study } = await deviceToGet(world, lines[number % DEVICES]!, number);
      const straight = await postToGet(world, study);
      if (number < WARM_UP) continue; // the agent fetches patients, V8 compiles
      ours.push(ms);
      direct.push(straight);
    }
    yield figure(ours, direct);
  } finally {
    await world.end();
  }
}

async function deviceToGet(world: World, line: SimulatorLine, number: number): Promise<{ ms: number; study: Study }> {
  const { lastFrameSentAt } = await play(measurement(number, world.patients), line);
  const fp = await poll("the study has its fp", () => world.messages()[number]?.study_fps[0]);
  const study = await poll("the study can be read", () => readable(world, fp));
  return { ms: performance.now() - lastFrameSentAt, study };
}

async function postToGet(world: World, study: Study): Promise<number> {
  const fp = newFp("cds");
  const nothing = { identifier: null, name: null, species: null, breed: null };
  const pushed = {
    ...study,
    fp,
    revision: 1,
    dedupe_key: `bench:${fp}`,
    source: { device_id: "bench", message_id: fp },
    patient_hint: { ...nothing, sex: null, owner: null, date_of_birth: null, weight_kg: null },
  };
  const from = performance.now();
  const response = await fetch(`http://127.0.0.1:${world.serverPort}/agent/v1/studies`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": world.key },
    body: JSON.stringify({ studies: [pushed] }),
  });
  if (!response.ok) throw new Error(`expected status 2xx, got ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  await poll("the posted study can be read", () => readable(world, fp));
  return performance.now() - from;
}

async function readable(world: World, fp: string): Promise<Study | null> {
  const { status, body } = await world.getStudy(fp);
  return status === 200 ? (body as { data: Study }).data : null;
}

/** Polls as until() does, but often enough for a measurement. */
async function poll<Result>(what: string, look: () => Result | Promise<Result>): Promise<NonNullable<Result>> {
  const end = performance.now() + 10_000;
  while (performance.now() < end) {
    const result = await look();
    if (result !== null && result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`expected within 10 s: ${what}`);
}

function figure(ours: readonly number[], direct: readonly number[]): Figure {
  const p95 = percentile(ours, 95);
  const directP95 = percentile(direct, 95);
  return {
    name: `device's last frame to study readable by GET, ${ours.length} messages`,
    ours: `p50 ${milliseconds(percentile(ours, 50))}, p95 ${milliseconds(p95)}`,
    baseline: `POST directly to the server p50 ${milliseconds(percentile(direct, 50))}, p95 ${milliseconds(directP95)}`,
    ratio: p95 / directP95,
    bar: `p95 < ${P95_MAX_MS} ms`,
    met: p95 < P95_MAX_MS,
  };
}

import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Line } from "../../../agent/simulate.ts";
import { ROOT, until, World } from "../../support/processes.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";
import { measurement, play, sleepUntil, startDevices } from "./device.ts";

const DEVICES = 10;
const MESSAGES_PER_SECOND = 5;
const MESSAGE_EVERY_MS = 1000 / DEVICES / MESSAGES_PER_SECOND;
const RATIO_MAX = 3;
/** An agent runs for months; what its first hundreds of messages pay is the compiler's time. */
const WARM_UP_ROUNDS = 4;
/** Where the disk itself stays under `bareMax`. */
const ABSOLUTE = { bareMaxMs: 15, maxMs: 50 };

/** Frame to ACK under the load of a busy clinic, whole agent and server, beside bare fsyncs at the same pace, in turn. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [WARM_UP_ROUNDS + 2, 1.5] : [WARM_UP_ROUNDS + 16, 2];
  const world = await World.create(50);
  try {
    const lines = await startDevices(world, DEVICES);
    const ours: number[] = [];
    const bare: number[] = [];
    let messages = 0;
    for (let round = 0; round < rounds; round++) {
      const ofBare = await bareFsyncs(path.join(world.folder, "bare"), seconds);
      const ofAgent = await devicesAtWork(world, lines, messages, seconds);
      messages += ofAgent.messages;
      await until("the outbox drains", () => world.status().outbox.depth === 0);
      if (round < WARM_UP_ROUNDS) continue;
      bare.push(...ofBare);
      ours.push(...ofAgent.latencies);
    }
    yield figure(ours, bare);
  } finally {
    await world.end();
  }
}

async function devicesAtWork(world: World, lines: readonly Line[], firstNumber: number, seconds: number) {
  const latencies: number[] = [];
  let messages = 0;
  const from = performance.now();
  await Promise.all(
    lines.map(async (line, device) => {
      for (let turn = 0; turn < Math.floor(seconds * MESSAGES_PER_SECOND); turn++) {
        const place = turn * DEVICES + device;
        const session = measurement(firstNumber + place, world.patients);
        await sleepUntil(from + place * MESSAGE_EVERY_MS);
        latencies.push(...(await play(session, line)).latencies);
        messages += 1;
      }
    }),
  );
  return { latencies, messages };
}

async function bareFsyncs(file: string, seconds: number): Promise<number[]> {
  const script = path.join(import.meta.dirname, "fsync-loop.ts");
  const { establish, frames } = measurement(0, [{ fp: "", species: "dog", externalId: "5000" }]);
  const writes = [establish, ...frames].length;
  const args = ["--import", "tsx", script, file, String(seconds), String(MESSAGE_EVERY_MS), String(writes)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as number[];
}

function figure(ours: readonly number[], bare: readonly number[]): Figure {
  const worst = percentile(ours, 99);
  const bareWorst = percentile(bare, 99);
  const absolute = bareWorst < ABSOLUTE.bareMaxMs;
  return {
    name: `frame to ACK, ${DEVICES} devices x ${MESSAGES_PER_SECOND} messages/s, ${ours.length} ACKs`,
    ours: middleAndWorst(ours),
    baseline: `bare fsync ${middleAndWorst(bare)}`,
    ratio: worst / bareWorst,
    bar: `ratio of p99 < ${RATIO_MAX}${absolute ? ` and p99 < ${ABSOLUTE.maxMs} ms` : ""}`,
    met: worst / bareWorst < RATIO_MAX && (!absolute || worst < ABSOLUTE.maxMs),
  };
}

function middleAndWorst(values: readonly number[]): string {
  return `p50 ${milliseconds(percentile(values, 50))}, p99 ${milliseconds(percentile(values, 99))}`;
}

import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { ROOT, until, type World } from "../support/processes.ts";
import { type Figure, milliseconds, percentile } from "./figure.ts";

/**
 * Warm-up at a multiple of the measured rate, in seconds. An agent runs for months, but its first thousands of messages include
 * V8's compilation. After 2 000 messages V8's threads still take 2 % of a core, in slices of 4 ms.
 */
const WARM_UP = { seconds: 45, pace: 4 };
/** A later acknowledgement slows an analyzer down. The ratio to a bare fsync is printed without a bar. */
const P99_MS_MAX = 50;

export interface Load {
  /** Number of measured rounds; `seconds` is the length of each. */
  readonly rounds: number;
  readonly seconds: number;
  /** Interval between messages of all devices together. */
  readonly messageEveryMs: number;
  /** Number of acknowledged writes per message. */
  readonly writes: number;
}

/** Latencies in milliseconds. */
export interface Latencies {
  readonly ours: number[];
  readonly bare: number[];
}

/** Measures the acknowledgements of an agent with its server and bare fsyncs at the same rate, in turn. */
export async function besideBareFsyncs(
  world: World,
  { rounds, seconds, messageEveryMs, writes }: Load,
  devicesAtWork: (messageEveryMs: number) => Promise<readonly number[]>,
): Promise<Latencies> {
  const latencies: Latencies = { ours: [], bare: [] };
  const script = path.join(import.meta.dirname, "astm/fsync-loop.ts");
  const paced = [path.join(world.folder, "bare"), seconds, messageEveryMs, writes].map(String);
  const settled = () => until("the outbox drains", () => world.status().outbox.depth === 0);
  for (let warm = 0; warm < WARM_UP.seconds * WARM_UP.pace; warm += seconds) {
    await devicesAtWork(messageEveryMs / WARM_UP.pace);
  }
  await settled();
  for (let round = 0; round < rounds; round++) {
    const args = [script, ...paced];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
    latencies.bare.push(...(JSON.parse(stdout) as number[]));
    latencies.ours.push(...(await devicesAtWork(messageEveryMs)));
    await settled();
  }
  return latencies;
}

export function latencyFigure(name: string, { ours, bare }: Latencies): Figure {
  const ratio = percentile(ours, 99) / percentile(bare, 99);
  return {
    name: `${name}, ${ours.length} samples`,
    ours: middleAndWorst(ours),
    baseline: `bare fsync ${middleAndWorst(bare)}`,
    ratio,
    bar: `p99 < ${P99_MS_MAX} ms`,
    met: percentile(ours, 99) < P99_MS_MAX,
  };
}

function middleAndWorst(values: readonly number[]): string {
  return `p50 ${milliseconds(percentile(values, 50))}, p99 ${milliseconds(percentile(values, 99))}`;
}

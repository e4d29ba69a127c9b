import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { readSpool } from "../../../agent/spool.ts";
import { observation, Poct1Client } from "../../support/poct1.ts";
import { freePort, ROOT, until, World } from "../../support/processes.ts";
import { sleepUntil } from "../astm/device.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";

const DEVICES = 50;
const PATIENTS = 50;
const MESSAGE_EVERY_MS = 1000 / DEVICES;
const RATIO_MAX = 3;
/** What an agent's first messages pay is the compiler's time. */
const WARM_UP_ROUNDS = 4;

/** Observation to ACK at a message a second and device, whole agent and server, beside bare fsyncs at the same pace, in turn. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [WARM_UP_ROUNDS + 3, 2] : [WARM_UP_ROUNDS + 15, 3];
  const world = await World.create(PATIENTS, ["--limit", "device=1000000/1000000"]);
  try {
    const clients = await startDevices(world);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ofBare = await bareFsyncs(path.join(world.folder, "bare"), seconds);
      const ofAgent = await devicesAtWork(world, clients, round * seconds, seconds);
      await until("the outbox drains", () => world.status().outbox.depth === 0);
      if (round < WARM_UP_ROUNDS) continue;
      bare.push(...ofBare);
      ours.push(...ofAgent);
    }
    for (const client of clients) client.close();
    yield figure(ours, bare);
  } finally {
    await world.end();
  }
}

async function startDevices(world: World): Promise<Poct1Client[]> {
  const ports = await Promise.all(Array.from({ length: DEVICES }, () => freePort()));
  world.writeConfig(
    ports.map((port, index) => ({
      id: `poc-${index}`,
      profile: "generic-poct1a",
      connection: { listen: `127.0.0.1:${port}` },
    })),
  );
  await world.startAgent();
  const known = () => readSpool(world.agentData, (db) => db.prepare("SELECT COUNT(*) FROM identifier").pluck().get());
  await until("the agent knows the patients", () => known() === PATIENTS);
  const clients = await Promise.all(ports.map((port, index) => Poct1Client.connect(port, `SN${index}`)));
  return clients.map((client) => {
    if (client === null) throw new Error("a device was hung up on");
    return client;
  });
}

async function devicesAtWork(
  world: World,
  clients: readonly Poct1Client[],
  firstTurn: number,
  seconds: number,
): Promise<number[]> {
  const latencies: number[] = [];
  const from = performance.now();
  await Promise.all(
    clients.map(async (client, device) => {
      for (let turn = 0; turn < seconds; turn++) {
        const sequence = (firstTurn + turn) * DEVICES + device;
        const at = new Date(Date.UTC(2026, 0, 1) + sequence * 1000).toISOString();
        const patient = world.patients[device % PATIENTS]!.externalId;
        await sleepUntil(from + (turn * DEVICES + device) * MESSAGE_EVERY_MS);
        const sentAt = performance.now();
        const accepted = await client.say((id) => observation(id, { patient, at, sequence, value: 4.1 }));
        if (accepted !== true) throw new Error(`an observation was answered ${String(accepted)}`);
        latencies.push(performance.now() - sentAt);
      }
    }),
  );
  return latencies;
}

async function bareFsyncs(file: string, seconds: number): Promise<number[]> {
  const script = path.join(import.meta.dirname, "../astm/fsync-loop.ts");
  const args = ["--import", "tsx", script, file, String(seconds), String(MESSAGE_EVERY_MS), "1"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as number[];
}

function figure(ours: readonly number[], bare: readonly number[]): Figure {
  const [worst, bareWorst] = [percentile(ours, 99), percentile(bare, 99)];
  return {
    name: `observation to ACK, ${DEVICES} devices x 1 message/s, ${ours.length} ACKs`,
    ours: `p50 ${milliseconds(percentile(ours, 50))}, p99 ${milliseconds(worst)}`,
    baseline: `bare fsync p50 ${milliseconds(percentile(bare, 50))}, p99 ${milliseconds(bareWorst)}`,
    ratio: worst / bareWorst,
    bar: `ratio of p99 < ${RATIO_MAX}`,
    met: worst / bareWorst < RATIO_MAX,
  };
}

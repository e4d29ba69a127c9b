import { observation, Poct1Client } from "../../support/poct1.ts";
import { World } from "../../support/processes.ts";
import { sleepUntil } from "../astm/device.ts";
import type { Figure } from "../figure.ts";
import { besideBareFsyncs, latencyFigure } from "../latency.ts";

const DEVICES = 50;
const PATIENTS = 50;
const MESSAGE_EVERY_MS = 1000 / DEVICES;

/** Measures the time from observation to ACK at one message per second and device. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [3, 2] : [15, 3];
  const world = await World.create(PATIENTS, ["--rate-limit", "device=1000000/1000000"]);
  try {
    const clients = await startDevices(world);
    const load = { rounds, seconds, messageEveryMs: MESSAGE_EVERY_MS, writes: 1 };
    let turns = 0;
    const latencies = await besideBareFsyncs(world, load, (messageEveryMs) => {
      const firstTurn = turns;
      turns += seconds;
      return devicesAtWork(world, clients, { firstTurn, turns: seconds, messageEveryMs });
    });
    for (const client of clients) client.close();
    yield latencyFigure(`observation to ACK, ${DEVICES} devices x 1 message/s`, latencies);
  } finally {
    await world.end();
  }
}

async function startDevices(world: World): Promise<Poct1Client[]> {
  const ports = await world.configureDevices(DEVICES, "generic-poct1a");
  await world.startAgent();
  await world.waitForPatients();
  const clients = await Promise.all(ports.map((port, index) => Poct1Client.connect(port, `SN${index}`)));
  return clients.map((client) => {
    if (client === null) throw new Error("expected an open connection, got a disconnect");
    return client;
  });
}

async function devicesAtWork(
  world: World,
  clients: readonly Poct1Client[],
  work: { readonly firstTurn: number; readonly turns: number; readonly messageEveryMs: number },
): Promise<number[]> {
  const latencies: number[] = [];
  const from = performance.now();
  await Promise.all(
    clients.map(async (client, device) => {
      for (let turn = 0; turn < work.turns; turn++) {
        const sequence = (work.firstTurn + turn) * DEVICES + device;
        const at = new Date(Date.UTC(2026, 0, 1) + sequence * 1000).toISOString();
        const patient = world.patients[device % PATIENTS]!.externalId;
        await sleepUntil(from + (turn * DEVICES + device) * work.messageEveryMs);
        const sentAt = performance.now();
        const accepted = await client.send((id) => observation(id, { patient, at, sequence, value: 4.1 }));
        if (accepted !== true) throw new Error(`expected an accepted observation, got ${String(accepted)}`);
        latencies.push(performance.now() - sentAt);
      }
    }),
  );
  return latencies;
}

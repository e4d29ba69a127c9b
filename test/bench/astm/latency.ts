import type { SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { World } from "../../support/processes.ts";
import type { Figure } from "../figure.ts";
import { besideBareFsyncs, latencyFigure } from "../latency.ts";
import { measurement, play, sleepUntil, startDevices } from "./device.ts";

export const DEVICES = 10;
const MESSAGES_PER_SECOND = 5;
const MESSAGE_EVERY_MS = 1000 / DEVICES / MESSAGES_PER_SECOND;

/** Measures the time from frame to ACK under the load of a busy clinic. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [2, 1.5] : [16, 2];
  const world = await World.create(50);
  try {
    const lines = await startDevices(world, DEVICES);
    const { establish, frames } = measurement(0, world.patients);
    const load = { rounds, seconds, messageEveryMs: MESSAGE_EVERY_MS, writes: [establish, ...frames].length };
    let messages = 0;
    const latencies = await besideBareFsyncs(world, load, async (messageEveryMs) => {
      const ofRound = await devicesAtWork(world, lines, messages, seconds, messageEveryMs);
      messages += ofRound.messages;
      return ofRound.latencies;
    });
    yield latencyFigure(`frame to ACK, ${DEVICES} devices x ${MESSAGES_PER_SECOND} messages/s`, latencies);
  } finally {
    await world.end();
  }
}

/** Sends messages on every line at the rate of a busy clinic. */
export async function devicesAtWork(
  world: World,
  lines: readonly SimulatorLine[],
  firstNumber: number,
  seconds: number,
  messageEveryMs = MESSAGE_EVERY_MS,
) {
  const latencies: number[] = [];
  let messages = 0;
  const from = performance.now();
  await Promise.all(
    lines.map(async (line, device) => {
      for (let turn = 0; turn < Math.floor(seconds * MESSAGES_PER_SECOND); turn++) {
        const place = turn * DEVICES + device;
        const session = measurement(firstNumber + place, world.patients);
        await sleepUntil(from + place * messageEveryMs);
        latencies.push(...(await play(session, line)).latencies);
        messages += 1;
      }
    }),
  );
  return { latencies, messages };
}

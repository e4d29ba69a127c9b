import { type SimulatorLine, openLine } from "../../../agent/tools/simulator/line.ts";
import { vetScanRecords } from "../../support/astm.ts";
import type { TestPatient, World } from "../../support/processes.ts";
import { type Session, sessionOfRecords } from "./frames.ts";

const ACK = 6;
const REPLY_MS = 15_000;

/** Starts the agent with `count` VetScan devices. @returns an open line to each */
export async function startDevices(world: World, count: number): Promise<SimulatorLine[]> {
  const ports = await world.configureDevices(count, "abaxis-vetscan-vs2");
  await world.startAgent();
  // Measurements begin after the first synchronization of patients.
  await world.waitForPatients();
  return Promise.all(ports.map((port) => openLine(`tcp://127.0.0.1:${port}`)));
}

/** Builds measurement n with its own time, in seven frames. */
export function measurement(number: number, patients: readonly TestPatient[]): Session {
  const { externalId: patient, species } = patients[number % patients.length]!;
  const collected = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  const kind = species === "dog" ? "Dog" : "Cat";
  return sessionOfRecords(vetScanRecords({ patient, species: kind, collected, alt: 10 + (number % 100) }));
}

/** Sends a session frame by frame. @returns the time to each ACK in milliseconds, and the time when the last frame was sent */
export async function play({ establish, frames, end }: Session, line: SimulatorLine) {
  const latencies: number[] = [];
  let sentAt = 0;
  for (const bytes of [establish, ...frames]) {
    sentAt = performance.now();
    line.send(bytes);
    const reply = await line.reply(REPLY_MS);
    if (reply !== ACK) throw new Error(`expected ACK, got ${reply ?? "no reply"}`);
    latencies.push(performance.now() - sentAt);
  }
  line.send(end);
  return { latencies, lastFrameSentAt: sentAt };
}

/** Waits until the monotonic clock reaches `due` milliseconds. Returns at once if that time has passed. */
export async function sleepUntil(due: number): Promise<void> {
  const ms = due - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

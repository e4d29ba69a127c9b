import fs from "node:fs";
import type { SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { vetScanRecords } from "../../support/astm.ts";
import { type Running, type TestPatient, World } from "../../support/processes.ts";
import type { Figure } from "../figure.ts";
import { sleepUntil, startDevices } from "./device.ts";
import { type Session, sessionOfRecords, wireBytes } from "./frames.ts";

const DEVICES = 32;
/** Capacity of a line at 115 200 baud, 8N1. */
const BYTES_PER_SECOND = 11_520;
const FRAMES = 125;
const RECORD_BYTES = 192;
const PERCENT_MAX = 35;
const TICKS_PER_SECOND = 100;
const ACK = 6;
const REPLY_MS = 15_000;

/** Measures the CPU time of an agent while every device sends at line speed, beside the CPU time of the simulated devices. */
export async function* busyLines(quick: boolean): AsyncGenerator<Figure> {
  const [warmUpSeconds, seconds] = quick ? [2, 4] : [5, 30];
  const world = await World.create(50, ["--rate-limit", "device=1000000/1000000"]);
  try {
    const lines = await startDevices(world, DEVICES);
    const sending = { until: performance.now() + (warmUpSeconds + seconds) * 1000, bytes: 0 };
    const devices = Promise.all(lines.map((line, device) => sendOn(line, device, world.patients, sending)));
    await sleepUntil(performance.now() + warmUpSeconds * 1000);
    const from = { at: performance.now(), bytes: sending.bytes, cpu: cpuSeconds(world.agent), own: process.cpuUsage() };
    await devices;
    const elapsed = (performance.now() - from.at) / 1000;
    const own = process.cpuUsage(from.own);
    yield figure(
      (sending.bytes - from.bytes) / elapsed / DEVICES,
      ((cpuSeconds(world.agent) - from.cpu) / elapsed) * 100,
      ((own.user + own.system) / 1e6 / elapsed) * 100,
    );
  } finally {
    await world.end();
  }
}

/** Sends sessions. Each frame waits for line capacity and for the ACK of the previous frame. */
async function sendOn(
  line: SimulatorLine,
  device: number,
  patients: readonly TestPatient[],
  sending: { until: number; bytes: number },
): Promise<void> {
  // Devices start at different times, as on real lines.
  let due = performance.now() + (device / DEVICES) * 100;
  for (let number = device; performance.now() < sending.until; number += DEVICES) {
    const { establish, frames, end } = histograms(number, patients);
    for (const bytes of [establish, ...frames]) {
      await sleepUntil(due);
      line.send(bytes);
      sending.bytes += bytes.length;
      due += (bytes.length / BYTES_PER_SECOND) * 1000;
      const reply = await line.reply(REPLY_MS);
      if (reply !== ACK) throw new Error(`expected ACK, got ${reply ?? "no reply"}`);
    }
    line.send(end);
  }
}

/** A result in a 25 kB message, as an analyzer with histograms sends it. */
function histograms(number: number, patients: readonly TestPatient[]): Session {
  const { externalId: patient, species } = patients[number % patients.length]!;
  const collected = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  const kind = species === "dog" ? "Dog" : "Cat";
  const records = vetScanRecords({ patient, species: kind, collected, alt: 10 + (number % 100) });
  const rest = Array.from({ length: FRAMES - records.length }, (_, index) =>
    `M|${index + 1}|`.padEnd(RECORD_BYTES, "x"),
  );
  return sessionOfRecords(records.toSpliced(-1, 0, ...rest));
}

function cpuSeconds({ process: { pid } }: Running): number {
  // utime and stime are fields 14 and 15 of /proc/PID/stat. Field 2, the name in brackets, may contain spaces.
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function figure(bytesPerSecond: number, percent: number, ownPercent: number): Figure {
  const kilobytes = wireBytes(histograms(0, [{ fp: "", species: "dog", externalId: "5000" }])).length / 1000;
  return {
    name: `processor time, ${DEVICES} devices at ${bytesPerSecond.toFixed(0)} of ${BYTES_PER_SECOND} B/s each, ${kilobytes.toFixed(0)} kB sessions`,
    ours: `${percent.toFixed(1)} % of one core`,
    baseline: `playing the devices ${ownPercent.toFixed(1)} %`,
    ratio: percent / ownPercent,
    bar: `< ${PERCENT_MAX} %, at 0.9 of the line rate or more`,
    met: percent < PERCENT_MAX && bytesPerSecond >= 0.9 * BYTES_PER_SECOND,
  };
}

import fs from "node:fs";
import path from "node:path";
import { type SimulatorLine, openLine } from "../../../agent/tools/simulator/line.ts";
import { freePort, World } from "../../support/processes.ts";
import { DEVICES, devicesAtWork as analyzersAtWork } from "../astm/latency.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";
import { Device, devicesAtWork as countersAtWork } from "../hl7/latency.ts";
import { send, writeInstance } from "./instances.ts";

const LONG_ONES = 3;
const QUIET_SECONDS = 2;
/** Interval between messages of each device. The images arrive within a few seconds. */
const TURN_SECONDS = 0.2;
const ACK_MS_MAX = 100;
const LOOP_MS_MAX = 60;

/**
 * Measures the latency of ASTM and HL7 devices while long instances arrive on several associations, beside the same devices
 * without images. Also measures the longest event loop lag in /metrics, with a resolution of 10 ms.
 */
export async function* busyWithImages(folder: string, bytes: number, quick: boolean): AsyncGenerator<Figure> {
  const long = fs.mkdtempSync(path.join(folder, "long-"));
  for (let number = 1; number <= LONG_ONES; number++) await writeInstance(long, `1.2.6.${number}`, bytes);
  const files = fs.readdirSync(long).map((name) => path.join(long, name));
  const quiet = new Latencies();
  const busy = new Latencies();
  let longestBlockMs = 0;
  for (let round = 0; round < (quick ? 1 : 4); round++) {
    const clinic = await Clinic.open();
    try {
      await clinic.sendMessages(QUIET_SECONDS, quiet);
      await clinic.loopLagMs(); // resets the maximum
      let arriving = true;
      const sent = Promise.all(files.map((file) => send(clinic.dicomPort, file))).finally(() => (arriving = false));
      while (arriving) await clinic.sendMessages(TURN_SECONDS, busy);
      await sent;
      longestBlockMs = Math.max(longestBlockMs, await clinic.loopLagMs());
    } finally {
      await clinic.end();
    }
  }
  const meanwhile = `while ${LONG_ONES} instances of ${bytes / 1e6} MB arrive`;
  yield figure(`ASTM, frame to ACK ${meanwhile}`, busy.astm, quiet.astm);
  yield figure(`HL7, message to acknowledgement ${meanwhile}`, busy.hl7, quiet.hl7);
  yield {
    name: `the event loop ${meanwhile}`,
    ours: `longest block ${milliseconds(longestBlockMs)}`,
    baseline: `the bar ${LOOP_MS_MAX} ms`,
    ratio: longestBlockMs / LOOP_MS_MAX,
    bar: `< ${LOOP_MS_MAX} ms`,
    met: longestBlockMs < LOOP_MS_MAX,
  };
}

class Latencies {
  readonly astm: number[] = [];
  readonly hl7: number[] = [];
}

/** An agent with ASTM, HL7 and DICOM devices. */
class Clinic {
  readonly #world: World;
  readonly #lines: SimulatorLine[] = [];
  readonly #devices: Device[] = [];
  readonly dicomPort: number;
  readonly #statusPort: number;
  #messages = 0;

  static async open(): Promise<Clinic> {
    const world = await World.create(50, ["--rate-limit", "device=1000000/1000000"]);
    const ports = await Promise.all(Array.from({ length: 2 * DEVICES + 2 }, () => freePort()));
    const [dicomPort = 0, statusPort = 0, ...others] = ports;
    const listen = (port: number) => ({ connection: { listen: `127.0.0.1:${port}` } });
    const [astm, hl7] = [others.slice(0, DEVICES), others.slice(DEVICES)];
    const imaging = { id: "xray", profile: "dicom", aeTitle: "VETWIRE", ...listen(dicomPort) };
    const analyzers = [
      ...astm.map((port, index) => ({ id: `chem-${index}`, profile: "abaxis-vetscan-vs2", ...listen(port) })),
      ...hl7.map((port, index) => ({ id: `hema-${index}`, profile: "generic-hl7", ...listen(port) })),
    ];
    world.writeConfig([imaging, ...analyzers], statusPort);
    await world.startAgent();
    await world.waitForPatients();
    const clinic = new Clinic(world, dicomPort, statusPort);
    for (const port of astm) clinic.#lines.push(await openLine(`tcp://127.0.0.1:${port}`));
    for (const port of hl7) clinic.#devices.push(await Device.connect(port));
    return clinic;
  }

  private constructor(world: World, dicomPort: number, statusPort: number) {
    this.#world = world;
    this.dicomPort = dicomPort;
    this.#statusPort = statusPort;
  }

  async sendMessages(seconds: number, { astm, hl7 }: Latencies): Promise<void> {
    const { patients } = this.#world;
    const [measured, hl7Latencies] = await Promise.all([
      analyzersAtWork(this.#world, this.#lines, this.#messages, seconds),
      countersAtWork(patients, this.#devices, this.#messages, seconds),
    ]);
    this.#messages += measured.messages;
    astm.push(...measured.latencies);
    hl7.push(...hl7Latencies);
  }

  /** @returns the maximum lag since the last call */
  async loopLagMs(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#statusPort}/metrics`);
    const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await response.text())?.[1];
    if (seconds === undefined) throw new Error("expected the event loop lag in /metrics, got none");
    return Number(seconds) * 1000;
  }

  async end(): Promise<void> {
    for (const device of this.#devices) device.close();
    await this.#world.end();
  }
}

function figure(name: string, busy: readonly number[], quiet: readonly number[]): Figure {
  const worst = percentile(busy, 99);
  const percentiles = (values: readonly number[]) =>
    `p50 ${milliseconds(percentile(values, 50))}, p99 ${milliseconds(percentile(values, 99))}`;
  return {
    name: `${name}, ${busy.length} samples`,
    ours: percentiles(busy),
    baseline: `without images ${percentiles(quiet)}`,
    ratio: worst / percentile(quiet, 99),
    bar: `p99 < ${ACK_MS_MAX} ms`,
    met: worst < ACK_MS_MAX,
  };
}

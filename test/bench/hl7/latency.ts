import { execFile } from "node:child_process";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { encodeFrame, FS } from "../../../agent/hl7/link.ts";
import { readSpool } from "../../../agent/spool.ts";
import { freePort, ROOT, type TestPatient, until, World } from "../../support/processes.ts";
import { sleepUntil } from "../astm/device.ts";
import { type Figure, milliseconds, percentile } from "../figure.ts";
import { messageOf } from "./message.ts";

const DEVICES = 10;
const MESSAGES_PER_SECOND = 5;
const MESSAGE_EVERY_MS = 1000 / DEVICES / MESSAGES_PER_SECOND;
const MESSAGE_BYTES = 4_700;
const RATIO_MAX = 3;
/** An agent runs for months; what its first hundreds of messages pay is the compiler's time. */
const WARM_UP_ROUNDS = 4;
const ANSWER_MS = 10_000;

/** Message to answer under the load of a busy clinic, whole agent and server, beside bare fsyncs at the same pace, in turn. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [WARM_UP_ROUNDS + 2, 1.5] : [WARM_UP_ROUNDS + 12, 2];
  const world = await World.create(50, ["--limit", "device=1000000/1000000"]);
  const devices: Device[] = [];
  try {
    const ports = await Promise.all(Array.from({ length: DEVICES }, () => freePort()));
    world.writeConfig(
      ports.map((port, index) => ({
        id: `hema-${index}`,
        profile: "generic-hl7",
        connection: { listen: `127.0.0.1:${port}` },
      })),
    );
    await world.startAgent();
    await until("the agent knows the patients", () => {
      const known = readSpool(world.agentData, (db) => db.prepare("SELECT COUNT(*) FROM identifier").pluck().get());
      return (known as number) >= world.patients.length;
    });
    for (const port of ports) devices.push(await Device.connect(port));
    const ours: number[] = [];
    const bare: number[] = [];
    let sent = 0;
    for (let round = 0; round < rounds; round++) {
      const ofBare = await bareFsyncs(path.join(world.folder, "bare"), seconds);
      const ofAgent = await devicesAtWork(world.patients, devices, sent, seconds);
      sent += ofAgent.length;
      await until("the outbox drains", () => world.status().outbox.depth === 0);
      if (round < WARM_UP_ROUNDS) continue;
      bare.push(...ofBare);
      ours.push(...ofAgent);
    }
    yield figure(ours, bare);
  } finally {
    for (const device of devices) device.close();
    await world.end();
  }
}

async function devicesAtWork(
  patients: readonly TestPatient[],
  devices: readonly Device[],
  first: number,
  seconds: number,
) {
  const latencies: number[] = [];
  const from = performance.now();
  await Promise.all(
    devices.map(async (device, index) => {
      for (let turn = 0; turn < Math.floor(seconds * MESSAGES_PER_SECOND); turn++) {
        const place = turn * DEVICES + index;
        const message = blood(first + place, patients);
        await sleepUntil(from + place * MESSAGE_EVERY_MS);
        latencies.push(await device.ask(message));
      }
    }),
  );
  return latencies;
}

/** The n-th message, of its own time. */
function blood(number: number, patients: readonly TestPatient[]): Uint8Array {
  const patient = patients[number % patients.length]!.externalId;
  const measured = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  return encodeFrame(Buffer.from(messageOf(MESSAGE_BYTES, { id: String(number), patient, measured })));
}

class Device {
  readonly #socket: net.Socket;
  #answered: (answer: string) => void = () => undefined;

  static connect(port: number): Promise<Device> {
    const socket = net.connect({ host: "127.0.0.1", port, noDelay: true });
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Device(socket)));
    });
  }

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (!chunk.includes(FS)) return;
      this.#answered(text);
      text = "";
    });
  }

  /** How long the answer took, in milliseconds. @throws when it is no AA */
  async ask(message: Uint8Array): Promise<number> {
    const from = performance.now();
    const answer = await new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("the agent did not answer")), ANSWER_MS);
      this.#answered = (text) => {
        clearTimeout(late);
        resolve(text);
      };
      this.#socket.write(message);
    });
    const ms = performance.now() - from;
    if (!answer.includes("MSA|AA|")) throw new Error(`the agent answered ${answer}`);
    return ms;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** One write a message. */
async function bareFsyncs(file: string, seconds: number): Promise<number[]> {
  const script = path.join(import.meta.dirname, "../astm/fsync-loop.ts");
  const args = ["--import", "tsx", script, file, String(seconds), String(MESSAGE_EVERY_MS), "1"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as number[];
}

function figure(ours: readonly number[], bare: readonly number[]): Figure {
  const ratio = percentile(ours, 99) / percentile(bare, 99);
  return {
    name: `message to answer, ${DEVICES} devices x ${MESSAGES_PER_SECOND} messages/s of ${MESSAGE_BYTES / 1000} kB, ${ours.length} answers`,
    ours: middleAndWorst(ours),
    baseline: `bare fsync ${middleAndWorst(bare)}`,
    ratio,
    bar: `ratio of p99 < ${RATIO_MAX}`,
    met: ratio < RATIO_MAX,
  };
}

function middleAndWorst(values: readonly number[]): string {
  return `p50 ${milliseconds(percentile(values, 50))}, p99 ${milliseconds(percentile(values, 99))}`;
}

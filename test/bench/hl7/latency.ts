import net from "node:net";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { FS } from "../../../agent/protocols/bytes.ts";
import { type TestPatient, World } from "../../support/processes.ts";
import { sleepUntil } from "../astm/device.ts";
import type { Figure } from "../figure.ts";
import { besideBareFsyncs, latencyFigure } from "../latency.ts";
import { messageOf } from "./message.ts";

const DEVICES = 10;
const MESSAGES_PER_SECOND = 5;
const MESSAGE_EVERY_MS = 1000 / DEVICES / MESSAGES_PER_SECOND;
const MESSAGE_BYTES = 4_700;
const REPLY_MS = 10_000;

/** Measures the time from message to reply under the load of a busy clinic. */
export async function* ackLatency(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [2, 1.5] : [12, 2];
  const world = await World.create(50, ["--rate-limit", "device=1000000/1000000"]);
  const devices: Device[] = [];
  try {
    const ports = await world.configureDevices(DEVICES, "generic-hl7");
    await world.startAgent();
    await world.waitForPatients();
    for (const port of ports) devices.push(await Device.connect(port));
    const load = { rounds, seconds, messageEveryMs: MESSAGE_EVERY_MS, writes: 1 };
    let sent = 0;
    const latencies = await besideBareFsyncs(world, load, async (messageEveryMs) => {
      const ofRound = await devicesAtWork(world.patients, devices, sent, seconds, messageEveryMs);
      sent += ofRound.length;
      return ofRound;
    });
    const pace = `${MESSAGES_PER_SECOND} messages/s of ${MESSAGE_BYTES / 1000} kB`;
    yield latencyFigure(`message to acknowledgement, ${DEVICES} devices x ${pace}`, latencies);
  } finally {
    for (const device of devices) device.close();
    await world.end();
  }
}

/** Sends messages from every device at the rate of a busy clinic. */
export async function devicesAtWork(
  patients: readonly TestPatient[],
  devices: readonly Device[],
  first: number,
  seconds: number,
  messageEveryMs = MESSAGE_EVERY_MS,
) {
  const latencies: number[] = [];
  const from = performance.now();
  await Promise.all(
    devices.map(async (device, index) => {
      for (let turn = 0; turn < Math.floor(seconds * MESSAGES_PER_SECOND); turn++) {
        const place = turn * DEVICES + index;
        const message = blood(first + place, patients);
        await sleepUntil(from + place * messageEveryMs);
        latencies.push(await device.exchange(message));
      }
    }),
  );
  return latencies;
}

/** Builds message n with its own time. */
function blood(number: number, patients: readonly TestPatient[]): Uint8Array {
  const patient = patients[number % patients.length]!.externalId;
  const measured = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  return encodeMllp(Buffer.from(messageOf(MESSAGE_BYTES, { id: String(number), patient, measured })));
}

export class Device {
  readonly #socket: net.Socket;
  #onReply: (reply: string) => void = () => undefined;

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
      this.#onReply(text);
      text = "";
    });
  }

  /** @returns the time to the reply in milliseconds. @throws if the reply is not AA */
  async exchange(message: Uint8Array): Promise<number> {
    const from = performance.now();
    const reply = await new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`expected a reply within ${REPLY_MS} ms, got none`)), REPLY_MS);
      this.#onReply = (text) => {
        clearTimeout(late);
        resolve(text);
      };
      this.#socket.write(message);
    });
    const ms = performance.now() - from;
    if (!reply.includes("MSA|AA|")) throw new Error(`expected AA, got ${reply}`);
    return ms;
  }

  close(): void {
    this.#socket.destroy();
  }
}

import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { frameOf } from "../support/protocols/hl7.ts";
import { observation, Poct1Client } from "../support/protocols/poct1.ts";
import { freePort, temporaryFolder } from "../support/machine/processes.ts";
import { startScript } from "./build.ts";
import { type Figure, median, whole } from "./figure.ts";

const DEVICES = 50;
const MESSAGE_BYTES = 1_500;
/** Nine tenths of the ratio of November 23. */
const RATIO_MIN = 0.58;

/** Measures durable acknowledged messages per second, next to HL7 messages of the same length to the same agent, in turn. */
export async function* poct1a(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [4, 1] : [16, 1.5];
  const folder = temporaryFolder();
  const ports = await Promise.all(Array.from({ length: 2 * DEVICES }, () => freePort()));
  const [poct1Ports, hl7Ports] = [ports.slice(0, DEVICES), ports.slice(DEVICES)];
  const start = (profile: string, own: readonly number[]) =>
    startScript("spool-loop.ts", path.join(folder, profile), profile, ...own.map(String));
  const poct1 = await start("generic-poct1a", poct1Ports);
  const hl7 = await start("generic-hl7", hl7Ports);
  try {
    const clients = await Promise.all(poct1Ports.map((port, index) => Poct1Client.connect(port, `SN${index}`)));
    const poct1Senders = clients.map((client, device) => async (number: number) => {
      const accepted = await client?.send((id) => observation(id, measured(device, number)));
      if (accepted !== true) throw new Error(`expected an accepted observation, got ${String(accepted)}`);
    });
    const hl7Senders = hl7Ports.map((port, device) => hl7Sender(port, device));
    const rates: { ours: number; hl7: number }[] = [];
    for (let round = 0; round <= rounds; round++) {
      const ours = () => exchangesPerSecond(poct1Senders, seconds);
      const theirs = () => exchangesPerSecond(hl7Senders, seconds);
      const [first, second] = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
      const [one, other] = [await first(), await second()];
      if (round > 0) rates.push(round % 2 === 0 ? { ours: one, hl7: other } : { ours: other, hl7: one });
    }
    for (const client of clients) client?.close();
    yield figure(rates);
  } finally {
    await Promise.all([poct1.end(), hl7.end()]);
    fs.rmSync(folder, { recursive: true });
  }
}

type Sender = (number: number) => Promise<void>;

let numbers = 0;

/** Sends from each connection, one message at a time. */
async function exchangesPerSecond(senders: readonly Sender[], seconds: number): Promise<number> {
  let count = 0;
  const from = performance.now();
  const until = from + seconds * 1000;
  await Promise.all(
    senders.map(async (send) => {
      while (performance.now() < until) {
        await send(++numbers);
        count += 1;
      }
    }),
  );
  return count / ((performance.now() - from) / 1000);
}

function measured(device: number, number: number) {
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  const bare = { patient: String(5000 + device), at, sequence: number, value: 4.1 };
  return {
    ...bare,
    more: `<NTE><NTE.text V="${"x".repeat(MESSAGE_BYTES - observation(1, bare).length - 30)}"/></NTE>`,
  };
}

function hl7Sender(port: number, device: number): Sender {
  const socket = net.connect({ host: "127.0.0.1", port, noDelay: true });
  socket.unref();
  return (number) =>
    new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once("data", (reply: Buffer) => {
        socket.off("error", reject);
        if (reply.includes("MSA|AA|")) resolve();
        else reject(new Error(`expected AA, got ${reply.toString()}`));
      });
      const segments = [
        `MSH|^~\\&|HEMA|Vendor|||20260101080000||ORU^R01|${number}|P|2.3.1||||||UNICODE`,
        `PID|1||${5000 + device}^^^^MR`,
        `OBR|1||S-${number}|00001^Automated Count^99MRC|||20260101080000`,
        "OBX|1|NM|6690-2^WBC^LN||5.1|10*9/L|6.00-17.00|N|||F",
      ];
      const note = "x".repeat(MESSAGE_BYTES - segments.join("|").length - 20);
      socket.write(frameOf([...segments, `NTE|1||${note}`]));
    });
}

function figure(rates: readonly { readonly ours: number; readonly hl7: number }[]): Figure {
  const ratio = median(rates.map(({ ours, hl7 }) => ours / hl7));
  return {
    name: `${DEVICES} devices in continuous mode, ${MESSAGE_BYTES}-byte observations, durable`,
    ours: `${whole(median(rates.map(({ ours }) => ours)))} acknowledged/s`,
    baseline: `HL7 messages of the same length ${whole(median(rates.map(({ hl7 }) => hl7)))}/s (medians of ${rates.length} rounds)`,
    ratio,
    bar: `ratio >= ${RATIO_MIN}`,
    met: ratio >= RATIO_MIN,
  };
}

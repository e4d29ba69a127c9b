import net from "node:net";
import path from "node:path";
import { once } from "node:events";
import { pino } from "pino";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { ACK } from "../../../agent/protocols/bytes.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { NOISE_BYTES_MAX } from "../../../agent/spool/queries/events/noise.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { bloodCount, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { emptyServer, type TestAgent, type TestDeviceConfig, useAgent } from "../../support/peers/running-agent.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { sendImage, sendRecords } from "./single-results.ts";

// Goal: no device takes the room of the others. Method: a running agent whose spool is bounded to 64 MB, and one device that
// sends more than that, as noise or as messages of unknown patients.

const MB = 1024 * 1024;
const BYTES_MAX = 64 * MB;
/** Above the bound also in the short run. */
const NOISE_MEGABYTES = 90 * Math.ceil(soakCount(50) / 10);

let agent: TestAgent;
useAgent((created) => (agent = created));

let spool: Spool;
let ports: { greedy: number; hl7: number; astm: number; dicom: number };
let logged: { readonly msg: string; readonly reason?: string; readonly device?: string; readonly times?: number }[];

beforeEach(async () => {
  const open = Spool.open.bind(Spool);
  const bounded = vi.spyOn(Spool, "open");
  onTestFinished(() => bounded.mockRestore());
  bounded.mockImplementation(async (folder, options) => {
    spool = await open(folder, { ...options, bytesMax: BYTES_MAX });
    return spool;
  });
  const free = new Set<number>();
  while (free.size < 4) free.add(await freePort());
  const [first = 0, hl7 = 0, astm = 0, dicom = 0] = free;
  ports = { greedy: first, hl7, astm, dicom };
  logged = [];
});

async function run(): Promise<void> {
  const listen = (id: string, profile: string, port: number) => ({
    id,
    profile,
    connection: { listen: `127.0.0.1:${port}` },
  });
  const devices: TestDeviceConfig[] = [
    listen("greedy", "generic-hl7", ports.greedy),
    listen("hema-1", "generic-hl7", ports.hl7),
    listen("chem-1", "generic-astm", ports.astm),
    Object.assign(listen("xray", "dicom", ports.dicom), { aeTitle: "VETWIRE", quietSeconds: 60 }),
  ];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  await agent.run(devices, emptyServer, log);
}

let lastId = 0;

/** Sends a blood count of an unknown patient, with a segment of `padding` bytes that no profile reads. */
async function sendCount(port: number, padding = 0): Promise<string> {
  const client = await MllpClient.connect(port);
  const id = `M${(lastId += 1)}`;
  const count = bloodCount({ id, patient: "9999", measured: "20260101090000", wbc: 9.8 });
  const reply = await client.exchange([...count, `ZZZ|${"x".repeat(padding)}`]);
  client.close();
  return verdict(reply).replace(` ${id}`, "");
}

const recordsSent = () => sendRecords(ports.astm, (lastId += 1));
const imageSent = () => sendImage(ports.dicom, (lastId += 1));

const ACCEPTED = ["AA", ACK, STATUS.success];
const sendOthers = async () => [await sendCount(ports.hl7), await recordsSent(), await imageSent()];

async function sendNoise(megabytes: number, last: string): Promise<void> {
  const socket = net.connect(ports.greedy, "127.0.0.1");
  const piece = Buffer.alloc(MB, "x");
  for (let sent = 0; sent < megabytes; sent++) if (!socket.write(piece)) await once(socket, "drain");
  socket.end(last);
  await once(socket.resume(), "close");
}

const greedy = () => agent.status().devices.find(({ id }) => id === "greedy");
const inSpool = (sql: string) =>
  readSpool(path.join(agent.folder, "data"), (db) => db.prepare(sql).pluck().get() as number);
const noiseBytes = () => inSpool("SELECT SUM(length(bytes)) FROM event");

test("noise of more than the spool's bound leaves the other devices their room, also after a restart", async () => {
  await run();
  await sendNoise(NOISE_MEGABYTES, "NEWEST NOISE");
  expect(await sendOthers()).toEqual(ACCEPTED);
  await until("the noise is counted", () => (greedy()?.counters?.noise_bytes ?? 0) >= NOISE_MEGABYTES * MB);
  expect(noiseBytes()).toBeLessThan(NOISE_BYTES_MAX * 1.05);
  expect(noiseBytes()).toBeGreaterThan(NOISE_BYTES_MAX * 0.9);
  expect(inSpool("SELECT COUNT(*) FROM event WHERE instr(bytes, CAST('NEWEST' AS BLOB)) > 0")).toBe(1);

  await agent.stop();
  await run();
  expect(await sendOthers()).toEqual(ACCEPTED);
  expect(await sendCount(ports.greedy)).toBe("AA");
});

test("a device beyond its share is refused alone, with the reason, and accepted when its messages are settled", async () => {
  await run();
  const answers: string[] = [];
  while (answers.at(-1) !== "AE") answers.push(await sendCount(ports.greedy, MB / 2));
  // The shares of the three others are 24 MB.
  expect(answers.length).toBeGreaterThan(60);
  expect(answers.length).toBeLessThan(80);
  for (let repeat = 0; repeat < 5; repeat++) expect(await sendCount(ports.greedy, MB / 2)).toBe("AE");
  for (let round = 0; round < 3; round++) expect(await sendOthers()).toEqual(ACCEPTED);
  const refusals = () => logged.filter(({ device, reason }) => device === "greedy" && /is kept/.test(reason ?? ""));
  // The log has the first, and counts the others.
  expect(new Set(refusals().map(({ reason }) => reason))).toEqual(
    new Set([
      expect.stringMatching(/the device takes \d+ MB of the spool, and the rest is kept for the other devices$/),
    ]),
  );
  expect(refusals().filter(({ times }) => times === undefined)).toHaveLength(1);
  expect(greedy()?.last_warning).not.toBeNull();

  await agent.stop();
  await run();
  expect(await sendCount(ports.greedy, MB / 2)).toBe("AE");
  expect(await sendOthers()).toEqual(ACCEPTED);

  const own = readSpool(path.join(agent.folder, "data"), listMessages).filter(({ device }) => device === "greedy");
  // A refused message may have started with stored chunks.
  expect(own.length).toBeGreaterThanOrEqual(answers.length - 1);
  const settled = { state: "not-for-patients", reason: "sign-on", studies: [], completes: [], at: 1 } as const;
  for (const { id } of own) await spool.call("settle", { message: id, ...settled });
  await until("the device is accepted", async () => (await sendCount(ports.greedy, MB / 2)) === "AA", 20_000, 200);
});

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ACK, NAK } from "../../../agent/protocols/bytes.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { freePort, until, World } from "../../support/machine/processes.ts";
import { FileDisk, fileDiskProblem } from "../../support/machine/small-disk.ts";
import { sendImage, sendRecords } from "./single-results.ts";

// Goal: a disk that turns read-only loses nothing that was acknowledged. Method: processes of agent and server whose folders are
// ext4 file systems of their own; the kernel refuses each write after an error, also into open files.

const problem = fileDiskProblem();
if (problem !== null) process.stdout.write(`read-only disk: skipped, because ${problem}\n`);

let world: World;
let ports: { hl7: number; astm: number; dicom: number };
let disks: FileDisk[];

beforeEach(async () => {
  if (problem !== null) return;
  disks = [];
  world = await World.create(1);
  const free = new Set<number>();
  while (free.size < 3) free.add(await freePort());
  const [hl7 = 0, astm = 0, dicom = 0] = free;
  ports = { hl7, astm, dicom };
  const connection = (port: number) => ({ listen: `127.0.0.1:${port}` });
  world.writeConfig([
    { id: "hema-1", profile: "generic-hl7", connection: connection(ports.hl7) },
    { id: "chem-1", profile: "generic-astm", connection: connection(ports.astm) },
    { id: "xray", profile: "dicom", connection: connection(ports.dicom), aeTitle: "VETWIRE", quietSeconds: 1 },
  ]);
});

afterEach(async () => {
  if (problem !== null) return;
  await world.agent?.end("SIGKILL");
  await world.server.end("SIGKILL");
  for (const disk of disks.toReversed()) disk.remove();
  await world.end();
});

function mount(folder: string): FileDisk {
  const disk = new FileDisk(folder);
  disks.push(disk);
  return disk;
}

let lastId = 0;
/** The white cell counts of the acknowledged results. */
let acknowledged: number[] = [];

async function sendCount(): Promise<string> {
  const id = `M${(lastId += 1)}`;
  const client = await MllpClient.connect(ports.hl7);
  const measured = `2026010109${String(lastId).padStart(2, "0")}00`;
  client.send(frameOf(bloodCount({ id, patient: "5000", measured, wbc: lastId })));
  const said = verdict(await client.nextReply(15_000)).replace(` ${id}`, "");
  client.close();
  if (said === "AA") acknowledged.push(lastId);
  return said;
}

const recordsSent = () => sendRecords(ports.astm, (lastId += 1));
const imageSent = () => sendImage(ports.dicom, (lastId += 1));

/** The lines of the agent's log with a refusal of a device. */
const refusals = (device: string) =>
  world.agent
    .output()
    .split("\n")
    .filter((line) => line.includes(`"device":"${device}"`) && /refused/.test(line) && !line.includes('"times"'));

/** Waits until each acknowledged result is on the server, and finds none twice. */
async function expectFiled(): Promise<void> {
  await world.drained();
  const counts = world.serverStudies().flatMap(({ results }) => results.filter(({ analyte }) => analyte === "WBC"));
  const values = counts.map(({ value }) => value);
  expect(acknowledged.filter((value) => !values.includes(value))).toEqual([]);
  expect(new Set(values).size).toBe(values.length);
}

beforeEach(() => (acknowledged = []));

test.skipIf(problem !== null)(
  "an agent whose spool turns read-only refuses all devices and keeps what it acknowledged",
  async () => {
    const disk = mount(world.agentData);
    await world.startAgent();
    expect([await sendCount(), await recordsSent(), await imageSent()]).toEqual(["AA", ACK, STATUS.success]);
    disk.fail();
    for (let round = 0; round < 3; round += 1) {
      expect([await sendCount(), await recordsSent(), await imageSent()]).toEqual(["AE", NAK, STATUS.outOfResources]);
    }
    // The chunk and the message of HL7 and ASTM are refused.
    expect([refusals("hema-1").length, refusals("chem-1").length, refusals("xray").length]).toEqual([2, 2, 1]);
    expect(world.agent.process.exitCode).toBeNull();
    await world.agent.end("SIGTERM");
    disk.mend();
    await world.startAgent();
    expect([await sendCount(), await recordsSent(), await imageSent()]).toEqual(["AA", ACK, STATUS.success]);
    await expectFiled();
  },
);

test.skipIf(problem !== null)(
  "a read-only folder of images refuses images alone, until it is writable again",
  async () => {
    const images = path.join(world.agentData, "images");
    const disk = mount(images);
    await world.startAgent();
    expect([await sendCount(), await imageSent()]).toEqual(["AA", STATUS.success]);
    disk.remount("ro");
    for (let round = 0; round < 3; round += 1) {
      expect([await sendCount(), await imageSent()]).toEqual(["AA", STATUS.outOfResources]);
    }
    expect(refusals("xray")).toHaveLength(1);
    disk.remount("rw");
    expect([await sendCount(), await imageSent()]).toEqual(["AA", STATUS.success]);
    expect(fs.readdirSync(images).filter((name) => name.endsWith(".dcm"))).toHaveLength(2);
  },
);

test.skipIf(problem !== null)("a log on a read-only disk stops nothing", async () => {
  const folder = path.join(world.folder, "logs");
  const disk = mount(folder);
  const config = JSON.parse(fs.readFileSync(world.config, "utf8")) as object;
  fs.writeFileSync(world.config, JSON.stringify({ ...config, log: { file: path.join(folder, "agent.log") } }));
  await world.startAgent();
  expect(await sendCount()).toBe("AA");
  disk.fail();
  expect([await sendCount(), await recordsSent(), await imageSent()]).toEqual(["AA", ACK, STATUS.success]);
  await expectFiled();
  await world.agent.end("SIGTERM");
  expect(world.agent.process.exitCode).toBe(0);
});

test.skipIf(problem !== null)(
  "a server whose database turns read-only takes no study, and takes each once afterwards",
  async () => {
    await world.server.end("SIGTERM");
    const kept = path.join(world.folder, "kept");
    fs.renameSync(world.serverData, kept);
    const disk = mount(world.serverData);
    fs.cpSync(kept, world.serverData, { recursive: true });
    // A copy that the system has not written yet would be lost with the disk.
    execFileSync("sync", ["-f", world.serverData]);
    await world.startServer();
    await world.startAgent();
    expect(await sendCount()).toBe("AA");
    await expectFiled();
    disk.fail();
    for (let round = 0; round < 3; round += 1) expect(await sendCount()).toBe("AA");
    await until("the agent hears of it", () => world.agent.output().includes("503"));
    // The last acknowledged message may still be on its way to the outbox.
    await until("all three wait", () => world.status().outbox.depth === 3);
    expect(world.server.process.exitCode).toBeNull();
    await world.server.end("SIGTERM");
    disk.mend();
    await world.startServer();
    await expectFiled();
  },
);

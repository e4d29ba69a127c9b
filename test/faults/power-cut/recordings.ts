import fs from "node:fs";
import path from "node:path";
import { newFp } from "../../../shared/api/fp.ts";
import { Load, measuredAt } from "../../support/machine/crash.ts";
import { dataset, Peer, storeRequest } from "../../support/protocols/dicom.ts";
import { observation, Poct1Client } from "../../support/protocols/poct1.ts";
import {
  AGENT,
  AGENT_KEY_OPTIONS,
  clinicFile,
  freePort,
  type Running,
  SERVER,
  temporaryFolder,
  testPatients,
  until,
  World,
} from "../../support/machine/processes.ts";
import { study } from "../../server/harness.ts";
import type { DiskCall, Tree } from "./disk-call.ts";
import { callsOf, readTree, runTraced, startTraced } from "./traced-program.ts";

// The disk calls of programs under load, with the times of their acknowledgements.

export interface Recording {
  readonly calls: readonly DiskCall[];
  /** The disk before. */
  readonly initial: Tree;
  readonly acknowledged: readonly Acknowledged[];
}

export interface Acknowledged {
  /** Text that only this one has: the time of a measurement, an instance's UID, the fp of a study or patient, a key. */
  readonly mark: string;
  readonly kind: "message" | "instance" | "study" | "patient" | "key";
  /** Milliseconds since 1970; the acknowledgement had arrived by then. */
  readonly at: number;
  /** The time from which the program may remove it; absent if never. */
  readonly until?: number;
}

const EMPTY: Tree = new Map();

/** Files of a first start that is killed before its first sync. */
const KILLED_START = `
  const [data] = process.argv.slice(1);
  for (const folder of [data, data + "/images"]) fs.mkdirSync(folder, { mode: 0o700 });
  for (const name of ["lock.db", "spool.db"]) fs.writeFileSync(data + "/" + name, "", { mode: 0o600 });
  console.log("made");
  setInterval(() => {}, 1_000);
`;

/**
 * The built agent in the folder that a killed start left, under the load of all four protocols, stopped and started again once,
 * and killed.
 */
export async function recordAgent(ms: number): Promise<Recording> {
  const world = await World.create(8);
  const ports = await Promise.all(Array.from({ length: 4 }, () => freePort()));
  const profiles = ["abaxis-vetscan-vs2", "generic-hl7", "generic-poct1a", "dicom"];
  world.writeConfig(
    profiles.map((profile, index) => ({
      id: profile,
      profile,
      connection: { listen: `127.0.0.1:${ports[index]}` },
    })),
  );
  const acknowledged: Acknowledged[] = [];
  const logs: string[] = [];
  try {
    const killedLog = path.join(world.folder, "strace-killed-start.log");
    const killed = startTraced(killedLog, ["-e", KILLED_START, path.join(world.folder, "agent")]);
    logs.push(killedLog);
    await until("the first start makes its files", () => killed.output().includes("made"));
    await killed.end("SIGKILL");
    for (const end of ["SIGTERM", "SIGKILL"] as const) {
      const log = path.join(world.folder, `strace-${end}.log`);
      logs.push(log);
      world.agent = startTraced(log, [AGENT, "run", "--config", world.config]);
      await until("the agent runs", () => world.agent.output().includes("the agent is running"));
      await sendOnAllLines(world, ports, acknowledged, ms / 3);
      if (end === "SIGTERM") {
        await emptiedLog(path.join(world.agentData, "spool.db"));
        await sendOnAllLines(world, ports, acknowledged, ms / 3);
      }
      await world.agent.end(end);
    }
    return { calls: callsOf(logs, world.folder, EMPTY), initial: EMPTY, acknowledged };
  } finally {
    await world.end();
  }
}

/** Sends results and images for some time, as fast as they are acknowledged. */
async function sendOnAllLines(
  world: World,
  ports: readonly number[],
  acknowledged: Acknowledged[],
  ms: number,
): Promise<void> {
  const load = new Load(world, ports.slice(0, 2), acknowledged.length + 1);
  const isOver = { now: false };
  const others = [sendObservations(ports[2]!, acknowledged, isOver), sendInstances(ports[3]!, acknowledged, isOver)];
  load.start();
  await new Promise((resolve) => setTimeout(resolve, ms));
  isOver.now = true;
  await Promise.all([load.stop(), ...others]);
  for (const { number, at } of load.acknowledged) acknowledged.push({ mark: measuredAt(number), kind: "message", at });
}

/** Waits for the checkpoint that a program makes while nothing happens. */
async function emptiedLog(database: string): Promise<void> {
  await until("the log is emptied into the database", () => fs.statSync(`${database}-wal`).size === 0);
}

let nextObservation = 0;

async function sendObservations(port: number, acknowledged: Acknowledged[], isOver: { now: boolean }): Promise<void> {
  const client = await Poct1Client.connect(port, "SN1");
  if (client === null) throw new Error("the POCT1-A device was refused");
  while (!isOver.now) {
    const sequence = (nextObservation += 1);
    const mark = new Date(Date.UTC(2026, 5, 1) + sequence * 1_000).toISOString().replace(".000Z", "+00:00");
    const accepted = await client.send((id) => observation(id, { patient: "5000", at: mark, sequence, value: 4.1 }));
    if (accepted === true) acknowledged.push({ mark, kind: "message", at: Date.now() });
  }
  client.close();
}

let nextInstance = 0;

async function sendInstances(port: number, acknowledged: Acknowledged[], isOver: { now: boolean }): Promise<void> {
  const peer = await Peer.associate(port);
  while (!isOver.now) {
    const uid = `1.2.3.77.${(nextInstance += 1)}`;
    peer.send(
      storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", Buffer.alloc(3_000 + nextInstance * 16, nextInstance)]])),
    );
    if ((await peer.status()) === 0) acknowledged.push({ mark: uid, kind: "instance", at: Date.now() });
  }
  peer.end();
}

/** A spool that is made, filled, pruned, emptied into its database, closed and opened again. */
export async function recordUpkeep(): Promise<Recording> {
  const folder = temporaryFolder();
  const data = path.join(folder, "agent");
  const log = path.join(folder, "strace.log");
  try {
    fs.mkdirSync(data, { mode: 0o700 });
    const initial = readTree(folder);
    const output = await runTraced(log, [path.join(import.meta.dirname, "upkeep.ts"), data]);
    const lines = output.matchAll(/^(acknowledged|removes) (message|instance) (\S+) (\d+)$/gm);
    const acknowledged = new Map<string, Acknowledged>();
    for (const [, word, kind, mark, at] of lines) {
      const known = acknowledged.get(mark!);
      if (word === "removes") acknowledged.set(mark!, { ...known!, until: Number(at) });
      else acknowledged.set(mark!, { mark: mark!, kind: kind as "message" | "instance", at: Number(at) });
    }
    return { calls: callsOf([log], folder, initial), initial, acknowledged: [...acknowledged.values()] };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The built server on SQLite from an empty folder on: the clinic, a key, and requests with studies of an agent. */
export async function recordServer(requests: number): Promise<Recording> {
  const folder = temporaryFolder();
  const data = path.join(folder, "server");
  const logs = ["import", "keys", "run"].map((name) => path.join(folder, `${name}.log`));
  const clinic = path.join(folder, "clinic.ndjson");
  const acknowledged: Acknowledged[] = [];
  let server: Running | null = null;
  try {
    const patients = testPatients(4);
    fs.writeFileSync(clinic, clinicFile(patients));
    await runTraced(logs[0]!, [SERVER, "import", clinic, "--data", data]);
    for (const { fp: mark } of patients) acknowledged.push({ mark, kind: "patient", at: Date.now() });
    const key = (await runTraced(logs[1]!, [SERVER, "keys", "create", ...AGENT_KEY_OPTIONS, "--data", data])).trim();
    acknowledged.push({ mark: key, kind: "key", at: Date.now() });
    server = startTraced(logs[2]!, [SERVER, "run", "--port", "0", "--data", data]);
    const { output } = server;
    const listening = /listening on (http:\/\/127\.0\.0\.1:\d+)/;
    const url = await until("the server listens", () => listening.exec(output())?.[1]);
    await pushStudies(url, key, patients[0]!.fp, acknowledged, requests / 2);
    await emptiedLog(path.join(data, "vetwire.db"));
    await pushStudies(url, key, patients[0]!.fp, acknowledged, requests / 2);
    await server.end("SIGKILL");
    return { calls: callsOf(logs, folder, EMPTY), initial: EMPTY, acknowledged };
  } finally {
    await server?.end("SIGKILL");
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function pushStudies(
  url: string,
  key: string,
  patient: string,
  acknowledged: Acknowledged[],
  requests: number,
): Promise<void> {
  const headers = { "X-API-Key": key, "content-type": "application/json" };
  for (let left = requests; left > 0; left--) {
    const studies = Array.from({ length: 3 }, () => study({ fp: newFp("cds"), patient_fp: patient }));
    const answer = await fetch(`${url}/agent/v1/studies`, {
      method: "POST",
      headers,
      body: JSON.stringify({ studies }),
    });
    if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${await answer.text()}`);
    await answer.text();
    for (const { fp: mark } of studies) acknowledged.push({ mark, kind: "study", at: Date.now() });
  }
}

import Database from "better-sqlite3";
import path from "node:path";
import { playDevice } from "../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../agent/tools/simulator/line.ts";
import { recentLoss } from "../../shared/runtime/commit-mark.ts";
import { session, vetScanRecords } from "./astm.ts";
import { MllpClient, verdict } from "./hl7.ts";
import { World } from "./processes.ts";

// Kills the agent at random moments under load, then compares the acknowledged messages with the studies of the server.
// The ALT value of each message is its number, so that each study can be traced back to its message.

export interface CrashReport {
  readonly cycles: number;
  readonly acknowledged: number;
  /** Number of messages that a device had to resend. */
  readonly resent: number;
  readonly studies: number;
  readonly lost: readonly number[];
  readonly twice: readonly number[];
  readonly wrongPatient: readonly number[];
}

const DEVICES = 4;
const PATIENTS = 8;

export async function crashUnderLoad(
  cycles: number,
  random: () => number,
  progress: (cycle: number) => void = () => undefined,
): Promise<CrashReport> {
  const world = await World.create(PATIENTS);
  const ports = await world.configureDevices(DEVICES, "abaxis-vetscan-vs2", "generic-hl7");
  const acknowledged: number[] = [];
  let resent = 0;
  let running = true;
  let next = 1;

  /** Sends messages one at a time and resends each until its last frame (ASTM) or the message (HL7) is acknowledged. */
  const device = async (port: number, index: number): Promise<void> => {
    const isAcknowledged = index % 2 === 0 ? isAcknowledgedAstm : isAcknowledgedHl7;
    while (running) {
      const number = next++;
      for (let attempt = 0; ; attempt++) {
        if (attempt > 0) resent += 1;
        if (await isAcknowledged(port, world, number)) break;
        if (!running) return;
      }
      acknowledged.push(number);
    }
  };

  try {
    await world.startAgent();
    const devices = ports.map((port, index) => device(port, index));
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await new Promise((resolve) => setTimeout(resolve, 50 + random() * 400));
      await world.agent.end("SIGKILL");
      checkIntegrity(world);
      await world.startAgent();
      progress(cycle);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    running = false;
    await Promise.all(devices);
    await world.drained();
    checkIntegrity(world);

    const seen = new Map<number, string[]>();
    const wrongPatient: number[] = [];
    const studies = world.serverStudies();
    for (const { fp, patient, results } of studies) {
      const number = results.find(({ analyte }) => analyte === "ALT")?.value ?? -1;
      seen.set(number, [...(seen.get(number) ?? []), fp]);
      if (patient !== patientOf(world, number).fp) wrongPatient.push(number);
    }
    return {
      cycles,
      acknowledged: acknowledged.length,
      resent,
      studies: studies.length,
      lost: acknowledged.filter((number) => !seen.has(number)),
      twice: [...seen].filter(([, fps]) => fps.length > 1).map(([number]) => number),
      wrongPatient,
    };
  } finally {
    running = false;
    await world.end();
  }
}

function patientOf(world: World, number: number) {
  return world.patients[number % world.patients.length]!;
}

/** Returns a different second for each message, since device, patient and time identify a measurement. */
function measuredAt(number: number): string {
  return new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
}

async function isAcknowledgedAstm(port: number, world: World, number: number): Promise<boolean> {
  const { externalId, species } = patientOf(world, number);
  const run = { patient: externalId, collected: measuredAt(number), alt: number };
  const bytes = session(vetScanRecords({ ...run, species: species === "dog" ? "Dog" : "Cat" }));
  try {
    const line = await openLine(`tcp://127.0.0.1:${port}`);
    const { accepted } = await playDevice(bytes, line);
    await line.close();
    return accepted;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return false;
  }
}

async function isAcknowledgedHl7(port: number, world: World, number: number): Promise<boolean> {
  try {
    const client = await MllpClient.connect(port);
    const reply = await client.exchange([
      `MSH|^~\\&|CHEM|Vendor|||${measuredAt(number)}||ORU^R01|${number}|P|2.3.1`,
      `PID|1||${patientOf(world, number).externalId}`,
      `OBR|1|||CHEM|||${measuredAt(number)}`,
      `OBX|1|NM|1742-6^ALT^LN||${number}|U/L|10-118|N|||F`,
    ]);
    client.close();
    if (verdict(reply) === `AA ${number}`) return true;
  } catch {
    // The agent is down.
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  return false;
}

function checkIntegrity(world: World): void {
  const db = new Database(path.join(world.agentData, "spool.db"));
  try {
    const result = db.pragma("integrity_check", { simple: true });
    if (result !== "ok") throw new Error(`expected integrity_check to return ok, got ${String(result)}`);
    const loss = recentLoss(db);
    if (loss !== null) throw new Error(`the spool reports a loss after a kill: ${JSON.stringify(loss)}`);
  } finally {
    db.close();
  }
}

import Database from "better-sqlite3";
import path from "node:path";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../../agent/tools/simulator/line.ts";
import { session, vetScanRecords } from "../protocols/astm.ts";
import { MllpClient, verdict } from "../protocols/hl7.ts";
import { until, World } from "./processes.ts";

// Kills the agent and the server at random moments under load, then compares the acknowledged messages with the studies and controls of
// the server. The first value of each message is its number, so that each study and each control can be traced back to its message.

export interface CrashReport {
  readonly cycles: number;
  readonly acknowledged: number;
  /** Number of messages that a device had to resend. */
  readonly resent: number;
  readonly studies: number;
  readonly controls: number;
  readonly lost: readonly number[];
  readonly twice: readonly number[];
  readonly wrongPatient: readonly number[];
}

const DEVICES = 4;
const PATIENTS = 8;
/** Each such cycle kills the server, too. */
const SERVER_KILL_EVERY = 5;

/** A message that a device got an acknowledgement for. */
export interface Acknowledged {
  readonly number: number;
  readonly port: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Simulated analyzers that send without pause, in turn ASTM and HL7. */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  resent = 0;
  /** Pause of a device after each message. */
  pauseMs = 0;
  /** Each third message is of control material. */
  sendsControls = false;
  readonly #world: World;
  readonly #ports: readonly number[];
  #devices: readonly Promise<void>[] = [];
  #running = false;
  #next: number;

  /** Creates a world with the analyzers in the configuration of its agent. */
  static async create(): Promise<{ world: World; load: Load }> {
    const world = await World.create(PATIENTS);
    const ports = await world.configureDevices(DEVICES, "abaxis-vetscan-vs2", "generic-hl7");
    return { world, load: new Load(world, ports) };
  }

  /** @param ports of the agent's devices, in turn ASTM and HL7 @param first number of a message */
  constructor(world: World, ports: readonly number[], first = 1) {
    this.#world = world;
    this.#ports = ports;
    this.#next = first;
  }

  start(): void {
    this.#running = true;
    this.#devices = this.#ports.map((port) => this.#device(port));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#devices);
  }

  /** Sends a message again, as a device does whose operator presses send. */
  async resend({ port, number }: Acknowledged): Promise<void> {
    while (!(await this.#isAcknowledged(port, number)));
  }

  #isAcknowledged(port: number, number: number): Promise<boolean> {
    const isAstm = this.#ports.indexOf(port) % 2 === 0;
    const isControl = this.sendsControls && number % 3 === 0;
    return (isAstm ? isAcknowledgedAstm : isAcknowledgedHl7)(port, this.#world, number, isControl);
  }

  /** Sends messages one at a time and resends each until its last frame (ASTM) or the message (HL7) is acknowledged. */
  async #device(port: number): Promise<void> {
    while (this.#running) {
      const number = this.#next++;
      for (let attempt = 0; ; attempt++) {
        if (attempt > 0) this.resent += 1;
        if (await this.#isAcknowledged(port, number)) break;
        if (!this.#running) return;
      }
      this.acknowledged.push({ number, port, at: Date.now() });
      if (this.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }
}

/** Compares the studies and controls of the server with the messages. */
export function studiesOf(world: World): {
  readonly studies: number;
  readonly controls: number;
  readonly numbers: ReadonlySet<number>;
  readonly twice: readonly number[];
  readonly wrongPatient: readonly number[];
} {
  const seen = new Map<number, string[]>();
  const wrongPatient: number[] = [];
  const studies = world.serverStudies();
  for (const { fp, patient, results } of studies) {
    const number = results.find(({ analyte }) => analyte === "ALT")?.value ?? -1;
    seen.set(number, [...(seen.get(number) ?? []), fp]);
    if (patient !== patientOf(world, number).fp) wrongPatient.push(number);
  }
  const controls = world.serverControls();
  for (const { fp, value } of controls) seen.set(value, [...(seen.get(value) ?? []), fp]);
  const twice = [...seen].filter(([, fps]) => fps.length > 1).map(([number]) => number);
  return { studies: studies.length, controls: controls.length, numbers: new Set(seen.keys()), twice, wrongPatient };
}

export async function crashUnderLoad(
  cycles: number,
  random: () => number,
  progress: (cycle: number) => void = () => undefined,
): Promise<CrashReport> {
  const { world, load } = await Load.create();
  try {
    await world.startAgent();
    load.sendsControls = true;
    load.start();
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await new Promise((resolve) => setTimeout(resolve, 50 + random() * 400));
      if (cycle % SERVER_KILL_EVERY === 0) await world.server.end("SIGKILL");
      await world.agent.end("SIGKILL");
      checkIntegrity(world);
      if (cycle % SERVER_KILL_EVERY === 0) await world.startServer();
      await world.startAgent();
      progress(cycle);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    // On a slow machine few messages fit between the kills.
    const controls = () => load.acknowledged.filter(({ number }) => number % 3 === 0).length;
    await until("more messages than kills", () => load.acknowledged.length > cycles && controls() > cycles / 4);
    await load.stop();
    await world.placed();
    checkIntegrity(world);

    const { numbers, ...found } = studiesOf(world);
    const acknowledged = load.acknowledged.map(({ number }) => number);
    const lost = acknowledged.filter((number) => !numbers.has(number));
    return { cycles, acknowledged: acknowledged.length, resent: load.resent, lost, ...found };
  } finally {
    await world.end();
  }
}

/** The records of a VetScan's own control of its electrodes. */
function controlRecords(number: number): string[] {
  return [
    `H|\\^&|||ABAXIS, INC.^VetScan VS2^3.1.35^TEST0001|||||||P|E 1394-97|${measuredAt(number)}`,
    "P|1",
    `O|1|||^^^* QUALITY CONTROL REPORT *: 9999A||${measuredAt(number)}||||1||||||1|||||||||F`,
    `R|1|^^^LEVEL 1: IQC 1|${number}||90 to 110|`,
    "L|1|N",
  ];
}

function patientOf(world: World, number: number) {
  return world.patients[number % world.patients.length]!;
}

/** Returns a different second for each message, since device, patient and time identify a measurement. */
export function measuredAt(number: number): string {
  return new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
}

async function isAcknowledgedAstm(port: number, world: World, number: number, isControl: boolean): Promise<boolean> {
  const { externalId, species } = patientOf(world, number);
  const run = { patient: externalId, collected: measuredAt(number), alt: number };
  const ofPatient = vetScanRecords({ ...run, species: species === "dog" ? "Dog" : "Cat" });
  const bytes = session(isControl ? controlRecords(number) : ofPatient);
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

async function isAcknowledgedHl7(port: number, world: World, number: number, isControl: boolean): Promise<boolean> {
  try {
    const client = await MllpClient.connect(port);
    const reply = await client.exchange([
      `MSH|^~\\&|CHEM|Vendor|||${measuredAt(number)}||ORU^R01|${number}|P|2.3.1`,
      isControl ? "PID|1||QC1" : `PID|1||${patientOf(world, number).externalId}`,
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
  } finally {
    db.close();
  }
}

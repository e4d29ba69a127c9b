import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { imageFile } from "../../../agent/imaging/image-folder.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../../agent/tools/simulator/line.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import { session, vetScanRecords } from "../../support/astm.ts";
import { dataset, Peer, storeRequest } from "../../support/dicom.ts";
import { bloodCount, MllpClient, verdict } from "../../support/hl7.ts";
import { type DeviceLine, freePort, runAgentCommand, until, World } from "../../support/processes.ts";
import { MachineClock } from "./machine-clock.ts";

// A clinic whose agent and server run on machines with clocks that the test sets. Its devices send numbered results.

export const HOUR = 60 * 60_000;
export const DAY = 24 * HOUR;
export const YEARS = 3 * 365 * DAY;

export const CLOCK_SENTENCE = /this machine's clock is (\d+) s (ahead of|behind) the server's/;

/** Hours after which old rows are removed again. */
const RETENTION_RUNS = 7 * HOUR;
/** Longer than the intervals of the other tasks. */
const STEP = 10 * 60_000;
/** The first pause between two steps, in real time; each further one is that much longer. */
const PAUSE_MS = 200;

/** A device without its port, with any further keys of the configuration. */
type Device = Pick<DeviceLine, "id" | "profile"> & Readonly<Record<string, unknown>>;

const DEVICES: readonly Device[] = [
  { id: "hema", profile: "generic-hl7" },
  { id: "plain", profile: "generic-hl7" },
  { id: "chem", profile: "abaxis-vetscan-vs2" },
  { id: "xray", profile: "dicom", aeTitle: "VETWIRE", quietSeconds: 1 },
];

/** A study as the server has it. */
export interface Filed {
  readonly device: string;
  readonly number: number;
  readonly acquiredAt: number;
}

/** A device and the number of its result; images have the number of their file. */
interface Sent {
  readonly device: string;
  readonly number: number;
}

export class TimedClinic {
  readonly world: World;
  readonly agentClock: MachineClock;
  readonly serverClock: MachineClock;
  /** Acknowledged results in their order. */
  readonly sent: Sent[] = [];
  readonly images: string[] = [];
  readonly #ports = new Map<string, number>();
  /** The segments of each blood count, by its number. */
  readonly #counts = new Map<number, { readonly device: string; readonly segments: readonly string[] }>();
  #last = 0;

  /** Creates the clinic. sendAll() is for the usual devices. */
  static async create(devices = DEVICES): Promise<TimedClinic> {
    const clinic = new TimedClinic(await World.create(4));
    await clinic.#configure(devices);
    return clinic;
  }

  private constructor(world: World) {
    this.world = world;
    this.agentClock = new MachineClock(world.folder, "agent");
    this.serverClock = new MachineClock(world.folder, "server");
    world.agentEnv = this.agentClock.env();
    world.serverEnv = this.serverClock.env();
  }

  async #configure(devices: readonly Device[]): Promise<void> {
    const { world } = this;
    const ports = await Promise.all(devices.map(freePort));
    for (const [index, { id }] of devices.entries()) this.#ports.set(id, ports[index]!);
    world.writeConfig(
      devices.map((device) => ({
        ...device,
        connection: { listen: `127.0.0.1:${this.#portOf(device.id)}` },
      })),
    );
    const config = JSON.parse(fs.readFileSync(world.config, "utf8")) as object;
    fs.writeFileSync(world.config, JSON.stringify({ ...config, timeZone: "UTC", images: { retainDays: 29 } }));
  }

  /** Starts the agent, and waits until the server has answered it. */
  async startAgent(): Promise<void> {
    await this.world.startAgent();
    await until("the server has answered", () => this.world.status().server?.state === "reached");
    await this.world.waitForPatients();
  }

  async restart(...programs: readonly ("agent" | "server")[]): Promise<void> {
    if (programs.includes("agent")) await this.world.agent.end();
    if (programs.includes("server")) {
      await this.world.server.end();
      await this.world.startServer();
    }
    if (programs.includes("agent")) await this.startAgent();
  }

  /** The right time. */
  get right(): number {
    return this.agentClock.right;
  }

  /** Sets both clocks that far ahead of the right time. */
  set(agentMs: number, serverMs: number): void {
    this.agentClock.set(agentMs);
    this.serverClock.set(serverMs);
  }

  pass(ms = RETENTION_RUNS): void {
    this.agentClock.pass(ms);
    this.serverClock.pass(ms);
  }

  /**
   * Lets time pass in steps that fire each periodic task, until `check` holds. A request that is under way at a step takes minutes by
   * the clocks, so the pauses grow until a slow machine's requests fit in.
   */
  async passUntil(what: string, check: () => boolean): Promise<void> {
    let pauseMs = 0;
    let stepAt = 0;
    const step = () => {
      if (check()) return true;
      if (performance.now() < stepAt) return false;
      this.pass(STEP);
      pauseMs += PAUSE_MS;
      stepAt = performance.now() + pauseMs;
      return false;
    };
    await until(what, step);
  }

  /** Lets time pass until that time. */
  passTo(time: number): void {
    this.pass(time - this.right);
  }

  #portOf(device: string): number {
    return this.#ports.get(device)!;
  }

  /** Each device sends a result, the one in `plain` without any time. Rejects if the agent does not acknowledge one. */
  async sendAll(): Promise<void> {
    await this.sendCount("hema", deviceTime(this.right));
    await this.sendCount("plain", "");
    await this.#sendChemistry();
    await this.#sendImage();
  }

  /** Sends a blood count with a time of the device. @returns its number */
  async sendCount(device: string, measured: string): Promise<number> {
    const number = (this.#last += 1);
    const count = bloodCount({ id: `M${number}`, patient: this.#patient(number), measured, wbc: number });
    this.#counts.set(number, { device, segments: count.map((each) => each.replace("|S-1|", `|S-${number}|`)) });
    await this.resend(number);
    this.sent.push({ device, number });
    return number;
  }

  /** Sends the bytes of an earlier blood count again. */
  async resend(number: number): Promise<void> {
    const { device, segments } = this.#counts.get(number)!;
    const client = await MllpClient.connect(this.#portOf(device));
    const reply = await client.exchange(segments);
    client.close();
    if (verdict(reply) !== `AA M${number}`) throw new Error(`expected AA M${number}, got ${reply}`);
  }

  async #sendChemistry(): Promise<void> {
    const number = (this.#last += 1);
    const { externalId, species } = this.world.patients[number % this.world.patients.length]!;
    const records = vetScanRecords({
      patient: externalId,
      species: species === "dog" ? "Dog" : "Cat",
      alt: number,
      collected: deviceTime(this.right),
    });
    const line = await openLine(`tcp://127.0.0.1:${this.#portOf("chem")}`);
    const { reason } = await playDevice(session(records), line);
    await line.close();
    if (reason !== null) throw new Error(`${reason}: ${this.world.agent.output().slice(-3000)}`);
    this.sent.push({ device: "chem", number });
  }

  async #sendImage(): Promise<void> {
    const uid = `1.2.3.${(this.#last += 1)}`;
    const sender = await Peer.associate(this.#portOf("xray"));
    const pixels = new Uint8Array(1_000);
    const patient = [0x0010_0020, "LO", this.#patient(this.#last)] as const;
    sender.send(storeRequest(1, uid, dataset(uid, [patient, [0x7fe0_0010, "OW", pixels]])));
    const status = await sender.status();
    sender.end();
    if (status !== STATUS.success) throw new Error(`expected a stored image, got ${status}`);
    this.images.push(uid);
  }

  #patient(number: number): string {
    return this.world.patients[number % this.world.patients.length]!.externalId;
  }

  /**
   * Waits until agent and server know that the agent's clock is that far ahead of the server's. A request under way while time passes
   * takes that time, and tells the offset as inexactly; the next one corrects it.
   * @returns the lines of `status`
   */
  async told(offsetMs: number): Promise<string> {
    const isNear = (offsetS: number | undefined) => Math.abs((offsetS ?? Infinity) - offsetMs / 1000) < 30;
    let status = "";
    await this.passUntil("server and agent know the offset", () => {
      if (!isNear(this.#heartbeatOffset())) return false;
      status = runAgentCommand("status", "--config", this.world.config);
      return isNear(offsetIn(status));
    });
    return status;
  }

  #heartbeatOffset(): number | undefined {
    return this.#heartbeat().clock_offset_s ?? undefined;
  }

  /** The last warning of a device that the server knows. */
  warningAtServer(device: string): string | undefined {
    return this.#heartbeat().devices?.find(({ id }) => id === device)?.last_warning?.reason;
  }

  #heartbeat(): Heartbeat {
    const [body] = this.#query("SELECT body FROM heartbeat") as { body: string }[];
    return JSON.parse(body?.body ?? "{}") as Heartbeat;
  }

  #query(sql: string): unknown[] {
    const db = new Database(path.join(this.world.serverData, "vetwire.db"), { readonly: true });
    try {
      return db.prepare(sql).all();
    } finally {
      db.close();
    }
  }

  /** The results at the server in the order of their arrival, images excluded. */
  filed(): Filed[] {
    const rows = this.#query("SELECT results, acquired_at FROM study ORDER BY id") as {
      results: string;
      acquired_at: number;
    }[];
    return rows.flatMap(({ results, acquired_at }) => {
      const [first] = JSON.parse(results) as { value: number }[];
      const sent = this.sent.find(({ number }) => number === first?.value);
      return sent === undefined ? [] : [{ ...sent, acquiredAt: acquired_at }];
    });
  }

  /** The times of observation of the studies that the API lists as updated since. */
  async listedSince(updatedSince: string): Promise<number[]> {
    const { serverPort, key } = this.world;
    const url = `http://127.0.0.1:${serverPort}/api/v1/lab/diagnostics?page_size=100&updated_since=${updatedSince}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: { items: { acquired_at: string }[] } };
    return data.items.map(({ acquired_at }) => Date.parse(acquired_at));
  }

  /** The latest time of observation of all studies at the server, images included. */
  latest(): number {
    const [row] = this.#query("SELECT max(acquired_at) AS latest FROM study") as { latest: number }[];
    return row?.latest ?? 0;
  }

  /** The numbers of the results at the server, by device, in the order of their arrival. */
  numbersFiled(): Record<string, number[]> {
    return byDevice(this.filed());
  }

  numbersSent(): Record<string, number[]> {
    return byDevice(this.sent);
  }

  /** The numbers of messages and of image files that the agent keeps. */
  kept(): { messages: number; images: number } {
    const rows = readSpool(this.world.agentData, (db) =>
      db.prepare("SELECT message FROM instance WHERE removed_at IS NULL").pluck().all(),
    ) as string[];
    const images = rows.filter((message) => fs.existsSync(imageFile(this.world.agentData, message))).length;
    return { messages: this.world.messages().length, images };
  }
}

/** The offset of the clocks that a text tells, in seconds; 0 if it tells none. */
function offsetIn(text: string): number {
  const [, seconds, direction] = CLOCK_SENTENCE.exec(text) ?? [];
  return direction === undefined ? 0 : Number(seconds) * (direction === "behind" ? -1 : 1);
}

function byDevice(results: readonly Sent[]): Record<string, number[]> {
  const numbers: Record<string, number[]> = {};
  for (const { device, number } of results) (numbers[device] ??= []).push(number);
  return numbers;
}

/** Formats a time as a device in UTC sends it. */
export function deviceTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\D/g, "").slice(0, 14);
}

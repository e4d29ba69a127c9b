import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { readSpool } from "../../../agent/spool/access.ts";
import { AGENT, freePort, start, until, World } from "../../support/machine/processes.ts";
import { connectDevice, type Device, PROFILES, type Protocol, PROTOCOLS } from "./devices.ts";
import type { Flood } from "./floods.ts";
import type { FloodOrder } from "./flooder.ts";

const GOOD_DEVICES = 15;
/** Interval between the messages of a device. */
const MESSAGE_EVERY_MS = 200;
const PAGE_BYTES = 4_096;
/** A loaded machine files a few dozen messages a second. */
const AFTER_FLOOD_MS = 120_000;
const WARNING = /"level":[456]0/;

/** Measurements of the agent in one stretch of time. */
export interface Stretch {
  /** Milliseconds from each message of the good devices to its slowest acknowledgement. */
  readonly latencies: number[];
  /** Largest resident memory of the agent, in MB. */
  megabytes: number;
  descriptors: number;
  /** Lines of the log from the level "warn" on. */
  warnings: number;
}

/** An agent with fifteen good devices over all protocols, a port for a hostile one each, and that hostile client. */
export class Clinic {
  readonly world: World;
  readonly #goodPorts: readonly number[];
  readonly #hostilePorts: readonly number[];
  readonly #devices: Device[] = [];
  readonly #sent = new Map<string, number>();
  #flooder!: ChildProcess;
  #number = 0;
  #warnings = 0;

  /** Starts the agent from the build, or the given program. */
  static async open(agent = AGENT): Promise<Clinic> {
    const world = await World.create(1, ["--rate-limit", "device=1000000/1000000"]);
    const ports = await Promise.all(Array.from({ length: GOOD_DEVICES + PROTOCOLS.length }, () => freePort()));
    const clinic = new Clinic(world, ports.slice(0, GOOD_DEVICES), ports.slice(GOOD_DEVICES));
    const entry = (id: string, protocol: Protocol, port: number) => ({
      id,
      profile: PROFILES[protocol],
      connection: { listen: `127.0.0.1:${port}` },
      ...(protocol === "dicom" ? { aeTitle: "VETWIRE", quietSeconds: 600 } : {}),
    });
    world.writeConfig([
      ...clinic.#goodPorts.map((port, index) => entry(goodName(index), protocolOf(index), port)),
      ...PROTOCOLS.map((protocol, index) => entry(hostileName(protocol), protocol, clinic.#hostilePorts[index]!)),
    ]);
    await clinic.#startAgent(agent);
    await clinic.#startFlooder();
    for (const [index, port] of clinic.#goodPorts.entries()) {
      clinic.#devices.push(await connectDevice(protocolOf(index), port, goodName(index)));
    }
    return clinic;
  }

  private constructor(world: World, goodPorts: readonly number[], hostilePorts: readonly number[]) {
    this.world = world;
    this.#goodPorts = goodPorts;
    this.#hostilePorts = hostilePorts;
  }

  async #startAgent(agent: string): Promise<void> {
    const { world } = this;
    world.agent = start(agent, ["run", "--config", world.config]);
    for (const stream of [world.agent.process.stdout, world.agent.process.stderr]) {
      stream?.on("data", (text: Buffer) => (this.#warnings += text.toString().split(WARNING).length - 1));
    }
    await until("the agent runs", () => world.agent.output().includes("the agent is running"));
    await world.waitForPatients();
  }

  async #startFlooder(): Promise<void> {
    const script = path.join(import.meta.dirname, "flooder.ts");
    this.#flooder = fork(script);
    await once(this.#flooder, "message");
  }

  async begin(flood: Flood): Promise<void> {
    await this.#order({ flood: flood.name, port: this.#portOf(flood.protocol) });
  }

  async endFlood(): Promise<void> {
    await this.#order("end");
  }

  async #order(order: FloodOrder): Promise<void> {
    const done = once(this.#flooder, "message");
    this.#flooder.send(order);
    await done;
  }

  #portOf(protocol: Protocol): number {
    return this.#hostilePorts[PROTOCOLS.indexOf(protocol)]!;
  }

  /** Adds what the agent shows to `stretch` until `isOver`. The good devices are silent. */
  async watchUntil(stretch: Stretch, isOver: () => boolean): Promise<void> {
    const before = this.#warnings;
    await until(
      "the end of the watch",
      () => {
        this.#watch(stretch);
        stretch.warnings = this.#warnings - before;
        return isOver();
      },
      120_000,
    );
  }

  /** Lets every good device send for `seconds`, and adds what the agent showed to `stretch`. */
  async measure(stretch: Stretch, seconds: number): Promise<void> {
    const warnings = this.#warnings;
    const watching = setInterval(() => this.#watch(stretch), 50);
    const end = performance.now() + seconds * 1000;
    try {
      await Promise.all(this.#devices.map((device, index) => this.#sendOn(device, index, end, stretch)));
    } finally {
      clearInterval(watching);
    }
    this.#watch(stretch);
    stretch.warnings += this.#warnings - warnings;
  }

  async #sendOn(device: Device, index: number, end: number, { latencies }: Stretch): Promise<void> {
    const name = goodName(index);
    let due = performance.now() + (index / GOOD_DEVICES) * MESSAGE_EVERY_MS;
    for (; due < end; due += MESSAGE_EVERY_MS) {
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      latencies.push(await device.send((this.#number += 1)));
      this.#sent.set(name, (this.#sent.get(name) ?? 0) + 1);
    }
  }

  #watch(stretch: Stretch): void {
    const { pid } = this.world.agent.process;
    const pages = Number(fs.readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    stretch.megabytes = Math.max(stretch.megabytes, (pages * PAGE_BYTES) / 1e6);
    stretch.descriptors = Math.max(stretch.descriptors, fs.readdirSync(`/proc/${pid}/fd`).length);
  }

  /**
   * Sends one result on the flooded port, from a new connection. The reply may take as long as the agent takes for what it has of that
   * port. @returns the number of messages of that port which the agent stores until the acknowledgement
   */
  async sendOnFloodedPort(protocol: Protocol): Promise<number> {
    const before = this.#storedOf(protocol);
    const device = await connectDevice(protocol, this.#portOf(protocol), "SN-after", AFTER_FLOOD_MS);
    await device.send((this.#number += 1));
    device.close();
    return this.#storedOf(protocol) - before;
  }

  #storedOf(protocol: Protocol): number {
    const count = "SELECT COUNT(*) FROM message WHERE device = ?";
    return readSpool(this.world.agentData, (db) => db.prepare(count).pluck().get(hostileName(protocol))) as number;
  }

  /** Number of acknowledged results, and of stored ones, of each good device. */
  counts(): { readonly acknowledged: object; readonly stored: object } {
    const stored = new Map<string, number>();
    for (const { device } of this.world.messages()) {
      if (this.#sent.has(device)) stored.set(device, (stored.get(device) ?? 0) + 1);
    }
    const sorted = (of: ReadonlyMap<string, number>) =>
      Object.fromEntries([...of].toSorted(([a], [b]) => a.localeCompare(b)));
    return { acknowledged: sorted(this.#sent), stored: sorted(stored) };
  }

  async end(): Promise<void> {
    for (const device of this.#devices) device.close();
    this.#flooder?.kill("SIGKILL");
    await this.world.end();
  }
}

export function newStretch(): Stretch {
  return { latencies: [], megabytes: 0, descriptors: 0, warnings: 0 };
}

function protocolOf(index: number): Protocol {
  return PROTOCOLS[index % PROTOCOLS.length]!;
}

function hostileName(protocol: Protocol): string {
  return `hostile-${protocol}`;
}

function goodName(index: number): string {
  return `${protocolOf(index)}-${index}`;
}

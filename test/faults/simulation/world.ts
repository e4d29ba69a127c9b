import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openDatabase } from "../../../agent/spool/thread/database.ts";
import { diceOf } from "../../support/runner/dice.ts";
import { SimulatedAgent } from "./agent.ts";
import type { Broken } from "./broken.ts";
import { Cable } from "./cable.ts";
import { Chance } from "./chance.ts";
import { Clock, Process } from "./clock.ts";
import { Device, type DeviceKind, type Message } from "./devices.ts";
import { Disk } from "./disk.ts";
import { installImageFiles } from "./image-files.ts";
import { Model } from "./model.ts";
import { Network } from "./network.ts";
import { EPOCH, makeServerFolder, PATIENTS, SimulatedServer } from "./server.ts";

// One world: some devices, an agent, a server, and what goes wrong between them, all from one seed.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Of a device that marks its controls, each measurement with such a number is one. */
const CONTROL_EVERY = 3;
/** Time in which devices send and faults happen. */
const STORM_MS = MINUTE_MS;
/** Time for the rest after the faults. The push waits up to five minutes after a failure. */
const DRAIN_MS = 20 * MINUTE_MS;
export const KINDS: readonly DeviceKind[] = ["hl7", "astm", "poct1", "dicom"];
/**
 * After three years every stored row is old enough to be removed. A clock that is years late rejects the devices' times, by which
 * the model knows the measurements.
 */
const JUMPS_MS = [3 * 365 * 24, -24, 24, -1, 1, 0.25].map((hours) => hours * HOUR_MS);

/** The folders that each world starts with. */
export interface Templates {
  readonly folder: string;
  readonly spool: string;
  readonly server: string;
}

export async function makeTemplates(): Promise<Templates> {
  // A folder in memory: a world simulates its disk, and a real fsync is slow.
  const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(path.join(base, "vetwire-worlds-"));
  const templates = { folder, spool: path.join(folder, "spool"), server: path.join(folder, "server") };
  await makeServerFolder(templates.server);
  makeSpool(templates.spool);
  return templates;
}

export interface Outcome {
  readonly seed: number;
  /** Broken promises, in words. */
  readonly problems: readonly string[];
  /** A digest of everything that happened, in order. */
  readonly trace: string;
  readonly messages: number;
  readonly attempts: number;
  readonly crashes: number;
  readonly events: number;
  readonly requests: number;
  readonly refusedGroups: number;
}

export interface WorldOptions {
  readonly broken?: Broken | null;
  /** The kinds of devices. Another list gives other worlds for the same seeds. */
  readonly kinds?: readonly DeviceKind[];
  readonly tell?: (line: string) => void;
}

/** Runs the world of a seed. `tell` gets each step. */
export async function runWorld(
  seed: number,
  templates: Templates,
  { broken = null, kinds = KINDS, tell = () => undefined }: WorldOptions = {},
): Promise<Outcome> {
  const folder = mkdtempSync(path.join(templates.folder, "world-"));
  try {
    return await new World(seed, folder, templates, broken, kinds, tell).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class World {
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #clock: Clock;
  /** Runs the devices and the plan. */
  readonly #outside = new Process({ name: "world", wallAtStart: Date.parse(EPOCH) });
  readonly #server: SimulatedServer;
  readonly #network: Network;
  readonly #disk: Disk;
  readonly #devices: readonly Device[];
  readonly #agent: SimulatedAgent;
  readonly #model: Model;
  readonly #trace = createHash("sha256");
  readonly #tell: (line: string) => void;
  #messages: Message[] = [];
  #crashes = 0;

  constructor(
    seed: number,
    folder: string,
    templates: Templates,
    broken: Broken | null,
    kinds: readonly DeviceKind[],
    tell: (line: string) => void,
  ) {
    this.#seed = seed;
    this.#tell = tell;
    const chance = (this.#chance = new Chance(diceOf(seed)));
    const clock = (this.#clock = new Clock(diceOf(seed ^ 0x5eed)));
    /** Half of the worlds lack a kind of fault, so that one does not hide another. */
    const rate = (max: number) => (chance.happens(0.5) ? 0 : chance.between(0, max));
    this.#server = new SimulatedServer(path.join(folder, "server"), templates.server, clock);
    this.#network = new Network(clock, chance, this.#server, {
      loss: rate(0.1),
      answerLoss: rate(0.3),
      duplicate: rate(0.3),
      proxy: rate(0.3),
      delayMs: chance.happens(0.2) ? 60_000 : chance.between(10, 2_000),
    });
    this.#disk = new Disk(path.join(folder, "spool"), templates.spool, clock, chance, chance.happens(0.3));
    this.#disk.commitMs = chance.happens(0.2) ? 3_000 : chance.between(1, 100);
    const lines = { cut: rate(0.15), loss: rate(0.03), delayMs: chance.between(1, 300) };
    this.#devices = Array.from({ length: 2 + chance.dice(3) }, (_, index) => {
      const kind = chance.pick(kinds);
      const cable = new Cable(clock, chance, this.#outside, { ...lines }, Device.isSerial(kind));
      return new Device(`${kind}-${index}`, kind, cable, clock, chance, this.#outside);
    });
    const machine = { name: "agent", wallAtStart: Date.parse(EPOCH) + chance.between(-2_000, 2_000) };
    this.#agent = new SimulatedAgent(machine, clock, this.#disk, this.#devices, this.#server.keyFile, broken);
    this.#model = new Model(this.#disk, this.#server);
  }

  async run(): Promise<Outcome> {
    const restoreHttp = this.#network.install(() => this.#agent.process);
    const restoreFiles = installImageFiles(this.#disk, this.#clock, this.#chance);
    const problems: string[] = [];
    try {
      this.#plan();
      await this.#clock.run(STORM_MS, () => false);
      this.#note("the faults end");
      this.#endStorm();
      await this.#drain(problems);
      this.#note("the server works for every study");
      this.#server.poison = null;
      if (problems.length === 0) await this.#drain(problems);
      // A new start finishes the work that an earlier fault left open, and changes nothing else.
      this.#agent.crash(false);
      this.#agent.start();
      if (problems.length === 0) await this.#drain(problems, true);
      problems.push(...this.#agent.faults, ...this.#clock.uncaught);
    } finally {
      restoreFiles();
      restoreHttp();
      this.#agent.crash(false);
      await this.#server.end();
    }
    return {
      seed: this.#seed,
      problems,
      trace: this.#trace.digest("hex").slice(0, 16),
      messages: this.#messages.length,
      attempts: this.#devices.reduce((sum, { attempts }) => sum + attempts, 0),
      crashes: this.#crashes,
      events: this.#clock.events,
      requests: this.#network.requests,
      refusedGroups: this.#disk.refusedGroups,
    };
  }

  /** Schedules all messages and faults. */
  #plan(): void {
    const chance = this.#chance;
    this.#at(0, "the server starts", () => this.#server.start());
    this.#at(chance.ms(3_000), "the agent starts", () => this.#agent.start());
    this.#planMessages();
    const some = (max: number, plan: (at: number) => void) => {
      for (let left = chance.dice(max + 1); left > 0; left--) plan(chance.between(0, STORM_MS));
    };
    some(3, (at) => this.#planCrash(at));
    some(1, (at) => this.#at(at, "the agent is restarted", () => this.#agent.restart()));
    some(2, (at) => {
      this.#at(at, "the server crashes", () => this.#server.crash());
      this.#at(at + chance.between(500, 40_000), "the server starts", () => this.#server.start());
    });
    some(2, (at) => {
      this.#at(at, "the network is cut", () => (this.#network.isCut = true));
      this.#at(at + chance.between(500, 30_000), "the network is back", () => (this.#network.isCut = false));
    });
    some(2, (at) => {
      const fault = chance.pick(["full", "read-only"] as const);
      this.#at(at, `the disk is ${fault}`, () => (this.#disk.fault = fault));
      this.#at(at + chance.between(500, 20_000), "the disk works", () => (this.#disk.fault = null));
    });
    some(2, (at) => {
      const machine = chance.pick([this.#agent.machine, this.#server.machine]);
      const ms = chance.pick(JUMPS_MS);
      this.#at(at, `the clock of the ${machine.name} jumps ${ms} ms`, () => (machine.wallAtStart += ms));
    });
  }

  #planMessages(): void {
    const chance = this.#chance;
    let number = 0;
    let measurement = 0;
    for (const device of this.#devices) {
      let last: Message | null = null;
      for (let left = 2 + chance.dice(7); left > 0; left--) {
        number += 1;
        const isCorrection: boolean = last !== null && chance.happens(0.2) && !last.isControl;
        const patient = chance.happens(0.15) ? "NOBODY-9" : chance.pick(PATIENTS);
        if (!isCorrection) measurement += 1;
        const isControl = device.marksControls && measurement % CONTROL_EVERY === 0;
        const message: Message =
          isCorrection && last !== null
            ? { ...last, number }
            : { ...{ number, device: device.id, measurement, patient }, isImage: device.isImaging, isControl };
        last = message;
        this.#messages.push(message);
      }
      // The messages of a device keep their order, so its times are sorted.
      const own = this.#messages.filter((message) => message.device === device.id);
      const times = own.map(() => chance.between(0, STORM_MS * 0.8)).toSorted((a, b) => a - b);
      for (const [index, message] of own.entries())
        this.#clock.schedule(this.#outside, times[index]!, () => device.send(message));
      device.onAcknowledged = (message) => this.#note(`${device.id} got an acknowledgement for ${message.number}`);
    }
    if (chance.happens(0.2)) this.#server.poison = chance.pick(this.#messages).number;
    this.#server.onPush = (studies) => {
      this.#note(
        `a request arrives: ${studies.map(({ revision, results }) => `${revision}/${results.length}`).join()}`,
      );
      this.#model.pushed(studies);
    };
  }

  #planCrash(at: number): void {
    const isPowerCut = this.#disk.keepsFsynced && this.#chance.happens(0.5);
    this.#at(at, isPowerCut ? "the power is cut" : "the agent is killed", () => {
      this.#crashes += 1;
      this.#agent.crash(isPowerCut);
    });
    this.#at(at + this.#chance.between(100, 15_000), "the agent starts", () => this.#agent.start());
  }

  /** Ends all faults but that of the one study which the server fails at. */
  #endStorm(): void {
    this.#disk.fault = null;
    this.#network.isCut = false;
    Object.assign(this.#network.faults, { loss: 0, answerLoss: 0, duplicate: 0, proxy: 0, delayMs: 200 });
    for (const { cable } of this.#devices) Object.assign(cable.faults, { cut: 0, loss: 0, delayMs: 50 });
    this.#disk.commitMs = 10;
    this.#at(0, "the server starts", () => this.#server.start());
    this.#at(0, "the agent starts", () => this.#agent.start());
  }

  /** Runs until every promise is kept. Adds the promises that are not kept in time. */
  async #drain(problems: string[], isLast = false): Promise<void> {
    let left: readonly string[] = [];
    await this.#clock.run(DRAIN_MS, () => {
      if (this.#clock.events % 32 !== 0 || this.#devices.some(({ isDone }) => !isDone)) return false;
      left = this.#model.problems(this.#messages, this.#server.poison, isLast).concat(this.#skewProblems());
      return left.length === 0;
    });
    const waiting = this.#devices.filter(({ isDone }) => !isDone).map(({ id }) => `${id} cannot send its messages`);
    problems.push(...waiting, ...left);
  }

  /** P7: a clock is reported if it differs from the server's by a minute or more, and only then. */
  #skewProblems(): string[] {
    const skewMs = this.#agent.machine.wallAtStart - this.#server.machine.wallAtStart;
    const told = this.#agent.reportedOffsetS;
    const isWrong = Math.abs(skewMs) > 5 * MINUTE_MS;
    if (isWrong === (told !== null) && (told === null || Math.sign(told) === Math.sign(skewMs))) return [];
    return [`the clocks are ${Math.round(skewMs / 1000)} s apart, and the agent reports ${told} s`];
  }

  #at(ms: number, what: string, run: () => unknown): void {
    this.#clock.scheduleAwaited(this.#outside, ms, () => {
      this.#note(what);
      return run();
    });
  }

  #note(what: string): void {
    const line = `${this.#clock.now.toFixed(3)} ${what}`;
    this.#trace.update(`${line} ${this.#clock.events}\n`);
    this.#tell(line);
  }
}

function makeSpool(folder: string): void {
  mkdirSync(folder);
  openDatabase({ folder, bytesMax: 2 ** 30 }).close();
}

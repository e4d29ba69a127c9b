import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { readSpool } from "../../../agent/spool/access.ts";
import { freePort, until, World } from "../../support/processes.ts";
import { MachineClock } from "../clocks/machine-clock.ts";
import { type Analyzer, ANALYZER_PROFILES, type AnalyzerProtocol, connectAnalyzer, sendImage } from "./devices.ts";
import type { Sample } from "./judge.ts";
import { Probe } from "./probe.ts";

// A clinic whose processes live through many hours in minutes. Its clock passes in steps: in each step the devices send what they
// would have sent in its time, and the clock goes on once the agent has acknowledged that. So the rate of messages by the clock is
// exact, and a slow machine makes the run longer only.

const ANALYZERS: readonly AnalyzerProtocol[] = ["hl7", "hl7", "hl7", "poct1a", "poct1a", "astm"];
const MESSAGES_PER_SECOND = 5;
/** Messages of each analyzer in one step. */
const EACH = 4;
/** Time of the clock in one step. */
const STEP_MS = (ANALYZERS.length * EACH * 1000) / MESSAGES_PER_SECOND;
/** Real time of a step at least, so that periodic tasks run between the messages. */
const STEP_REAL_MS = 100;
const IMAGE_EVERY_STEPS = 12;
const CRITICAL_EVERY = 400;
const PATIENTS = 20;
const HOUR_MS = 3_600_000;

type Program = "agent" | "server";

/** The backlog of the server's absence, and how fast it went. */
export interface Drain {
  readonly studies: number;
  readonly seconds: number;
}

export class SoakClinic {
  readonly world: World;
  readonly samples: Record<Program, Sample[]> = { agent: [], server: [] };
  /** Acknowledged messages, images excluded. */
  messages = 0;
  images = 0;
  readonly #clock: MachineClock;
  readonly #probe: Probe;
  readonly #lives = { agent: 1, server: 1 };
  readonly #from: number;
  #ports: readonly number[] = [];
  #imagePort = 0;
  #analyzers: readonly Analyzer[] = [];
  #steps = 0;
  /** The time of the last message of each analyzer. */
  #lastAt = 0;

  /** @param agentPreload a module that the agent loads first */
  static async open(agentPreload: string | null = null): Promise<SoakClinic> {
    const clinic = new SoakClinic(await World.create(PATIENTS), agentPreload);
    await clinic.#configure();
    await clinic.restart("server");
    await clinic.#startAgent();
    return clinic;
  }

  private constructor(world: World, agentPreload: string | null) {
    this.world = world;
    this.#clock = new MachineClock(world.folder, "clinic");
    this.#probe = new Probe(world.folder);
    this.#from = this.#clock.right;
    const further = agentPreload === null ? [] : [`--require ${agentPreload}`];
    world.agentEnv = { ...this.#clock.env(this.#probe.option, ...further), ...this.#probe.env };
    world.serverEnv = { ...this.#clock.env(this.#probe.option), ...this.#probe.env };
  }

  async #configure(): Promise<void> {
    const { world } = this;
    this.#ports = await Promise.all(ANALYZERS.map(() => freePort()));
    this.#imagePort = await freePort();
    const connection = (port: number) => ({ listen: `127.0.0.1:${port}` });
    world.writeConfig([
      ...ANALYZERS.map((protocol, index) => ({
        id: nameOf(index),
        profile: ANALYZER_PROFILES[protocol],
        connection: connection(this.#ports[index]!),
      })),
      { id: "xray", profile: "dicom", connection: connection(this.#imagePort), aeTitle: "VETWIRE", quietSeconds: 5 },
    ]);
    const config = JSON.parse(fs.readFileSync(world.config, "utf8")) as object;
    fs.writeFileSync(world.config, JSON.stringify({ ...config, timeZone: "UTC" }));
  }

  get hours(): number {
    return (this.#clock.right - this.#from) / HOUR_MS;
  }

  async #startAgent(): Promise<void> {
    await this.world.startAgent();
    await this.world.waitForPatients();
    this.#analyzers = await Promise.all(
      ANALYZERS.map((protocol, index) => connectAnalyzer(protocol, this.#ports[index]!, nameOf(index))),
    );
  }

  async restart(program: Program): Promise<void> {
    if (program === "agent") {
      this.disconnect();
      await this.world.agent.end();
      this.#lives.agent += 1;
      await this.#startAgent();
    } else {
      await this.world.server.end();
      await this.startServer();
    }
  }

  async startServer(): Promise<void> {
    await this.world.startServer();
    this.#lives.server += 1;
  }

  disconnect(): void {
    for (const analyzer of this.#analyzers) analyzer.close();
  }

  /** Lets the devices send, and the clock pass, until that hour. Measures the programs `samples` times. */
  async runUntil(hour: number, samples: number): Promise<void> {
    const from = this.hours;
    for (let sample = 1; sample <= samples; sample += 1) {
      const next = from + ((hour - from) * sample) / samples;
      while (this.hours < next) await this.#step();
      await this.measure();
    }
  }

  /** Sends the messages of one step, and lets its time pass. */
  async #step(): Promise<void> {
    const begun = performance.now();
    await this.#send(EACH);
    if (this.#steps % IMAGE_EVERY_STEPS === 0) await this.#sendImage();
    this.#steps += 1;
    const rest = STEP_REAL_MS - (performance.now() - begun);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    this.#clock.pass(Math.max(0, STEP_MS - (performance.now() - begun)));
  }

  /** Each analyzer sends that many results in turn. */
  async #send(each: number): Promise<void> {
    const now = Math.floor(this.#clock.right / 1000) * 1000;
    const begin = Math.max(this.#lastAt + 1000, now - each * 1000);
    this.#lastAt = begin + (each - 1) * 1000;
    await Promise.all(
      this.#analyzers.map(async (analyzer, index) => {
        for (let nth = 0; nth < each; nth += 1) {
          const number = (this.messages += 1);
          const isCritical = index === 0 && number % CRITICAL_EVERY < ANALYZERS.length;
          await analyzer.send({ at: begin + nth * 1000, patient: this.#patient(number), isCritical });
        }
      }),
    );
  }

  async #sendImage(): Promise<void> {
    await sendImage(this.#imagePort, { at: this.#lastAt, patient: this.#patient(this.#steps), isCritical: false });
    this.images += 1;
  }

  /** Measures the programs that run. */
  async measure(): Promise<void> {
    const running = (["agent", "server"] as const).filter((program) => this.world[program].process.exitCode === null);
    const measures = await this.#probe.measure(running.map((program) => this.world[program].process.pid!));
    const { hours, messages } = this;
    for (const [index, program] of running.entries()) {
      const life = `${program} ${this.#lives[program]}`;
      this.samples[program].push({ life, hours, messages, ...measures[index]!, logBytes: this.#logBytes(program) });
    }
  }

  #logBytes(program: Program): number {
    const { agentData, serverData } = this.world;
    const file = program === "agent" ? path.join(agentData, "spool.db-wal") : path.join(serverData, "vetwire.db-wal");
    return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Measures how fast a waiting backlog reaches the server that runs again, from its first study to its last but `rest`. Meanwhile
   * the devices send five messages a real second, and the clocks run as fast as real ones.
   */
  async drain(rest = 100): Promise<Drain> {
    const before = this.studies();
    while (this.studies() === before) await this.#step();
    const [first, from] = [this.studies(), performance.now()];
    for (let sent = 0; this.#outbox() > rest; sent += 1) {
      await this.#sendOne();
      const due = from + ((sent + 1) * 1000) / MESSAGES_PER_SECOND;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    return { studies: this.studies() - first, seconds: (performance.now() - from) / 1000 };
  }

  async #sendOne(): Promise<void> {
    this.#lastAt = Math.max(this.#lastAt + 1000, Math.floor(this.#clock.right / 1000) * 1000);
    const analyzer = this.#analyzers[this.messages % ANALYZERS.length]!;
    await analyzer.send({ at: this.#lastAt, patient: this.#patient(this.messages), isCritical: false });
    this.messages += 1;
  }

  /** A dog, because the analyzers say so. */
  #patient(number: number): string {
    const dogs = this.world.patients.filter(({ species }) => species === "dog");
    return dogs[number % dogs.length]!.externalId;
  }

  /** Number of studies at the server. */
  studies(): number {
    return this.#serverCount("SELECT COUNT(*) FROM study");
  }

  previews(): number {
    return this.#serverCount("SELECT COUNT(*) FROM study_preview");
  }

  #serverCount(sql: string): number {
    const db = new Database(path.join(this.world.serverData, "vetwire.db"), { readonly: true });
    try {
      return db.prepare(sql).pluck().get() as number;
    } finally {
      db.close();
    }
  }

  /** Number of studies that wait at the agent. */
  #outbox(): number {
    return this.world.status().outbox.depth;
  }

  /** Waits until each message and each image is a study at the server. */
  async filed(ms: number): Promise<void> {
    this.disconnect();
    await until(
      "every message is filed",
      () => {
        this.#clock.pass(1000);
        return this.studies() >= this.messages + this.images && this.previews() >= this.images;
      },
      ms,
      100,
    );
  }

  /** The states of the agent's messages with their numbers. */
  states(): Record<string, number> {
    const rows = readSpool(this.world.agentData, (db) =>
      db.prepare("SELECT state, COUNT(*) AS count FROM message GROUP BY state").all(),
    ) as { state: string; count: number }[];
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }
}

function nameOf(index: number): string {
  return `${ANALYZERS[index]!}-${index}`;
}

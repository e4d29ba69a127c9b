import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages, type MessageSummary } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { readStatus, type SpoolStatus } from "../../../agent/spool/queries/status.ts";
import { patiently } from "../runner/patience.ts";

// Processes from the build, with their data in a temporary folder: a server with one clinic, and an agent with devices.

export const ROOT = path.resolve(import.meta.dirname, "../../..");
export const SERVER = path.join(ROOT, "dist/server/main.js");
export const AGENT = path.join(ROOT, "dist/agent/main.js");

export const CLINIC = "clinic_01K9TEST000000000000000C01";
const OWNER = "customer_01K9TEST000000000000000D01";

export interface TestPatient {
  readonly fp: string;
  readonly species: string;
  readonly externalId: string;
}

/** Returns dogs and cats in turn. Patient n, from 0, has the card number `5000 + n`. */
export function testPatients(count: number): TestPatient[] {
  return Array.from({ length: count }, (_, index) => ({
    fp: `patient_01K9TEST00000000000000${String(index).padStart(4, "0")}`,
    species: index % 2 === 0 ? "dog" : "cat",
    externalId: String(5000 + index),
  }));
}

/** Returns a clinic with these patients in the form of `server import`. */
export function clinicFile(patients: readonly TestPatient[]): string {
  const at = "2026-01-01T00:00:00.000Z";
  const entities = [
    { type: "clinic", fp: CLINIC, name: "Test clinic" },
    { type: "customer", fp: OWNER, locale: { time_zone: "Europe/Istanbul" } },
    ...patients.flatMap(({ fp, species, externalId }) => [
      {
        type: "patient",
        fp,
        name: "Test animal",
        species,
        breed: null,
        sex: "male",
        date_of_birth: "2020-01-01",
        weight_kg: 12.5,
        owner_customer_fp: OWNER,
        external_ids: [externalId],
        created_at: at,
        updated_at: at,
        deleted_at: null,
      },
      { type: "connection", patient_fp: fp, clinic_fp: CLINIC, active: true },
    ]),
  ];
  return entities.map((entity) => `${JSON.stringify(entity)}\n`).join("");
}

/** Options of `server keys create` for the key of an agent. */
export const AGENT_KEY_OPTIONS = [
  ...["--clinic", CLINIC, "--name", "agent", "--type", "device"],
  ...["--permissions", "clinic.lab.ingest,clinic.patient.view,clinic.calendar.view,clinic.lab.view"],
];

export function temporaryFolder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-"));
}

/** Below the ports that Linux gives to connections and to `listen(0)`: those of another test would take one between its choice and use. */
const PORTS = { first: 12_000, last: 32_000 };
/** Processes of the suite begin at different ports. */
let nextPort = randomInt(PORTS.first, PORTS.last);

/** @returns a port that is free at the moment of the call, and that no later call of this process returns soon */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port === PORTS.last ? PORTS.first : port + 1;
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Polls `check` until it returns a truthy value. @throws an error that names `what` after `ms` milliseconds */
export async function until<Result>(
  what: string,
  check: () => Result | Promise<Result>,
  ms = 90_000,
  pauseMs = 20,
): Promise<NonNullable<Result>> {
  const end = Date.now() + ms;
  for (;;) {
    const result = await check();
    if (result) return result;
    if (Date.now() > end) throw new Error(`expected within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Sends the signal and waits for the exit. @returns the exit code; null after a signal */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export function start(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  return startProgram(process.execPath, [script, ...args], { ...process.env, ...env });
}

export function startProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = spawn(file, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], env });
  let output = "";
  const keep = (text: Buffer) => {
    output = (output + text.toString()).slice(-200_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return {
    process: child,
    output: () => output,
    async end(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

export function runAgentCommand(...args: readonly string[]): string {
  return execFileSync(process.execPath, [AGENT, ...args], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export function runServerCommand(...args: readonly string[]): string {
  return execFileSync(process.execPath, [SERVER, ...args], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A device of agent.yaml, with any further keys of the configuration. */
export interface DeviceLine {
  readonly id: string;
  readonly profile: string;
  readonly connection: object;
  readonly [key: string]: unknown;
}

/** @returns the expected result of getStudy() for a completed study with these fields */
export function studyResponse(study: object) {
  return { status: 200, body: { success: true, data: { status: "COMPLETED", ...study } } };
}

/** A server and an agent with their data in one folder. */
export class World {
  readonly folder: string;
  readonly patients: readonly TestPatient[];
  readonly key: string;
  readonly #serverOptions: readonly string[];
  server!: Running;
  agent!: Running;
  serverPort = 0;
  /** URL of the server in agent.yaml. A test with a proxy changes it. */
  serverUrl = "";

  /** @param serverOptions further options of `server run` */
  static async create(patientCount: number, serverOptions: readonly string[] = []): Promise<World> {
    const folder = temporaryFolder();
    const patients = testPatients(patientCount);
    const file = path.join(folder, "clinic.ndjson");
    fs.writeFileSync(file, clinicFile(patients));
    const data = path.join(folder, "server");
    runServerCommand("import", file, "--data", data);
    const key = runServerCommand("keys", "create", ...AGENT_KEY_OPTIONS, "--data", data).trim();
    const world = new World(folder, patients, key, serverOptions);
    await world.startServer();
    world.serverUrl = `http://127.0.0.1:${world.serverPort}`;
    return world;
  }

  protected constructor(
    folder: string,
    patients: readonly TestPatient[],
    key: string,
    serverOptions: readonly string[],
  ) {
    this.#serverOptions = serverOptions;
    this.folder = folder;
    this.patients = patients;
    this.key = key;
    fs.writeFileSync(path.join(folder, "agent.key"), `${key}\n`, { mode: 0o600 });
  }

  get config(): string {
    return path.join(this.folder, "agent.yaml");
  }

  /** The data folder as agent.yaml names it. */
  protected get agentDataSetting(): string {
    return "./agent";
  }

  get agentData(): string {
    return path.join(this.folder, "agent");
  }

  get serverData(): string {
    return path.join(this.folder, "server");
  }

  async startServer(): Promise<void> {
    const args = ["run", "--port", String(this.serverPort), "--data", this.serverData, ...this.#serverOptions];
    this.server = start(SERVER, args);
    const port = await until(
      "the server listens",
      () => /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(this.server.output())?.[1],
    );
    this.serverPort = Number(port);
  }

  writeConfig(devices: readonly DeviceLine[], statusPort?: number, more: object = {}): void {
    const config = {
      server: { url: this.serverUrl, keyFile: "./agent.key" },
      data: this.agentDataSetting,
      timeZone: "Europe/Istanbul",
      ...(statusPort === undefined ? {} : { status: { listen: `127.0.0.1:${statusPort}` } }),
      devices,
      ...more,
    };
    fs.writeFileSync(this.config, JSON.stringify(config)); // JSON is YAML
  }

  /** Writes a configuration with `count` devices of these profiles in turn. @returns the port of each device */
  async configureDevices(count: number, ...profiles: readonly string[]): Promise<number[]> {
    const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
    const connection = (port: number) => ({ listen: `127.0.0.1:${port}` });
    this.writeConfig(
      ports.map((port, index) => ({
        id: `device-${index}`,
        profile: profiles[index % profiles.length]!,
        connection: connection(port),
      })),
    );
    return ports;
  }

  async startAgent(): Promise<void> {
    this.agent = start(AGENT, ["run", "--config", this.config]);
    await until("the agent runs", () => {
      if (this.agent.process.exitCode !== null) throw new Error(`the agent ended: ${this.agent.output()}`);
      return this.agent.output().includes("the agent is running");
    });
  }

  /** Waits until the agent has fetched all patients. */
  async waitForPatients(): Promise<void> {
    await until("the agent has fetched the patients", () => {
      const known = readSpool(this.agentData, (db) => db.prepare("SELECT COUNT(*) FROM identifier").pluck().get());
      return Number(known) >= this.patients.length;
    });
  }

  messages(): readonly MessageSummary[] {
    return readSpool(this.agentData, listMessages);
  }

  status(): SpoolStatus {
    return readSpool(this.agentData, (db) => readStatus(db, this.agentData));
  }

  /** Waits until no session, message, study or quality record is pending. A message that is missing afterwards is lost. */
  async drained(ms = patiently(60_000)): Promise<readonly MessageSummary[]> {
    return until(
      "the outbox drains",
      () => {
        // An acknowledged message is an event of its session first. Its row in `message` follows later.
        const unfinished = readSpool(this.agentData, (db) =>
          db.prepare("SELECT COUNT(*) FROM session WHERE finished_at IS NULL").pluck().get(),
        );
        if (unfinished !== 0) return null;
        const messages = this.messages();
        const { depth, quality } = this.status().outbox;
        return depth + quality === 0 && messages.every(({ state }) => state !== "pending") ? messages : null;
      },
      ms,
    );
  }

  /** As drained(), and each message has its patient. One that came while the first list of patients arrived has it seconds later. */
  async placed(ms = patiently(60_000)): Promise<void> {
    const isPlaced = async () => (await this.drained(ms)).every(({ state }) => state !== "unmatched");
    await until("a patient of every message", isPlaced, ms);
  }

  /** @returns the study of the first message. @throws unless that message is of this device and filed without a reason */
  async firstFiled(device: string): Promise<string> {
    const [first] = await this.drained();
    const [fp] = first?.study_fps ?? [];
    if (fp !== undefined && first?.device === device && first.state === "filed" && first.reason === null) return fp;
    throw new Error(`expected a filed message of ${device}, got ${JSON.stringify(first)}`);
  }

  /** Reads a study through the API. */
  async getStudy(fp: string): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`http://127.0.0.1:${this.serverPort}/api/v1/lab/diagnostics/${fp}`, {
      headers: { authorization: `Bearer ${this.key}` },
    });
    return { status: response.status, body: await response.json() };
  }

  /** @returns every study in the database of the server */
  serverStudies(): {
    fp: string;
    patient: string | null;
    revision: number;
    results: { analyte: string; value: number }[];
  }[] {
    const db = new Database(path.join(this.serverData, "vetwire.db"), { readonly: true });
    try {
      const rows = db
        .prepare(
          "SELECT s.fp, p.fp AS patient, s.revision, s.results FROM study s LEFT JOIN patient p ON p.id = s.patient_id ORDER BY s.id",
        )
        .all() as { fp: string; patient: string | null; revision: number; results: string }[];
      return rows.map((row) => ({ ...row, results: JSON.parse(row.results) as { analyte: string; value: number }[] }));
    } finally {
      db.close();
    }
  }

  /** @returns every run of control material in the database of the server, with its first value */
  serverControls(): { fp: string; value: number }[] {
    const db = new Database(path.join(this.serverData, "vetwire.db"), { readonly: true });
    try {
      return db
        .prepare(
          `SELECT r.fp, v.value FROM control_run r JOIN control_value v ON v.run_id = r.id
           WHERE v.id = (SELECT MIN(id) FROM control_value WHERE run_id = r.id) ORDER BY r.id`,
        )
        .all() as { fp: string; value: number }[];
    } finally {
      db.close();
    }
  }

  async end(): Promise<void> {
    await this.agent?.end("SIGKILL");
    await this.server?.end("SIGKILL");
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether no program of this machine listens on a port. */
export async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

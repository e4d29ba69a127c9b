import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Client } from "pg";
import {
  AGENT,
  AGENT_KEY_OPTIONS,
  CLINIC,
  clinicFile,
  freePort,
  ROOT,
  type Running,
  SERVER,
  start,
  temporaryFolder,
  testPatients,
  until,
} from "../../support/processes.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { connectDevice, type Device, PROFILES } from "../neighbours/devices.ts";
import { PatroniCluster } from "./patroni.ts";

// Two servers on a cluster of PostgreSQL, and two agents with a device each. One server knows all nodes, the other one HAProxy.

export const SERVERS = 2;
const DEVICE_EVERY_MS = 150;
const LIMITS = ["integration", "device", "ingest"].flatMap((type) => ["--rate-limit", `${type}=1000000/1000000`]);

export class ClusterClinic {
  readonly cluster: PatroniCluster;
  readonly folder: string;
  readonly patientFp: string;
  readonly ports: readonly number[];
  readonly agentKey: string;
  /** Keys of integrations. */
  readonly readKeys: readonly string[];
  readonly #servers: Running[] = [];
  readonly #agents: Running[] = [];
  readonly #devices: Device[] = [];
  readonly #sending: Promise<number>[] = [];
  #isOpen = true;

  static async open(isSynchronous: boolean): Promise<ClusterClinic> {
    const cluster = await PatroniCluster.start(isSynchronous);
    const folder = temporaryFolder();
    const url = cluster.url("postgres", "?target_session_attrs=read-write");
    const server = (...args: readonly string[]) =>
      execFileSync(process.execPath, [SERVER, ...args, "--data", dataOf(folder, 0)], {
        cwd: ROOT,
        encoding: "utf8",
        env: { ...process.env, DATABASE_URL: url },
      });
    const file = path.join(folder, "clinic.ndjson");
    const patients = testPatients(2);
    fs.writeFileSync(file, clinicFile(patients));
    server("import", file);
    const agentKey = server("keys", "create", ...AGENT_KEY_OPTIONS).trim();
    const readKeys = ["first", "second"].map((name) =>
      server(
        ...["keys", "create", "--clinic", CLINIC, "--name", name, "--type", "integration"],
        ...["--permissions", "clinic.lab.view,clinic.patient.view"],
      ).trim(),
    );
    fs.mkdirSync(dataOf(folder, 1), { mode: 0o700 });
    fs.copyFileSync(path.join(dataOf(folder, 0), "pepper"), path.join(dataOf(folder, 1), "pepper"));
    const ports = await Promise.all(Array.from({ length: SERVERS }, () => freePort()));
    const clinic = new ClusterClinic(cluster, folder, patients[0]!.fp, ports, agentKey, readKeys);
    for (const index of ports.keys()) await clinic.startServer(index);
    for (const index of ports.keys()) await clinic.#startAgent(index);
    return clinic;
  }

  private constructor(
    cluster: PatroniCluster,
    folder: string,
    patientFp: string,
    ports: readonly number[],
    agentKey: string,
    readKeys: readonly string[],
  ) {
    this.cluster = cluster;
    this.folder = folder;
    this.patientFp = patientFp;
    this.ports = ports;
    this.agentKey = agentKey;
    this.readKeys = readKeys;
  }

  url(server: number): string {
    return `http://127.0.0.1:${this.ports[server]}`;
  }

  async startServer(index: number): Promise<void> {
    const { cluster } = this;
    const env = {
      DATABASE_URL: index === 0 ? cluster.url("postgres", "?target_session_attrs=read-write") : cluster.proxyUrl(),
      DATABASE_READ_URL: cluster.url("postgres", "?target_session_attrs=prefer-standby"),
    };
    const args = ["run", "--port", String(this.ports[index]), "--data", dataOf(this.folder, index), ...LIMITS];
    const server = start(SERVER, args, env);
    this.#servers[index] = server;
    await until("the server listens", () => {
      if (server.process.exitCode !== null) throw new Error(`the server ended: ${server.output()}`);
      return server.output().includes("listening on");
    });
  }

  /** Stops a server as an upgrade does, and starts it again. @throws if it did not end by itself */
  async restartServer(index: number): Promise<void> {
    const code = await this.#servers[index]!.end("SIGTERM");
    if (code !== 0) throw new Error(`expected exit code 0, got ${code}: ${this.state()}`);
    await this.startServer(index);
  }

  /** The last lines of the programs' logs, for the message of a failure. */
  state(): string {
    return [...this.#servers, ...this.#agents].map((running) => running.output().slice(-1_500)).join("\n");
  }

  async #startAgent(index: number): Promise<void> {
    const folder = path.join(this.folder, `agent${index}`);
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, "agent.key"), `${this.agentKey}\n`, { mode: 0o600 });
    const port = await freePort();
    const config = path.join(folder, "agent.yaml");
    fs.writeFileSync(
      config,
      JSON.stringify({
        server: { url: this.url(index), keyFile: "./agent.key" },
        data: "./data",
        timeZone: "Europe/Istanbul",
        devices: [{ id: `hl7-${index}`, profile: PROFILES.hl7, connection: { listen: `127.0.0.1:${port}` } }],
      }),
    );
    const agent = start(AGENT, ["run", "--config", config]);
    this.#agents.push(agent);
    await until("the agent runs", () => agent.output().includes("the agent is running"));
    const known = () =>
      readSpool(path.join(folder, "data"), (db) => db.prepare("SELECT COUNT(*) FROM identifier").pluck().get());
    await until("the agent has fetched the patients", () => Number(known()) >= 2);
    this.#devices.push(await connectDevice("hl7", port, `hl7-${index}`));
  }

  /** Lets each device send until `stopDevices`. */
  startDevices(): void {
    for (const device of this.#devices) this.#sending.push(this.#sendOn(device));
  }

  async #sendOn(device: Device): Promise<number> {
    let acknowledged = 0;
    while (this.#isOpen) {
      await device.send(acknowledged + 1);
      acknowledged += 1;
      await new Promise((resolve) => setTimeout(resolve, DEVICE_EVERY_MS));
    }
    return acknowledged;
  }

  /** @returns the number of acknowledged results of each device */
  async stopDevices(): Promise<number[]> {
    this.#isOpen = false;
    return Promise.all(this.#sending);
  }

  /** Number of studies that each device has in the database. */
  async filed(): Promise<number[]> {
    const rows = await this.query(
      `select source::json ->> 'device_id' as device, count(*)::int as studies, count(distinct acquired_at)::int as results
       from study where patient_id is not null and source is not null group by 1`,
    );
    const counts = rows as { device: string; studies: number; results: number }[];
    return this.#devices.map((_, index) => {
      const found = counts.find(({ device }) => device === `hl7-${index}`);
      if (found !== undefined && found.studies !== found.results)
        throw new Error(`filed twice: ${JSON.stringify(found)}`);
      return found?.studies ?? 0;
    });
  }

  /** Number of studies in the agents' spools by state, whether a patient is named, and number of sends. */
  waiting(): string {
    return this.#agents
      .map((_, index) =>
        readSpool(path.join(this.folder, `agent${index}`, "data"), (db) => [
          ...db.prepare("SELECT state, reason, COUNT(*) AS studies FROM study GROUP BY 1, 2").all(),
          ...db.prepare("SELECT state, reason, COUNT(*) AS messages FROM message GROUP BY 1, 2").all(),
        ]),
      )
      .map((counts) => JSON.stringify(counts))
      .join("\n");
  }

  async query(statement: string): Promise<unknown[]> {
    const client = new Client({ connectionString: this.cluster.proxyUrl() });
    await client.connect();
    try {
      return (await client.query(statement)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  async end(): Promise<void> {
    this.#isOpen = false;
    for (const device of this.#devices) device.close();
    await Promise.all([...this.#agents, ...this.#servers].map((running) => running.end("SIGKILL")));
    await this.cluster.end();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

function dataOf(folder: string, server: number): string {
  return path.join(folder, `server${server}`);
}

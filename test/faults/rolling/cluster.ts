import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Postgres } from "../../support/postgres.ts";
import {
  AGENT_KEY_OPTIONS,
  clinicFile,
  freePort,
  type Running,
  SERVER,
  start,
  startProgram,
  temporaryFolder,
  type TestPatient,
  testPatients,
  until,
} from "../../support/processes.ts";

// Servers on one PostgreSQL behind HAProxy, which asks each for /readyz and repeats no failed request.

/** Interval of the health checks in milliseconds. Two failed ones take a server out. */
const CHECK_MS = 250;

/** @returns the reason why this machine has no HAProxy; null if it has one */
export function haproxyProblem(): string | null {
  try {
    execFileSync("haproxy", ["-v"], { stdio: "ignore" });
    return null;
  } catch {
    return "haproxy is not installed (apt-get install haproxy)";
  }
}

interface Node {
  readonly name: string;
  readonly data: string;
  readonly port: number;
  running: Running;
}

export class Cluster {
  readonly folder = temporaryFolder();
  readonly patients: readonly TestPatient[] = testPatients(40);
  readonly postgres: Postgres;
  readonly #options: readonly string[];
  readonly #statistics: number;
  readonly #proxyPort: number;
  #nodes: Node[] = [];
  #proxy: Running | undefined;
  key = "";

  /** Starts that many servers with further options of `run`, and HAProxy in front of them. */
  static async start(servers: number, options: readonly string[]): Promise<Cluster> {
    const cluster = new Cluster(await Postgres.start(), options, await freePort(), await freePort());
    try {
      await cluster.#start(servers);
      return cluster;
    } catch (error) {
      await cluster.end();
      throw error;
    }
  }

  private constructor(postgres: Postgres, options: readonly string[], proxyPort: number, statistics: number) {
    this.postgres = postgres;
    this.#options = options;
    this.#proxyPort = proxyPort;
    this.#statistics = statistics;
  }

  /** The address of HAProxy. */
  get url(): string {
    return `http://127.0.0.1:${this.#proxyPort}`;
  }

  get names(): readonly string[] {
    return this.#nodes.map(({ name }) => name);
  }

  /** Ends a server by the signal, starts it again and waits until HAProxy uses it. @returns the exit code; null after a signal */
  async restart(name: string, signal: NodeJS.Signals): Promise<number | null> {
    const node = this.#nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`expected one of ${this.names.join()}, got ${name}`);
    const code = await node.running.end(signal);
    node.running = this.#run(node);
    await this.#isUsed(node);
    return code;
  }

  async end(): Promise<void> {
    await this.#proxy?.end("SIGKILL");
    await Promise.all(this.#nodes.map(({ running }) => running.end("SIGKILL")));
    await this.postgres.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(servers: number): Promise<void> {
    const file = path.join(this.folder, "clinic.ndjson");
    writeFileSync(file, clinicFile(this.patients));
    const first = path.join(this.folder, "s1");
    this.#command("import", file, "--data", first);
    this.key = this.#command("keys", "create", ...AGENT_KEY_OPTIONS, "--data", first).trim();
    for (let number = 1; number <= servers; number += 1) {
      const node = { name: `s${number}`, data: path.join(this.folder, `s${number}`), port: await freePort() };
      mkdirSync(node.data, { recursive: true });
      if (number > 1) copyFileSync(path.join(first, "pepper"), path.join(node.data, "pepper"));
      this.#nodes.push({ ...node, running: this.#run(node) });
    }
    const configuration = path.join(this.folder, "haproxy.cfg");
    writeFileSync(configuration, this.#configuration());
    this.#proxy = startProgram("haproxy", ["-db", "-f", configuration], process.env);
    for (const node of this.#nodes) await this.#isUsed(node);
  }

  #command(...args: readonly string[]): string {
    const env = { ...process.env, DATABASE_URL: this.postgres.url() };
    return execFileSync(process.execPath, [SERVER, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
  }

  #run({ data, port }: Pick<Node, "data" | "port">): Running {
    const options = ["--port", String(port), "--data", data, ...this.#options];
    return start(SERVER, ["run", ...options], { DATABASE_URL: this.postgres.url() });
  }

  #configuration(): string {
    const servers = this.#nodes.map(({ name, port }) => `  server ${name} 127.0.0.1:${port} check`);
    return [
      "defaults",
      "  mode http",
      "  retries 0", // a repeated request would hide a failed one
      "  timeout connect 5s",
      "  timeout client 60s",
      "  timeout server 60s",
      "  timeout check 5s", // a busy machine is slow to respond
      "frontend api",
      `  bind 127.0.0.1:${this.#proxyPort}`,
      "  default_backend servers",
      "backend servers",
      "  balance roundrobin",
      "  option httpchk GET /readyz",
      `  default-server inter ${CHECK_MS}ms fall 2 rise 1`,
      ...servers,
      "frontend statistics",
      `  bind 127.0.0.1:${this.#statistics}`,
      "  stats enable",
      "  stats uri /",
      "",
    ].join("\n");
  }

  async #isUsed({ name, running }: Node): Promise<void> {
    await until(`HAProxy uses ${name}`, async () => {
      if (running.process.exitCode !== null) throw new Error(`${name} ended: ${running.output()}`);
      if (this.#proxy?.process.exitCode !== null) throw new Error(`HAProxy ended: ${this.#proxy?.output()}`);
      return running.output().includes("listening on") && (await this.#states()).get(name) === "UP";
    });
  }

  /** Returns the state of each server as HAProxy sees it, such as UP, DOWN or `UP 1/2`. */
  async #states(): Promise<ReadonlyMap<string, string>> {
    const response = await fetch(`http://127.0.0.1:${this.#statistics}/;csv`).catch(() => null);
    if (response === null) return new Map();
    const [head = [], ...rows] = (await response.text()).split("\n").map((line) => line.split(","));
    const column = head.indexOf("status");
    return new Map(rows.map((row) => [row[1] ?? "", row[column] ?? ""]));
  }
}

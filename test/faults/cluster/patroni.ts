import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "pg";
import { postgresBinaries, postgresUser } from "../../support/machine/postgres.ts";
import { freePort, until } from "../../support/machine/processes.ts";

// Three PostgreSQL nodes under Patroni, with etcd and HAProxy: own processes on loopback, from the machine's packages.

/** @returns the reason why this machine cannot start the cluster; null if it can */
export function clusterProblem(): string | null {
  const missing = ["etcd", "patroni", "haproxy", "tini"].filter((name) => programPath(name) === undefined);
  if (postgresBinaries() === undefined) missing.push("initdb");
  return missing.length === 0 ? null : `cannot find ${missing.join(", ")}`;
}

const NODES = 3;
/** Patroni promotes a standby this many seconds after the last sign of the primary. */
const TTL_S = 5;
/** Roles in a healthy cluster. PostgreSQL calls a standby synchronous before Patroni would promote it. */
const SYNCHRONOUS_ROLES = ["leader", "replica", "sync_standby"];
const ASYNCHRONOUS_ROLES = ["leader", "replica", "replica"];
const SUPERUSER = "vetwire";

/** A PostgreSQL server and the Patroni that starts, promotes and rewinds it. */
export class Node {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly #folder: string;
  readonly #settings: object;
  #patroni: ChildProcess | undefined;

  constructor(name: string, folder: string, ports: { port: number; restPort: number }, settings: object) {
    this.name = name;
    this.port = ports.port;
    this.restPort = ports.restPort;
    this.#folder = path.join(folder, name);
    this.#settings = settings;
    fs.mkdirSync(this.#folder, { mode: 0o700 });
    const { uid, gid } = postgresUser();
    fs.chownSync(this.#folder, uid, gid);
    process.once("exit", () => this.kill());
  }

  get #data(): string {
    return path.join(this.#folder, "data");
  }

  start(): void {
    const config = path.join(this.#folder, "patroni.yml");
    fs.writeFileSync(config, JSON.stringify(this.#configuration()), { mode: 0o644 });
    const log = fs.openSync(path.join(this.#folder, "log"), "a");
    // tini reaps PostgreSQL, which Patroni detaches: a zombie would count as a running one.
    const child = spawn(programPath("tini") ?? "", ["-s", "-g", "--", programPath("patroni") ?? "", config], {
      ...postgresUser(),
      cwd: this.#folder,
      env: { PATH: `${process.env["PATH"]}:/usr/sbin`, HOME: this.#folder, LC_ALL: "C.UTF-8" },
      stdio: ["ignore", log, log],
    });
    fs.closeSync(log);
    this.#patroni = child;
  }

  #configuration(): object {
    const address = `127.0.0.1:${this.port}`;
    const rest = `127.0.0.1:${this.restPort}`;
    return {
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      ...this.#settings,
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: this.#data,
        bin_dir: postgresBinaries(),
        pgpass: path.join(this.#folder, "pgpass"),
        authentication: (this.#settings as { authentication: object }).authentication,
        pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"],
        parameters: { unix_socket_directories: "", fsync: "off" },
      },
    };
  }

  /** Kills PostgreSQL alone: Patroni finds it missing. */
  killPostgres(): void {
    for (const pid of this.#postgresProcesses()) signal(pid, "SIGKILL");
  }

  /** Kills Patroni and PostgreSQL together, as a machine that loses its power. */
  kill(): void {
    for (const pid of this.#processes()) signal(pid, "SIGKILL");
  }

  /** Freezes what sends the log to the standbys: a commit reaches none of them from then on. */
  freezeReplication(): void {
    for (const pid of this.#postgresProcesses()) {
      if (textOf(`/proc/${pid}/cmdline`)?.includes("walsender") === true) signal(pid, "SIGSTOP");
    }
  }

  /** Freezes the node: its connections stay open and nothing responds, as in a cut network. */
  freeze(): void {
    for (const pid of this.#processes()) signal(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of this.#processes()) signal(pid, "SIGCONT");
  }

  get isRunning(): boolean {
    const child = this.#patroni;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  #processes(): number[] {
    const tini = this.#patroni?.pid;
    return [...(tini === undefined ? [] : [tini, ...childrenOf(tini)]), ...this.#postgresProcesses()];
  }

  /** @returns the ids of the postmaster and its children */
  #postgresProcesses(): number[] {
    const postmaster = Number(textOf(path.join(this.#data, "postmaster.pid"))?.split("\n")[0]);
    return postmaster > 0 ? [postmaster, ...childrenOf(postmaster)] : [];
  }

  async end(): Promise<void> {
    const child = this.#patroni;
    this.thaw();
    this.kill();
    if (child !== undefined && this.isRunning) await once(child, "exit");
  }
}

export class PatroniCluster {
  readonly nodes: readonly Node[];
  readonly #folder: string;
  readonly #password: string;
  readonly #etcd: ChildProcess;
  #haproxy: ChildProcess | undefined;
  #proxyPort = 0;
  #roles: readonly string[] = SYNCHRONOUS_ROLES;

  /** Starts a cluster. Without `isSynchronous` a commit is acknowledged before any standby has it. */
  static async start(isSynchronous: boolean): Promise<PatroniCluster> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-cluster-"));
    fs.chmodSync(folder, 0o755);
    const etcdPort = await freePort();
    const etcd = await startEtcd(folder, etcdPort);
    const ports = await Promise.all(
      Array.from({ length: NODES }, async () => ({ port: await freePort(), restPort: await freePort() })),
    );
    const password = randomBytes(12).toString("hex");
    const settings = clusterSettings({ etcdPort, password, isSynchronous });
    const cluster = new PatroniCluster(folder, password, etcd, ports, settings);
    cluster.#roles = isSynchronous ? SYNCHRONOUS_ROLES : ASYNCHRONOUS_ROLES;
    // The first one makes the database, the others copy it.
    for (const node of cluster.nodes) {
      node.start();
      await until("a primary", () => cluster.primary(), 60_000, 100);
    }
    await cluster.settled();
    await cluster.#startProxy();
    return cluster;
  }

  private constructor(
    folder: string,
    password: string,
    etcd: ChildProcess,
    ports: readonly { port: number; restPort: number }[],
    settings: object,
  ) {
    this.#folder = folder;
    this.#password = password;
    this.#etcd = etcd;
    this.nodes = ports.map((pair, index) => new Node(`node${index + 1}`, folder, pair, settings));
  }

  /** The URL of HAProxy, which leads to the primary. */
  get url(): string {
    return `postgres://${SUPERUSER}:${this.#password}@127.0.0.1:${this.#proxyPort}/postgres`;
  }

  /** Runs a statement on the primary. @returns the rows */
  async query(statement: string): Promise<unknown[]> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 2_000 });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query(statement)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  /** @returns the node that Patroni calls the primary, if it responds */
  async primary(): Promise<Node | undefined> {
    for (const node of this.nodes) if ((await statusOf(node, "primary")) === 200) return node;
    return undefined;
  }

  /** Waits for a primary with two standbys, one of them synchronous if the cluster is. @returns the primary */
  async settled(): Promise<Node> {
    return until(
      "a primary with two standbys",
      async () => {
        const primary = await this.primary();
        if (primary === undefined) return null;
        const members = (await membersOf(primary)).filter(({ state }) => state === "running" || state === "streaming");
        const isOneTimeline = new Set(members.map(({ timeline }) => timeline)).size === 1;
        const roles = members.map(({ role }) => role).toSorted();
        return isOneTimeline && roles.join() === this.#roles.join() ? primary : null;
      },
      90_000,
      100,
    );
  }

  async #startProxy(): Promise<void> {
    this.#proxyPort = await freePort();
    const config = path.join(this.#folder, "haproxy.cfg");
    fs.writeFileSync(config, proxyConfiguration(this.#proxyPort, this.nodes));
    this.#haproxy = spawn(programPath("haproxy") ?? "", ["-db", "-f", config], { stdio: "ignore" });
    const proxy = this.#haproxy;
    process.once("exit", () => proxy.kill("SIGKILL"));
  }

  async end(): Promise<void> {
    this.#haproxy?.kill("SIGKILL");
    await Promise.all(this.nodes.map((node) => node.end()));
    this.#etcd.kill("SIGKILL");
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function startEtcd(folder: string, port: number): Promise<ChildProcess> {
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const args = [
    ...["--enable-v2", "--name", "etcd", "--data-dir", path.join(folder, "etcd")],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `etcd=${peer}`],
  ];
  const child = spawn(programPath("etcd") ?? "", args, { cwd: folder, stdio: "ignore" });
  process.once("exit", () => child.kill("SIGKILL"));
  await until("etcd is healthy", () =>
    fetch(`${client}/health`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );
  return child;
}

interface ClusterOptions {
  readonly etcdPort: number;
  readonly password: string;
  readonly isSynchronous: boolean;
}

function clusterSettings({ etcdPort, password, isSynchronous }: ClusterOptions): object {
  const login = { username: SUPERUSER, password };
  return {
    scope: "vetwire",
    // With the protocol of etcd 3 Patroni 3.0.2, which Debian has, lets a primary that was frozen take the leader key from its successor:
    // https://github.com/patroni/patroni/pull/2689. What the successor acknowledged is then lost.
    etcd: { host: `127.0.0.1:${etcdPort}` },
    authentication: { superuser: login, replication: { username: "replicator", password }, rewind: login },
    bootstrap: {
      dcs: {
        ttl: TTL_S,
        loop_wait: 1,
        retry_timeout: 2,
        // A killed PostgreSQL is not started again: a standby takes over.
        primary_start_timeout: 0,
        master_start_timeout: 0,
        // A commit is acknowledged once a standby has it, and only that standby is promoted.
        synchronous_mode: isSynchronous,
        synchronous_mode_strict: isSynchronous,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 100, wal_keep_size: "256MB", max_wal_senders: 10 },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }],
    },
  };
}

function proxyConfiguration(port: number, nodes: readonly Node[]): string {
  return `
global
  maxconn 400
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500 fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`).join("\n")}
`;
}

interface Member {
  readonly role: string;
  readonly state: string;
  readonly timeline: number;
}

/** The members by Patroni; none if it does not respond in time. */
async function membersOf({ restPort }: Node): Promise<Member[]> {
  try {
    const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(1_000) });
    return ((await response.json()) as { members: Member[] }).members;
  } catch {
    return [];
  }
}

async function statusOf(node: Node, endpoint: string): Promise<number | null> {
  return fetch(`http://127.0.0.1:${node.restPort}/${endpoint}`, { signal: AbortSignal.timeout(1_000) })
    .then(({ status }) => status)
    .catch(() => null);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}

function childrenOf(parent: number): number[] {
  const processes = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | null {
  const parent = /\) \w (\d+)/.exec(textOf(`/proc/${pid}/stat`) ?? "")?.[1];
  return parent === undefined ? null : Number(parent);
}

function textOf(file: string): string | null {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function programPath(name: string): string | undefined {
  try {
    return execFileSync("sh", ["-c", `PATH="$PATH:/usr/sbin"; command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

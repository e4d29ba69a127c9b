import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort, until } from "./processes.ts";

// A PostgreSQL of our own from the machine's binaries, in a temporary folder and on a loopback port. It runs without fsync:
// the tests stop it and kill what talks to it, they do not cut the machine's power.

/** Why no PostgreSQL can be started here; null when one can. */
export function postgresProblem(): string | null {
  if (binaries() === undefined) return "initdb is neither in PATH nor in /usr/lib/postgresql/*/bin";
  return null;
}

export class Postgres {
  readonly #folder: string;
  readonly #port: number;
  readonly #password: string;
  #process: ChildProcess | undefined;

  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), "vetwire-postgres-"));
    const cluster = new Postgres(folder, await freePort(), randomBytes(12).toString("hex"));
    const { uid, gid } = ids();
    chownSync(folder, uid, gid);
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, cluster.#password, { mode: 0o644 });
    // A collation that is not that of the bytes: what relies on their order has to ask for it.
    const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
    const access = ["--username=vetwire", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
    execFileSync(program("initdb"), [`--pgdata=${cluster.#data}`, "--no-sync", ...locale, ...access], {
      uid,
      gid,
      cwd: folder,
      stdio: "ignore",
    });
    await cluster.start();
    return cluster;
  }

  private constructor(folder: string, port: number, password: string) {
    this.#folder = folder;
    this.#port = port;
    this.#password = password;
  }

  /** As a server's DATABASE_URL has it. */
  url(database = "postgres"): string {
    return `postgres://vetwire:${this.#password}@127.0.0.1:${this.#port}/${database}`;
  }

  get password(): string {
    return this.#password;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  async start(): Promise<void> {
    const options = [`port=${this.#port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
    const child = spawn(program("postgres"), ["-D", this.#data, ...options.flatMap((option) => ["-c", option])], {
      ...ids(),
      cwd: this.#folder,
      stdio: "ignore",
    });
    this.#process = child;
    process.once("exit", () => child.kill("SIGQUIT"));
    await until("PostgreSQL answers", async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`);
      return withClient(this.url(), async () => true).catch(() => false);
    });
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** An empty database beside the one that the URL names. */
export async function createDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await execute(url, `create database ${name}`);
  return url.replace(/[^/]*$/, name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = url.replace(/.*\//, "");
  await execute(url.replace(/[^/]*$/, "postgres"), `drop database ${name} with (force)`);
}

async function execute(url: string, statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement));
}

/** All that the database holds, as text. */
export function dump(url: string): string {
  return execFileSync(program("pg_dump"), [url], { encoding: "utf8", maxBuffer: 1 << 30 });
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function program(name: string): string {
  return join(binaries() ?? "", name);
}

function binaries(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const installed = isThere(versions)
    ? readdirSync(versions)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, "bin"))
    : [];
  // Those first: what stands in PATH may be a link to some of the programs only.
  return [...installed, ...(process.env["PATH"] ?? "").split(delimiter)].find((bin) => isThere(join(bin, "initdb")));
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL refuses to run as root: then it is nobody who runs it. */
function ids(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? 0 };
  const [, , nobodyUid, nobodyGid] = /^nobody:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  return { uid: Number(nobodyUid), gid: Number(nobodyGid) };
}

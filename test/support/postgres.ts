import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort, until } from "./processes.ts";

// A PostgreSQL cluster from the machine's binaries, in a temporary folder and on a loopback port. It runs without fsync, since
// tests stop it and kill its clients but never cut the machine's power.

/** @returns the reason why this machine cannot start PostgreSQL; null if it can */
export function postgresProblem(): string | null {
  if (postgresBinaries() === undefined) return "cannot find initdb in PATH or /usr/lib/postgresql/*/bin";
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
    const { uid, gid } = postgresUser();
    chownSync(folder, uid, gid);
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, cluster.#password, { mode: 0o644 });
    // The collation differs from byte order, so a query that relies on byte order must request it.
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

  /** @returns the value of DATABASE_URL for a server */
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
      ...postgresUser(),
      cwd: this.#folder,
      stdio: "ignore",
    });
    this.#process = child;
    process.once("exit", () => child.kill("SIGQUIT"));
    await until("PostgreSQL accepts a connection", async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`);
      return withClient(this.url(), async () => true).catch(() => false);
    });
  }

  /** Closes all connections and ends the process (fast shutdown). */
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

/** Creates an empty database in the cluster of that URL. @returns its URL */
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

/** @returns the whole database as SQL text */
export function dump(url: string, ...options: readonly string[]): string {
  return execFileSync(program("pg_dump"), [...options, url], { encoding: "utf8", maxBuffer: 1 << 30 });
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
  return join(postgresBinaries() ?? "", name);
}

/** @returns the folder of the programs of PostgreSQL; undefined without them */
export function postgresBinaries(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const installed = isThere(versions)
    ? readdirSync(versions)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, "bin"))
    : [];
  // Installed versions precede PATH, since a folder in PATH may link only some of the programs.
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

/** @returns the user that runs PostgreSQL: `nobody` in place of root, since PostgreSQL refuses to run as root */
export function postgresUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? 0 };
  const [, , nobodyUid, nobodyGid] = /^nobody:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  return { uid: Number(nobodyUid), gid: Number(nobodyGid) };
}

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

/** Ends with the process of the tests. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGQUIT");
});

export class Postgres {
  readonly #folder: string;
  readonly #port: number;
  readonly #password: string;
  /** Settings of this node. */
  readonly #settings: readonly string[];
  #bin = postgresBinaries();
  #process: ChildProcess | undefined;

  /** Starts a new cluster. `bin` is the folder of its programs, by default those of this machine. */
  static async start(settings: readonly string[] = [], bin = postgresBinaries()): Promise<Postgres> {
    const cluster = new Postgres(ownFolder(), await freePort(), randomBytes(12).toString("hex"), settings);
    cluster.#bin = bin;
    const folder = cluster.#folder;
    const { uid, gid } = postgresUser();
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, cluster.#password, { mode: 0o644 });
    // The collation differs from byte order, so a query that relies on byte order must request it.
    const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
    const access = ["--username=vetwire", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
    execFileSync(join(bin ?? "", "initdb"), [`--pgdata=${cluster.#data}`, "--no-sync", ...locale, ...access], {
      uid,
      gid,
      cwd: folder,
      stdio: "ignore",
    });
    await cluster.start();
    return cluster;
  }

  private constructor(folder: string, port: number, password: string, settings: readonly string[]) {
    this.#folder = folder;
    this.#port = port;
    this.#password = password;
    this.#settings = settings;
  }

  /** Starts a streaming standby of this node. */
  async standby(): Promise<Postgres> {
    const copy = new Postgres(ownFolder(), await freePort(), this.#password, []);
    const from = ["--host=127.0.0.1", `--port=${this.#port}`, "--username=vetwire", "--no-password"];
    const how = ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"];
    execFileSync(program("pg_basebackup"), [`--pgdata=${copy.#data}`, ...from, ...how], {
      ...postgresUser(),
      cwd: copy.#folder,
      env: { ...process.env, PGPASSWORD: this.#password },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await copy.start();
    return copy;
  }

  /** Makes this standby the primary. */
  async promote(): Promise<void> {
    await this.run("select pg_promote(true, 30)");
  }

  /** Lets the node, which is stopped meanwhile, keep a checksum of each page. */
  async enableChecksums(): Promise<void> {
    await this.stop();
    execFileSync(program("pg_checksums"), ["--enable", "--no-sync", `--pgdata=${this.#data}`], {
      ...postgresUser(),
      cwd: this.#folder,
      stdio: "ignore",
    });
    await this.start();
  }

  /** Runs statements as the superuser. @returns the rows of the last one */
  async run(statement: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    return withClient(this.url(database), async (client) => {
      const results = [await client.query<Record<string, unknown>>(statement)].flat();
      return results.at(-1)?.rows ?? [];
    });
  }

  /** Ends the node without any notice, as a machine that loses its power. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    // The parent first, so that it starts no other process.
    child.kill("SIGKILL");
    for (const pid of childrenOf(child.pid ?? 0)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
    await ended;
  }

  /** @returns the value of DATABASE_URL for a server */
  url(database = "postgres"): string {
    return `postgres://vetwire:${this.#password}@${this.host}/${database}`;
  }

  /** Address and port. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get password(): string {
    return this.#password;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  async start(): Promise<void> {
    const options = [
      `port=${this.#port}`,
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "fsync=off",
      ...this.#settings,
    ];
    const child = spawn(
      join(this.#bin ?? "", "postgres"),
      ["-D", this.#data, ...options.flatMap((option) => ["-c", option])],
      {
        ...postgresUser(),
        cwd: this.#folder,
        stdio: "ignore",
      },
    );
    this.#process = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    await until("PostgreSQL accepts a connection", async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`);
      return withClient(this.url(), async () => true).catch(() => false);
    });
  }

  /** Closes all connections and ends the process (fast shutdown). */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Creates a database in the cluster of that URL: a copy of `template`, or an empty one. @returns its URL */
export async function createDatabase(url: string, template?: string): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await execute(url, `create database ${name}${template === undefined ? "" : ` template ${template}`}`);
  return url.replace(/[^/]*$/, name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = url.replace(/.*\//, "");
  await execute(url.replace(/[^/]*$/, "postgres"), `drop database ${name} with (force)`);
}

async function execute(url: string, statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement));
}

/** The template's rows by table, in a schema of their own that resetDatabase() copies them from. */
const TEMPLATE_ROWS = "template_rows";

/** Keeps the rows of a template, for its copies. */
export async function keepRows(url: string): Promise<void> {
  await execute(
    url,
    `create schema ${TEMPLATE_ROWS};
     do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('create table ${TEMPLATE_ROWS}.%1$I as table public.%1$I', name);
       end loop;
     end $$`,
  );
}

/** Size beyond which a new copy is faster than one full of deleted rows. A template has 11 MB. */
const REUSED_BYTES_MAX = 20e6;

/**
 * Gives the copy of a template the template's rows again: 20 ms, where another copy takes 200 ms.
 * @returns false if it has grown too large to be used again
 */
export async function resetDatabase(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ size: string }>("select pg_database_size(current_database()) as size");
    if (Number(rows[0]?.size) > REUSED_BYTES_MAX) return false;
    await client.query(RESET);
    return true;
  });
}

const RESET = `set session_replication_role = replica;
     select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
     do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('delete from public.%I', name);
         execute format('insert into public.%1$I overriding system value select * from ${TEMPLATE_ROWS}.%1$I', name);
       end loop;
       for name in select sequencename from pg_sequences where schemaname = 'public' and last_value is not null loop
         execute format('alter sequence public.%I restart', name);
       end loop;
     end $$`;

/** @returns the complete database as SQL text */
export function dump(url: string, ...options: readonly string[]): string {
  return execFileSync(program("pg_dump"), [...options, url], { encoding: "utf8", maxBuffer: 1 << 30 });
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
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

/** @returns the folder of PostgreSQL's programs; undefined without them */
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

/** Creates a temporary folder of the user that runs PostgreSQL. */
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "vetwire-postgres-"));
  const { uid, gid } = postgresUser();
  chownSync(folder, uid, gid);
  return folder;
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

/** @returns the parent of a process; undefined if the process has ended */
function parentOf(name: string): number | undefined {
  try {
    // The name of the program in parentheses may contain spaces.
    return Number(readFileSync(`/proc/${name}/stat`, "utf8").replace(/.*\) /, "").split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** @returns the user that runs PostgreSQL: `nobody` in place of root, since PostgreSQL refuses to run as root */
export function postgresUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? 0 };
  const [, , nobodyUid, nobodyGid] = /^nobody:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  return { uid: Number(nobodyUid), gid: Number(nobodyGid) };
}

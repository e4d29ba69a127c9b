import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresUser } from "./postgres.ts";
import { freePort, until } from "./processes.ts";

// pgbouncer of the machine's packages, in front of a PostgreSQL or HAProxy of the tests.

/** @returns the reason why this machine cannot start pgbouncer; null if it can */
export function pgbouncerProblem(): string | null {
  try {
    execFileSync("pgbouncer", ["--version"], { env: ENV, stdio: "ignore" });
    return null;
  } catch {
    return "cannot find pgbouncer";
  }
}

const ENV = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` };

export class Pgbouncer {
  readonly #folder: string;
  readonly #port: number;
  readonly #process: ChildProcess;
  readonly #url: string;
  readonly #kill = () => void this.#process.kill("SIGKILL");

  /** Starts a pooler that gives each transaction one of `size` connections to the database server of the URL. */
  static async start(to: string, size: number): Promise<Pgbouncer> {
    const { hostname, port: toPort, username, password } = new URL(to);
    const folder = mkdtempSync(join(tmpdir(), "vetwire-pgbouncer-"));
    const { uid, gid } = postgresUser();
    chownSync(folder, uid, gid);
    const port = await freePort();
    writeFileSync(
      join(folder, "pgbouncer.ini"),
      [
        "[databases]",
        `* = host=${hostname} port=${toPort}`,
        "[pgbouncer]",
        ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "auth_type = plain"],
        ...[`auth_file = ${join(folder, "users")}`, `logfile = ${join(folder, "log")}`],
        ...["pool_mode = transaction", `default_pool_size = ${size}`, "max_client_conn = 200"],
        // After a lost server the next attempt comes in a second, not in 15.
        "server_login_retry = 1",
      ].join("\n"),
    );
    writeFileSync(join(folder, "users"), `"${username}" "${password}"\n`, { mode: 0o644 });
    const child = spawn("pgbouncer", [join(folder, "pgbouncer.ini")], {
      ...{ uid, gid, cwd: folder, env: ENV, stdio: "ignore" },
    });
    const pooler = new Pgbouncer(folder, port, child, to);
    await until("pgbouncer listens", () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${pooler.log}`);
      return pooler.log.includes(`listening on 127.0.0.1:${port}`);
    });
    return pooler;
  }

  private constructor(folder: string, port: number, child: ChildProcess, url: string) {
    this.#folder = folder;
    this.#port = port;
    this.#process = child;
    this.#url = url;
    process.once("exit", this.#kill);
  }

  /** The value of DATABASE_URL for a server. */
  url(database: string): string {
    const url = new URL(this.#url);
    url.port = String(this.#port);
    url.pathname = `/${database}`;
    return url.href;
  }

  get log(): string {
    try {
      return readFileSync(join(this.#folder, "log"), "utf8");
    } catch {
      return "";
    }
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    if (this.#process.exitCode === null) {
      this.#process.kill("SIGKILL");
      await ended;
    }
    process.off("exit", this.#kill);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

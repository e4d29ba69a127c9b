import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { Host } from "../../../agent/host.ts";
import { createPageApp } from "../../../agent/page/page-app.ts";
import { agentPage } from "../../../agent/page/page.ts";
import { remoteDevices } from "../../../agent/remote/remote-devices.ts";
import type { DoctorBody, TitledFinding } from "../../../agent/page/types/doctor.ts";
import { AGENT, freePort, temporaryFolder } from "../machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../peers/scripted-server.ts";

// A right set-up in a folder of its own, which each case of the table makes wrong.

/** One wrong set-up. */
export interface WrongSetup {
  readonly title: string;
  /** Id of the finding. */
  readonly finding: string;
  readonly remedy: RegExp;
  /** Runs the command as another user than this process. */
  readonly runAs?: "nobody";
  /** The reason why this machine cannot simulate it; null if it can. */
  readonly cannot?: () => string | null;
  readonly make: (bench: Bench) => Promise<void> | void;
}

/** uid and gid of `nobody` in Debian. */
const NOBODY = 65_534;

export interface TestDevice {
  readonly id: string;
  readonly profile: string;
  readonly connection: object;
  readonly [key: string]: unknown;
}

/** Responds as a server of this version, without patients. */
export function vetwireAnswer({ url }: Pick<ScriptedRequest, "url">): Step {
  const page = { items: [], total: 0, has_more: false };
  if (url.startsWith("/api/v1/calendar")) return { status: 200, body: [] };
  if (url.startsWith("/agent/v1/ranges")) return { status: 200, body: { success: true, data: null } };
  if (url.startsWith("/agent/v1/codes")) return { status: 200, body: { success: true, data: [] } };
  return { status: 200, body: { success: true, data: page } };
}

export class Bench {
  readonly folder = fs.realpathSync(temporaryFolder());
  readonly closers: (() => unknown)[] = [];
  /** Environment of the command, in addition to the test's. */
  readonly env: NodeJS.ProcessEnv = {};
  /** Keys of agent.yaml. */
  config: Record<string, unknown> = {};
  devices: TestDevice[] = [];
  /** Text of agent.yaml in place of `config` and `devices`. */
  text: string | null = null;
  isOffline = false;
  /** Whether agent.yaml exists. */
  hasConfig = true;
  /** Owner of the folder, of agent.yaml and of the key. */
  owner: "root" | "nobody" = "root";

  static async create(): Promise<Bench> {
    const bench = new Bench();
    bench.write("agent.key", "sk_live_test\n");
    bench.devices = [bench.device({ connection: { listen: `127.0.0.1:${await freePort()}` } })];
    bench.config = {
      server: { url: await bench.serve(vetwireAnswer), keyFile: "./agent.key" },
      data: "./data",
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
    return bench;
  }

  get configFile(): string {
    return path.join(this.folder, "agent.yaml");
  }

  get data(): string {
    return path.join(this.folder, "data");
  }

  device(changed: Partial<TestDevice>): TestDevice {
    return { id: "chem-1", profile: "generic-astm", connection: {}, ...changed };
  }

  write(name: string, text: string | Uint8Array, mode = 0o600): string {
    const file = path.join(this.folder, name);
    fs.writeFileSync(file, text);
    fs.chmodSync(file, mode);
    return file;
  }

  setServer(url: string): void {
    this.config["server"] = { ...(this.config["server"] as object), url };
  }

  /** Starts a server that responds so. @returns its URL */
  async serve(respond: (request: ScriptedRequest) => Step): Promise<string> {
    const server = await scriptedServer(respond);
    this.closers.push(() => server.close());
    return server.url;
  }

  writeConfig(): void {
    if (!this.hasConfig) return;
    this.write("agent.yaml", this.text ?? JSON.stringify({ ...this.config, devices: this.devices }));
    if (this.owner === "root") return;
    for (const name of ["", "agent.yaml", "agent.key"]) fs.chownSync(path.join(this.folder, name), NOBODY, NOBODY);
  }

  /** Queries the agent's page, whose agent reads the file of this bench. */
  async page(): Promise<readonly TitledFinding[]> {
    const log = pino({ enabled: false });
    const host = new Host({
      file: this.configFile,
      config: null,
      version: "test",
      log,
      page: agentPage,
      remote: remoteDevices,
    });
    const app = await createPageApp(host);
    const { body } = await app.inject({ method: "GET", url: "/local/v1/doctor" });
    await app.close();
    return (JSON.parse(body) as DoctorBody).findings;
  }

  /** Whether a run in this process meets the same set-up as the command. */
  isSameInProcess({ runAs }: WrongSetup): boolean {
    return runAs === undefined && Object.keys(this.env).length === 0 && !this.isOffline;
  }

  /** Runs `agent doctor` as this process or as `nobody`. @returns what it printed, and its exit code */
  command(runAs: WrongSetup["runAs"], ...options: readonly string[]): Promise<{ code: number; stdout: string }> {
    const args = [AGENT, "doctor", "--config", this.configFile, ...(this.isOffline ? ["--offline"] : []), ...options];
    if (runAs === "nobody") fs.chmodSync(this.folder, 0o755);
    const as = runAs === "nobody" ? { uid: NOBODY, gid: NOBODY } : {};
    return new Promise((resolve) => {
      const env = { ...process.env, ...this.env };
      const child = execFile(process.execPath, args, { env, ...as }, (_, stdout) =>
        resolve({ code: child.exitCode ?? -1, stdout }),
      );
    });
  }

  /** @returns the findings of `agent doctor --json`, run as this process or as `nobody` */
  async found(runAs: WrongSetup["runAs"]): Promise<readonly TitledFinding[]> {
    return JSON.parse((await this.command(runAs, "--json")).stdout) as TitledFinding[];
  }

  async close(): Promise<void> {
    for (const close of this.closers.splice(0).toReversed()) await close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The sentences and remedies of a finding, as the command prints them. */
export function toldBy(found: readonly TitledFinding[], finding: string): string {
  const own = found.filter(({ id }) => id === finding);
  return own.map(({ sentence, remedy }) => `${sentence}\n           -> ${remedy}\n`).join("");
}

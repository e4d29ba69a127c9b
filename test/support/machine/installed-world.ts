import fs from "node:fs";
import path from "node:path";
import type { DebianRoot } from "./debian-root.ts";
import { AGENT_KEY_OPTIONS, clinicFile, type DeviceLine, freePort, testPatients, until, World } from "./processes.ts";

// The world of the tests with installed programs: they run in a Debian of their own, without Node and without a compiler.

type Program = "agent" | "server";

/** Places and commands of the installed programs. Paths are those in the Debian. */
export interface Installation {
  /** Owner of data and configuration. */
  readonly user: string;
  readonly config: string;
  readonly agentData: string;
  readonly serverData: string;
  /** The command `vetwire`. */
  readonly vetwire: string;
  /** @returns the words that run a program, for the server with its port */
  run(program: Program, serverPort: number): readonly string[];
}

export class InstalledWorld extends World {
  readonly #root: DebianRoot;
  readonly #installed: Installation;

  /** Imports a clinic, makes the agent's key, and starts the server. */
  static async install(root: DebianRoot, installed: Installation, patientCount: number): Promise<InstalledWorld> {
    const { user, config, serverData, vetwire } = installed;
    const patients = testPatients(patientCount);
    const file = path.join(path.dirname(config), "clinic.ndjson");
    for (const folder of [config, installed.agentData].map((place) => path.dirname(place)))
      root.run("install", "-d", "-o", user, folder);
    fs.writeFileSync(root.at(file), clinicFile(patients));
    root.run(vetwire, "server", "import", file, "--data", serverData);
    fs.rmSync(root.at(file));
    const key = root.run(vetwire, "server", "keys", "create", ...AGENT_KEY_OPTIONS, "--data", serverData).trim();
    root.run("chown", "-R", `${user}:`, serverData);
    const world = new InstalledWorld(root, installed, patients, key);
    world.#giveToUser();
    await world.startServer();
    world.serverUrl = `http://127.0.0.1:${world.serverPort}`;
    return world;
  }

  private constructor(root: DebianRoot, installed: Installation, patients: World["patients"], key: string) {
    super(path.dirname(root.at(installed.config)), patients, key, []);
    this.#root = root;
    this.#installed = installed;
  }

  override get config(): string {
    return this.#root.at(this.#installed.config);
  }

  protected override get agentDataSetting(): string {
    return this.#installed.agentData;
  }

  override get agentData(): string {
    return this.#root.at(this.#installed.agentData);
  }

  override get serverData(): string {
    return this.#root.at(this.#installed.serverData);
  }

  override writeConfig(devices: readonly DeviceLine[], statusPort?: number): void {
    super.writeConfig(devices, statusPort);
    this.#giveToUser();
  }

  override async startServer(): Promise<void> {
    if (this.serverPort === 0) this.serverPort = await freePort();
    this.server = this.#root.start(this.#installed.run("server", this.serverPort));
    await until("the server listens", () =>
      this.server.output().includes(`listening on http://127.0.0.1:${this.serverPort}`),
    );
  }

  override async startAgent(): Promise<void> {
    this.agent = this.#root.start(this.#installed.run("agent", this.serverPort));
    await until("the agent runs", () => {
      if (this.agent.process.exitCode !== null) throw new Error(`the agent ended: ${this.agent.output()}`);
      return this.agent.output().includes("the agent is running");
    });
  }

  /** Stops the programs. The Debian stays. */
  override async end(): Promise<void> {
    await this.agent?.end();
    await this.server?.end();
  }

  #giveToUser(): void {
    this.#root.run("chown", "-R", `${this.#installed.user}:`, path.dirname(this.#installed.config));
  }
}

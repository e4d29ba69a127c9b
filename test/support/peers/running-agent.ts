import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach } from "vitest";
import { checkConfig } from "../../../agent/config/check.ts";
import { type Host, startHost } from "../../../agent/host.ts";
import { remoteDevices } from "../../../agent/remote/remote-devices.ts";
import { agentPage } from "../../../agent/page/page.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { type DeviceStatus, readStatus } from "../../../agent/spool/queries/status.ts";
import type { Readiness } from "../../../agent/status/readiness.ts";
import { freePort, temporaryFolder, until } from "../machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "./scripted-server.ts";

const NO_LOG = pino({ enabled: false });
const EMPTY_PAGE: Step = { status: 200, body: { data: { items: [], total: 0, has_more: false } } };

/** Responds as a server without patients, intervals and appointments. */
export function emptyServer({ url }: ScriptedRequest): Step {
  if (url.startsWith("/agent/v1/ranges")) return { status: 200, body: { data: null } };
  if (url.startsWith("/agent/v1/codes")) return { status: 200, body: { data: [] } };
  return url.startsWith("/api/v1/calendar") ? { status: 200, body: [] } : EMPTY_PAGE;
}

export interface TestDeviceConfig {
  readonly id?: string;
  readonly profile?: string;
  readonly connection: object;
  readonly tls?: object;
}

/** A complete agent in this process with its own data folder, closed at the end of the test. */
export class TestAgent {
  readonly folder = temporaryFolder();
  /** Closed at the end of the test. */
  readonly resources: { close(): unknown }[] = [];
  #host: Host | null = null;

  constructor() {
    fs.writeFileSync(path.join(this.folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  }

  /** Starts the agent with the given devices, by default with an empty server. */
  async run(devices: readonly TestDeviceConfig[], respond = emptyServer, log = NO_LOG): Promise<void> {
    const server = await scriptedServer(respond);
    this.resources.push(server);
    await this.runWith(server.url, devices, log);
  }

  async runWith(url: string, devices: readonly TestDeviceConfig[], log = NO_LOG, more: object = {}): Promise<void> {
    const described = devices.map((device) => ({ id: "chem-1", profile: "generic-astm", ...device }));
    const status = { listen: `127.0.0.1:${await freePort()}` };
    const settings = {
      server: { url, keyFile: "agent.key" },
      data: "data",
      timeZone: "UTC",
      status,
      devices: described,
      ...more,
    };
    const [file, text] = [path.join(this.folder, "agent.yaml"), JSON.stringify(settings)];
    fs.writeFileSync(file, text);
    const checked = checkConfig(text, this.folder);
    if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
    this.#host = await startHost({
      file,
      config: checked.config,
      version: "test",
      log,
      page: agentPage,
      remote: remoteDevices,
    });
  }

  async stop(): Promise<void> {
    await this.#host?.stop();
    this.#host = null;
  }

  async close(): Promise<void> {
    await this.stop();
    for (const resource of this.resources.splice(0)) await resource.close();
    fs.rmSync(this.folder, { recursive: true });
  }

  /** The host of the running agent. */
  get host(): Host {
    if (this.#host === null) throw new Error("expected a running agent");
    return this.#host;
  }

  /** @returns the response of /readyz */
  async readiness(): Promise<Readiness & { readonly status: number }> {
    const response = await fetch(`http://127.0.0.1:${this.#host?.port}/readyz`);
    return { status: response.status, ...((await response.json()) as Readiness) };
  }

  status() {
    const data = path.join(this.folder, "data");
    return readSpool(data, (db) => readStatus(db, data));
  }

  /** @returns the status of the first device; null until the agent has stored it */
  device(): DeviceStatus | null {
    return this.status().devices[0] ?? null;
  }

  /** Waits for a state. @returns the status of the device in it */
  deviceIn(state: DeviceStatus["state"]): Promise<DeviceStatus> {
    return until(state, () => {
      const now = this.device();
      return now?.state === state ? now : null;
    });
  }

  /** Waits for a state of the server. */
  serverIn(state: string) {
    return until(state, () => {
      const { server } = this.status();
      return server?.state === state ? server : null;
    });
  }
}

/** Creates a TestAgent before each test of a file, and passes it to `created`. */
export function useAgent(created: (agent: TestAgent) => void): void {
  let current: TestAgent;
  beforeEach(() => {
    current = new TestAgent();
    created(current);
  });
  afterEach(() => current.close());
}

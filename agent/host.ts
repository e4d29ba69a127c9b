import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import { connectionShare } from "../shared/files/descriptors.ts";
import { errorMessage } from "../shared/runtime/error-message.ts";
import { RecentLog } from "../shared/log/recent-log.ts";
import { type RunningAgent, startAgent } from "./agent.ts";
import { checkConfig, type ConfigProblem } from "./config/check.ts";
import type { Config } from "./config/values/schema.ts";
import type { ConfigurationLink, UpgradeLink } from "./push/heartbeat.ts";
import { type LocalServer, serveStatus } from "./status/status-server.ts";
import type { Address } from "./transport/address.ts";
import { isLoopback } from "../shared/network/network-address.ts";
import { folderOf, markOf, readText, writeText } from "./config/config-file.ts";
import { linesInUse } from "./config/lines-in-use.ts";
import { ensurePin } from "./config/page-pin.ts";

// Keeps one agent running in this process, and replaces it when its configuration changes.

/** The address of the page in a new configuration. */
const SET_UP_ADDRESS: Address = { host: "127.0.0.1", port: 8081 };

/** Max connections of the page. A browser opens six. */
const PAGE_CONNECTIONS_MAX = 256;

/** How a new configuration ended. The file changes only if it is applied. */
export type ApplyOutcome =
  | { readonly outcome: "applied" }
  /** The running agent was not touched. */
  | { readonly outcome: "refused"; readonly problems: readonly ConfigProblem[] }
  /** The new agent did not start, so the earlier one runs again. */
  | { readonly outcome: "rolled back"; readonly reason: string };

export interface HostSettings {
  /** The configuration file, with an absolute path. */
  readonly file: string;
  /** The checked content of the file. Null serves only the page, which makes the first configuration. */
  readonly config: Config | null;
  readonly version: string;
  readonly log: Logger;
  /** The last lines of the log. */
  readonly recentLog?: RecentLog;
  readonly page: (host: Host) => RequestListener;
  /** The page's address while no configuration names one. */
  readonly setUpAddress?: Address;
  /** Makes what follows the server's devices. */
  readonly remote: (host: Host) => ConfigurationLink;
  /** The part that upgrades this program. Null for a program that no launcher started. */
  readonly upgrade?: UpgradeLink | null;
}

/** Starts the local server and the agent. @throws if the data folder or the local port is in use */
export async function startHost(settings: HostSettings): Promise<Host> {
  const host = new Host(settings);
  await host.start(settings.config);
  return host;
}

export class Host {
  readonly file: string;
  readonly log: Logger;
  readonly version: string;
  readonly recentLog: RecentLog;
  readonly #page: RequestListener;
  readonly #setUpAddress: Address;
  /** Null for a program that cannot upgrade itself. */
  readonly upgrade: UpgradeLink | null;
  readonly #remote: ConfigurationLink;
  #agent: RunningAgent | null = null;
  #local: LocalServer | null = null;
  #pin: string | null = null;
  /** Changes run one after the other. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor({
    file,
    version,
    log,
    recentLog = new RecentLog(),
    page,
    setUpAddress = SET_UP_ADDRESS,
    remote,
    upgrade = null,
  }: HostSettings) {
    this.file = file;
    this.recentLog = recentLog;
    this.version = version;
    this.log = log;
    this.#setUpAddress = setUpAddress;
    this.#page = page(this);
    this.#remote = remote(this);
    this.upgrade = upgrade;
  }

  /** The running agent; null before the set-up, and while another one starts. */
  get agent(): RunningAgent | null {
    return this.#agent;
  }

  /** Waits until no change is under way. @returns the running agent; null before the set-up alone */
  async settledAgent(): Promise<RunningAgent | null> {
    let last: Promise<unknown>;
    do {
      last = this.#changing;
      await last;
    } while (last !== this.#changing);
    return this.#agent;
  }

  /** The port of the local server; null if the configuration names none. */
  get port(): number | null {
    return this.#local?.port ?? null;
  }

  /** The PIN for other machines; null while the local server listens for this machine alone. */
  get pin(): string | null {
    return this.#pin;
  }

  text(): string | null {
    return readText(this.file);
  }

  async start(config: Config | null): Promise<void> {
    if (config !== null) this.#agent = await startAgent(config, this.version, this.log, this.#remote, this.upgrade);
    try {
      this.#local = await this.#listen(config);
    } catch (error) {
      await this.#agent?.stop();
      throw error;
    }
  }

  /**
   * Checks a configuration, tries its new ports, replaces the agent, and stores the text. `basedOn` is the mark of the text that
   * was edited (`markOf`); a file that changed meanwhile is not overwritten. `noteFirst` stores what belongs to the text just before it.
   */
  apply(text: string, basedOn?: string, noteFirst?: () => void): Promise<ApplyOutcome> {
    const outcome = this.#changing.then(() => this.#change(text, basedOn, noteFirst));
    this.#changing = outcome.catch(() => undefined);
    return outcome;
  }

  async stop(): Promise<void> {
    await this.#changing;
    await this.#agent?.stop();
    await this.#local?.close();
  }

  async #change(text: string, basedOn: string | undefined, noteFirst?: () => void): Promise<ApplyOutcome> {
    const before = this.text();
    if (basedOn !== undefined && basedOn !== markOf(before)) {
      return {
        outcome: "refused",
        problems: [{ line: 1, steps: [], message: "the file changed meanwhile: load it and edit it again" }],
      };
    }
    const checked = checkConfig(text, folderOf(this.file));
    if ("problems" in checked) return { outcome: "refused", problems: checked.problems };
    const earlier = this.#agent?.config ?? null;
    const faulty = newFaults(checked.config, earlier);
    if (faulty.length > 0) return { outcome: "refused", problems: faulty };
    const inUse = await linesInUse(text, checked.config, earlier);
    if (inUse.length > 0) return { outcome: "refused", problems: inUse };
    try {
      await this.#replace(checked.config);
      // The file comes last: a killed process starts again with the earlier configuration.
      noteFirst?.();
      writeText(this.file, text, before);
    } catch (error) {
      this.log.error(
        { reason: errorMessage(error) },
        "the new configuration does not work: the earlier one runs again",
      );
      await this.#goBack(earlier);
      return { outcome: "rolled back", reason: errorMessage(error) };
    }
    this.log.info({ devices: checked.config.devices.length }, "a new configuration runs");
    return { outcome: "applied" };
  }

  /** Starts the earlier agent. A process that cannot go back ends loudly: the next one starts with the stored file. */
  async #goBack(earlier: Config | null): Promise<void> {
    try {
      await this.#replace(earlier);
    } catch (error) {
      this.log.fatal(
        { reason: errorMessage(error) },
        "the earlier configuration does not start either: the agent ends",
      );
      setImmediate(() => {
        throw error;
      });
    }
  }

  /** Stops the running agent and starts another one. Null starts none. */
  async #replace(config: Config | null): Promise<void> {
    const running = this.#agent;
    this.#agent = null;
    await running?.stop();
    const address = this.#addressOf(config);
    if (!isSame(address, this.#local?.address ?? null)) {
      const last = this.#local;
      // The old listener is closed first, because a second listener on its port fails even at another address.
      if (last !== null && last.address.port === address?.port) {
        last.release();
        this.#local = null;
      }
      try {
        this.#local = await this.#listen(config);
      } finally {
        // The page that requested the change waits for its response.
        if (this.#local !== last) setTimeout(() => void last?.close(), 1000);
      }
    }
    if (config === null) return;
    this.#agent = await startAgent({ ...config, file: this.file }, this.version, this.log, this.#remote, this.upgrade);
  }

  #addressOf(config: Config | null): Address | null {
    return config === null ? this.#setUpAddress : config.status;
  }

  async #listen(config: Config | null): Promise<LocalServer | null> {
    const address = this.#addressOf(config);
    const before = this.#pin;
    // The PIN comes first, so that no other machine finds the page open.
    this.#pin = config === null || address === null || isLoopback(address.host) ? null : ensurePin(config.data);
    try {
      if (address === null) return null;
      const connectionsMax = connectionShare((config?.devices.length ?? 0) + 1, PAGE_CONNECTIONS_MAX);
      return await serveStatus(address, () => this.#agent, this.#page, connectionsMax);
    } catch (error) {
      // The page stays at its earlier address.
      this.#pin = before;
      throw error;
    }
  }
}

/** A change must not add a device that cannot start. One that already waits for its profile keeps no other change out. */
function newFaults({ devices, profileFaults }: Config, earlier: Config | null): ConfigProblem[] {
  return profileFaults.filter(({ steps }) => {
    const device = devices[Number(steps[1])];
    return earlier?.devices.every(({ id, profile }) => id !== device?.id || profile !== device.profile) ?? true;
  });
}

function isSame(one: Address | null, other: Address | null): boolean {
  return one?.host === other?.host && one?.port === other?.port;
}

import path from "node:path";
import type { Logger } from "pino";
import { PROGRAM_FOLDER } from "../../shared/files/program-files.ts";
import { HEARTBEAT_S } from "../../shared/api/study.ts";
import { copyBytes, copyDatabase, copyName } from "../../shared/platform/upgrade/database-copy.ts";
import type { Parent } from "../../shared/platform/upgrade/parent.ts";
import type { FetchFile } from "../../shared/platform/upgrade/prepare.ts";
import { serveRequests } from "../../shared/platform/upgrade/requests.ts";
import { Upgrader } from "../../shared/platform/upgrade/upgrader.ts";
import { readUpgrades, readVersions } from "../../shared/platform/upgrade/version-store.ts";
import type { Health } from "../../shared/platform/upgrade/versions.ts";
import type { Host } from "../host.ts";
import type { UpgradeLink } from "../push/heartbeat.ts";
import { withoutFolders } from "../runtime/local-paths.ts";
import { sleep } from "../runtime/timer.ts";

// The upgrade of the running agent: at the wish of its server, or of `vetwire upgrade` on this machine.

const HEALTH_MS = 1_000;
/** Age of an acknowledged heartbeat at which the server counts as away. Two heartbeats are missing then. */
const ANSWER_MS = 2 * HEARTBEAT_S * 1_000;
/** Interval between looks for a moment at which no device sends. */
const QUIET_POLL_MS = 5;
/** Time in which such a moment has to come. */
const QUIET_MS = 10 * 60_000;
/** Pause after a failed upgrade, doubled each time: a release is 50 MB for the clinic's line. */
const RETRY_MS = { first: 10 * 60_000, last: 6 * 60 * 60_000 };

export class AgentUpgrade implements UpgradeLink {
  readonly #parent: Parent;
  readonly #version: string;
  readonly #log: Logger;
  readonly #upgrader: Upgrader;
  readonly #fetch: FetchFile;
  /** Null until the agent has started. */
  #host: Host | null = null;
  /** Time of the last acknowledged heartbeat; null before the first. */
  #answeredAt: number | null = null;
  /** The version in the server's last response. */
  #wanted: string | null = null;
  #told = "";
  /** The last version of the server that failed, and when it may be tried again. */
  #failed = { version: "", times: 0, until: 0 };

  constructor(parent: Parent, version: string, log: Logger) {
    this.#parent = parent;
    this.#version = version;
    this.#log = log;
    this.#upgrader = new Upgrader(parent, {
      program: "agent",
      version,
      log,
      copyBytes: async () => {
        const spool = await this.#spool();
        return spool === null ? 0 : copyBytes(spool);
      },
      copyDatabase: () => this.#copySpool(),
      whenQuiet: () => this.#whenQuiet(),
      expects: () => ({ heartbeat: this.#isServerThere, known: this.#health().problems.map(({ what }) => what) }),
    });
    this.#fetch = async (name, file, bytesMax) => {
      const agent = await this.#agent();
      if (agent === null) throw new Error("this agent has no server yet: set it up, or name the release with --from");
      await agent.server.download(`/agent/v1/releases/${name}`, file, bytesMax);
    };
  }

  /** Resolves when the agent has to stop for a new version. */
  get ordered(): Promise<void> {
    return this.#upgrader.ordered;
  }

  /** Reports the agent's health to the launcher, and takes requests of this machine. */
  start(host: Host): void {
    this.#host = host;
    const last = readUpgrades(this.#parent.folder).at(-1);
    if (
      last?.outcome === "rolled back" &&
      last.from === this.#version &&
      readVersions(this.#parent.folder).rolledBack
    ) {
      this.#log.error(
        { stage: "upgrade", to: last.to, reason: last.reason },
        "the upgrade was rolled back: this version runs again",
      );
    }
    serveRequests(this.#parent.folder, this.#upgrader, { fetch: this.#fetch, wanted: () => this.#wanted });
    this.#tell();
    setInterval(() => this.#tell(), HEALTH_MS).unref();
  }

  /** The last upgrade. Its reason names no folder of this PC: folders often hold the name of a person, and help nobody elsewhere. */
  report(): ReturnType<UpgradeLink["report"]> {
    const last = this.#upgrader.report();
    if (last === null || last.reason === null) return last;
    const { config } = this.#host?.agent ?? {};
    const folders = [PROGRAM_FOLDER, path.dirname(this.#parent.folder), ...(config === undefined ? [] : [config.data])];
    return { ...last, reason: withoutFolders(last.reason, folders) };
  }

  answered(version: string | null): void {
    this.#answeredAt = performance.now();
    this.#wanted = version;
    // The server withdrew the version. If it names it again, a person decided so, and earlier failures do not count.
    if (version === null) this.#failed = { version: "", times: 0, until: 0 };
    const isTooEarly = version === this.#failed.version && performance.now() < this.#failed.until;
    // A heartbeat may be acknowledged before the start is complete; the server's next response then repeats the version.
    if (version === null || version === this.#version || isTooEarly || this.#host === null) return;
    const last = this.report();
    // The server requests it each minute, until it has the outcome.
    if (last?.state === "preparing" || last?.state === "trying") return;
    if (last?.state === "rolled back" && last.to === version) return;
    this.#upgrader.upgrade({ version, fetch: this.#fetch }).catch(() => {
      const times = this.#failed.version === version ? this.#failed.times : 0;
      const pauseMs = Math.min(RETRY_MS.first * 2 ** times, RETRY_MS.last);
      this.#failed = { version, times: times + 1, until: performance.now() + pauseMs };
    });
  }

  #tell(): void {
    // During a change of the configuration no agent runs for a moment: the health before it still holds.
    if (this.#host?.agent === null && this.#host.text() !== null) return;
    const health = this.#health();
    const text = JSON.stringify(health);
    if (text === this.#told) return;
    this.#told = text;
    this.#parent.tell(health);
  }

  #health(): Health {
    const problems = this.#host?.agent?.ready().problems ?? [{ what: "agent", reason: "it is not set up" }];
    return { problems: problems.map(({ what, reason }) => ({ what, reason })), heartbeat: this.#answeredAt !== null };
  }

  get #isServerThere(): boolean {
    return this.#answeredAt !== null && performance.now() - this.#answeredAt <= ANSWER_MS;
  }

  /** The running agent, after a change of its configuration that is under way; null before the set-up. */
  #agent(): ReturnType<Host["settledAgent"]> {
    return this.#host?.settledAgent() ?? Promise.resolve(null);
  }

  /** The file of the spool; null before the set-up. */
  async #spool(): Promise<string | null> {
    const agent = await this.#agent();
    return agent === null ? null : path.join(agent.config.data, "spool.db");
  }

  async #copySpool(): Promise<string> {
    const spool = await this.#spool();
    if (spool === null) return "there is no spool to copy yet";
    await copyDatabase(spool);
    return `the spool was copied to ${copyName(spool)}`;
  }

  /** Waits until no device is within a message. @throws Error if one sends without a pause */
  async #whenQuiet(): Promise<void> {
    const until = performance.now() + QUIET_MS;
    while ((await this.#agent())?.devices.some((device) => device.isWithinMessage()) === true) {
      if (performance.now() > until) {
        throw new Error(
          `a device sent without a pause for ${QUIET_MS / 60_000} minutes: the upgrade waits for a quieter time`,
        );
      }
      await sleep(QUIET_POLL_MS);
    }
  }
}

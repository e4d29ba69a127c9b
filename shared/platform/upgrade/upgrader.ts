import type { Logger } from "pino";
import type { UpgradeReport } from "../../api/upgrade.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import type { Parent } from "./parent.ts";
import { type FetchFile, prepareRelease } from "./prepare.ts";
import { readUpgrades, readVersions } from "./version-store.ts";
import { type Expectation, refusal } from "./versions.ts";

// The upgrade as the running program prepares it. Whatever fails before the new version starts leaves the running one as it is.

/** The steps that differ between agent and server. */
export interface UpgradeSteps {
  readonly program: "agent" | "server";
  readonly version: string;
  readonly log: Logger;
  /** Bytes that copyDatabase() needs. */
  copyBytes(): Promise<number>;
  /** @returns a sentence about the copy */
  copyDatabase(): Promise<string>;
  /** Resolves at a moment at which nobody is interrupted. @throws Error if there is none for long */
  whenQuiet(): Promise<void>;
  expects(): Expectation;
}

export interface UpgradeOrder {
  readonly version: string;
  readonly fetch: FetchFile;
  readonly isDryRun?: boolean;
  /** Whether a person at this machine requests it, who may try a rolled-back version again. */
  readonly byPerson?: boolean;
}

export class Upgrader {
  /** Resolves when the program has to stop, so that the launcher starts the new version. */
  readonly ordered: Promise<void>;
  readonly #parent: Parent;
  readonly #steps: UpgradeSteps;
  #stop: () => void = () => undefined;
  /** The version that is being prepared. */
  #preparing: string | null = null;

  constructor(parent: Parent, steps: UpgradeSteps) {
    this.#parent = parent;
    this.#steps = steps;
    this.ordered = new Promise((resolve) => (this.#stop = resolve));
  }

  /** The last upgrade; null if there was none. */
  report(): UpgradeReport | null {
    if (this.#preparing !== null) return { to: this.#preparing, state: "preparing", reason: null };
    const { folder } = this.#parent;
    const { pending } = readVersions(folder);
    if (pending !== null) return { to: pending.version, state: "trying", reason: null };
    const last = readUpgrades(folder).at(-1);
    return last === undefined ? null : { to: last.to, state: last.outcome, reason: last.reason, at: last.at };
  }

  /** Upgrades this program. `say` gets each step. @throws Error with the reason why the running version stays */
  async upgrade(order: UpgradeOrder, say: (sentence: string) => void = () => undefined): Promise<void> {
    const { version, isDryRun = false } = order;
    if (this.#preparing !== null) throw new Error(`the upgrade to ${this.#preparing} is under way: wait for its end`);
    this.#preparing = version;
    try {
      await this.#carryOut(order, (sentence) => {
        this.#steps.log.info({ stage: "upgrade", to: version }, sentence);
        say(sentence);
      });
    } catch (error) {
      const reason = errorMessage(error);
      this.#steps.log.warn({ stage: "upgrade", to: version, reason }, "the upgrade was refused: this version goes on");
      if (!isDryRun) this.#parent.refused(version, reason);
      throw error;
    } finally {
      this.#preparing = null;
    }
  }

  async #carryOut(order: UpgradeOrder, say: (sentence: string) => void): Promise<void> {
    const { version, fetch, isDryRun = false, byPerson = false } = order;
    const { program, version: running } = this.#steps;
    const { folder } = this.#parent;
    const reason = refusal(version, running, byPerson ? [] : readUpgrades(folder));
    if (reason !== null) throw new Error(reason);
    say(`version ${version} is fetched and checked`);
    const spareBytes = await this.#steps.copyBytes();
    await prepareRelease({ program, version, folder, fetch, spareBytes }, !isDryRun);
    if (isDryRun) {
      say(
        `version ${version} is signed, complete, and starts on this machine: it could replace ${running}. Nothing was changed`,
      );
      return;
    }
    say(await this.#steps.copyDatabase());
    await this.#steps.whenQuiet();
    const refused = await this.#parent.ask(version, this.#steps.expects(), byPerson);
    if (refused !== null) throw new Error(refused);
    say(`version ${version} starts now, and has to prove itself for a minute`);
    this.#stop();
  }
}

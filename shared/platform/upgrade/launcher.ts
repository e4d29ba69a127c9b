import type { Logger } from "pino";
import { compareVersions } from "../../api/upgrade.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { Child, type End } from "./child.ts";
import { cut, type UpgradeAsked } from "./launcher-messages.ts";
import { checkVersion } from "./prepare.ts";
import {
  addStart,
  draftsFolder,
  readUpgrades,
  readVersions,
  removeOthers,
  unpackedVersions,
  versionFolder,
  writeRunning,
  writeUpgrades,
  writeVersions,
} from "./version-store.ts";
import {
  accept,
  type Choice,
  choose,
  countStart,
  discountStart,
  fault,
  leave,
  obstacle,
  order,
  type Pending,
  recorded,
  refusal,
  rollBack,
  type UpgradeRecord,
  versionInForce,
  type Versions,
} from "./versions.ts";

// The launcher: a service manager starts it, and it starts the version of the program that is in force. A new version has a
// probation; if it fails, the version before runs again. The launcher itself comes from the package and holds nothing of a clinic.

export interface Launch {
  readonly program: "agent" | "server";
  readonly options: readonly string[];
  readonly folder: string;
  readonly version: string;
  readonly probationMs: number;
  readonly log: Logger;
  /** Takes the program's output in place of the launcher's own. */
  readonly output: ((text: string) => void) | null;
}

export class Launcher {
  readonly #launch: Launch;
  #versions: Versions;
  #records: readonly UpgradeRecord[];
  #child: Child | null = null;
  #isStopping = false;

  constructor(launch: Launch) {
    this.#launch = launch;
    this.#versions = readVersions(launch.folder);
    this.#records = readUpgrades(launch.folder);
  }

  /** Runs until the program ends for another reason than an upgrade. @returns the exit code of the program */
  async run(): Promise<number> {
    const { folder, version } = this.#launch;
    // A disk that takes no change must not keep the program from its start.
    this.#try(() => void draftsFolder(folder));
    this.#dropObstructed();
    // A package brought a later version than these.
    this.#tidy(unpackedVersions(folder).filter((each) => compareVersions(each, version) > 0));
    for (;;) {
      const choice = this.#next();
      const end = await this.#runOnce(choice);
      if (this.#isStopping) {
        if (this.#isOnTrial(choice)) this.#store(discountStart(this.#versions));
        return end.code ?? 1;
      }
      // An accepted order, or the fault of a version, requires another version.
      if (this.#choose().version === choice.version) return end.code ?? 1;
      if (this.#versions.pending === null) this.#tidy([this.#inForce()]);
    }
  }

  /** Ends the program at the request of its service manager. */
  stop(): void {
    this.#isStopping = true;
    this.#child?.stop();
  }

  /** Lets the server read its renewed certificate. */
  reload(): void {
    this.#child?.reload();
  }

  #choose(): Choice {
    return choose(this.#launch.version, this.#versions, unpackedVersions(this.#launch.folder));
  }

  /** Returns the version to start. The start of a new version is on the disk before it happens. */
  #next(): Choice {
    const choice = this.#choose();
    const { trial } = choice;
    if (trial === null) return choice;
    const counted = countStart(this.#versions, trial);
    if (counted === null) this.#fail(trial, "the machine or the service ended again and again in its first minute");
    else if (!this.#store(counted)) this.#fail(trial, "the disk takes no file: make room there");
    return this.#choose();
  }

  async #runOnce({ version, trial }: Choice): Promise<End> {
    const { program, options, folder, version: own, probationMs, log, output } = this.#launch;
    log.info({ version }, trial === null ? `starts the ${program}` : `tries the new version of the ${program}`);
    const isOwn = version === own;
    const child = new Child({
      program,
      options,
      folder,
      version,
      isOwn,
      rolledBack: this.#versions.rolledBack,
      output,
    });
    this.#child = child;
    this.#noteRunning(version, child.id);
    if (this.#isStopping) child.stop();
    child.onMessage((message) => {
      switch (message.is) {
        case "health":
          if (trial === null && this.#versions.rolledBack) this.#store({ ...this.#versions, rolledBack: false });
          break;
        case "upgrade":
          this.#answer(child, this.#order(message, version));
          break;
        case "refused":
          this.#record({ from: version, to: message.version, outcome: "refused", reason: message.reason });
      }
    });
    const probation = trial === null ? undefined : setTimeout(() => void this.#judge(child, trial), probationMs);
    const end = await child.ended;
    clearTimeout(probation);
    this.#child = null;
    if (this.#isStopping) return end;
    if (trial !== null && this.#isOnTrial({ trial })) {
      this.#recordStart(version, end);
      this.#fail(trial, end.sentence);
    } else if (this.#choose().version === version) {
      this.#recordStart(version, end);
      if (!isOwn && child.health === null) await this.#leaveIfDamaged(version);
    }
    return end;
  }

  /** Whether the probation of that start has no verdict yet. */
  #isOnTrial({ trial }: Pick<Choice, "trial">): boolean {
    return trial !== null && this.#versions.pending?.version === trial.version;
  }

  /** Ends the probation of a new version: it stays, or it is stopped. */
  async #judge(child: Child, trial: Pending): Promise<void> {
    const reason = fault(child.health, trial.expects);
    if (reason !== null) {
      this.#fail(trial, reason);
      await child.end();
      return;
    }
    const from = this.#inForce();
    if (!this.#store(accept(trial))) return;
    this.#record({ from, to: trial.version, outcome: "done", reason: null });
    this.#launch.log.info({ from, to: trial.version }, "the upgrade is done");
    this.#tidy([trial.version, from]);
  }

  /** Gives up an order that can no longer be tried. It would block every later one. */
  #dropObstructed(): void {
    const { version, folder, log } = this.#launch;
    const { pending } = this.#versions;
    const reason = obstacle(version, this.#versions, unpackedVersions(folder));
    if (pending === null || reason === null) return;
    const from = this.#inForce();
    log.warn({ from, to: pending.version, reason }, "the upgrade is given up");
    // The new version may have run, and migrated a database that a lower version has to open.
    this.#store(rollBack(this.#versions));
    this.#record({ from, to: pending.version, outcome: "refused", reason });
  }

  #order({ version: to, expects, byPerson = false }: UpgradeAsked, running: string): string | null {
    const reason = refusal(to, running, byPerson ? [] : this.#records);
    if (reason !== null) return reason;
    if (this.#versions.pending !== null) return "another upgrade is under way: wait for its end";
    if (!unpackedVersions(this.#launch.folder).includes(to)) return `version ${to} is not unpacked`;
    const before = this.#versions;
    if (this.#store(order(before, to, expects))) return null;
    this.#versions = before;
    return "the disk takes no file: make room there";
  }

  /** Responds to an order. After an accepted one, a program that hangs in its stop would keep the new version from its start. */
  #answer(child: Child, reason: string | null): void {
    child.send({ is: "answer", reason: reason === null ? null : cut(reason) });
    if (reason === null) void child.end();
  }

  #fail(trial: Pending, reason: string): void {
    this.#goBack(rollBack(this.#versions), trial.version, reason);
  }

  /** Goes back to the package's own version if one in force does not even print its number. Each later start would fail too. */
  async #leaveIfDamaged(version: string): Promise<void> {
    try {
      await checkVersion(versionFolder(this.#launch.folder, version), version);
    } catch (error) {
      // If the service manager stopped the check, the version has not failed.
      if (!this.#isStopping) this.#goBack(leave(this.#versions), version, errorMessage(error));
    }
  }

  /** Goes back to an earlier version. Nobody but a person tries `to` again. */
  #goBack(versions: Versions, to: string, reason: string): void {
    // The decision holds in memory even if the disk takes no file.
    this.#store(versions);
    const from = this.#inForce();
    this.#launch.log.error({ from, to, reason }, "the later version failed: the version before runs again");
    this.#record({ from, to, outcome: "rolled back", reason });
  }

  #inForce(): string {
    const { version, folder } = this.#launch;
    return versionInForce(version, this.#versions, unpackedVersions(folder));
  }

  /** @returns false if the disk refuses; the launcher goes on with what it knows */
  #store(versions: Versions): boolean {
    this.#versions = versions;
    return this.#try(() => writeVersions(this.#launch.folder, versions));
  }

  #record(record: Omit<UpgradeRecord, "at">): void {
    this.#records = recorded(this.#records, { ...record, at: new Date().toISOString() });
    this.#try(() => writeUpgrades(this.#launch.folder, this.#records));
  }

  #recordStart(version: string, { startedAt, code, signal, sentence }: End): void {
    const [started_at, ended_at] = [startedAt, Date.now()].map((ms) => new Date(ms).toISOString()) as [string, string];
    this.#try(() => addStart(this.#launch.folder, { started_at, ended_at, version, code, signal, sentence }));
  }

  #noteRunning(version: string, id: number | null): void {
    if (id === null) return;
    const running = { version, started_at: new Date().toISOString(), process: id };
    this.#try(() => writeRunning(this.#launch.folder, running));
  }

  #tidy(kept: readonly string[]): void {
    this.#try(() => removeOthers(this.#launch.folder, kept));
  }

  #try(write: () => void): boolean {
    try {
      write();
      return true;
    } catch (error) {
      this.#launch.log.error({ reason: errorMessage(error) }, "the versions folder takes no change");
      return false;
    }
  }
}

import type { EventEmitter } from "node:events";

/** Interval of the look for changes, of this server and of others on the same database. */
const CHECK_MS = 1_000;

/**
 * Requests that one look ends, the oldest first. An import of a thousand animals is news for all clinics of a host, whose agents would
 * come at the same time.
 */
const ENDED_MAX = 200;

interface Wait {
  readonly clinicId: number;
  /** The clinic's version that the agent knows. */
  readonly version: number;
  readonly ms: number;
  readonly connection: EventEmitter & { readonly destroyed: boolean };
}

/** Requests that wait for another version of their clinic. */
export class WaitingRequests {
  readonly #readVersions: () => Promise<ReadonlyMap<number, number>>;
  /** The requests with what ends each. */
  readonly #ends = new Map<Wait, (isNew: boolean) => void>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #hasEnded = false;

  /** @param readVersions reads the version of each clinic */
  constructor(readVersions: () => Promise<ReadonlyMap<number, number>>) {
    this.#readVersions = readVersions;
  }

  /** @returns true once the version differs; false after `ms`, or when the client left or the server is about to stop */
  add(wait: Wait): Promise<boolean> {
    if (this.#hasEnded || wait.ms === 0 || wait.connection.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const left = () => end(false);
      const late = setTimeout(left, wait.ms);
      const end = (isNew: boolean) => {
        clearTimeout(late);
        wait.connection.off("close", left);
        this.#ends.delete(wait);
        if (this.#ends.size === 0) {
          clearInterval(this.#timer);
          this.#timer = undefined;
        }
        resolve(isNew);
      };
      wait.connection.on("close", left);
      this.#ends.set(wait, end);
      this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
    });
  }

  /** Ends all requests, and lets no other wait. */
  end(): void {
    this.#hasEnded = true;
    for (const end of this.#ends.values()) end(false);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const versions = await this.#readVersions();
      const changed = [...this.#ends].filter(([{ clinicId, version }]) => versions.get(clinicId) !== version);
      for (const [, end] of changed.slice(0, ENDED_MAX)) end(true);
    } catch {
      // Requests that read data report the database. The next check finds the change.
    } finally {
      this.#isChecking = false;
    }
  }
}

import { realTimer, type SetTimer } from "../runtime/timer.ts";
import type { Directory } from "./patient-directory.ts";

// Syncs the directory soon after the server has stored a change of practice software, so that results that wait for its animal
// file themselves, and devices get its orders.

/** Interval between two syncs. An import of many animals changes them for minutes. */
const EVERY_MS = 5_000;

export class ChangeSync {
  readonly #directory: Pick<Directory, "syncAfterChange">;
  readonly #setTimer: SetTimer;
  #isDue = false;
  #running: Promise<void> | null = null;
  #cancelWait: (() => void) | null = null;
  #stopped = false;

  constructor(directory: Pick<Directory, "syncAfterChange">, setTimer: SetTimer = realTimer) {
    this.#directory = directory;
    this.#setTimer = setTimer;
  }

  /** Syncs now, or EVERY_MS after the last sync. */
  syncSoon(): void {
    this.#isDue = true;
    this.#start();
  }

  /** Stops after the sync under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelWait?.();
    await this.#running;
  }

  #start(): void {
    if (!this.#isDue || this.#stopped || this.#running !== null || this.#cancelWait !== null) return;
    this.#isDue = false;
    // The periodic sync reports a failure, and repeats it.
    const synced = this.#directory.syncAfterChange().then(
      () => undefined,
      () => undefined,
    );
    this.#running = synced.then(() => {
      this.#running = null;
      if (this.#stopped) return;
      this.#cancelWait = this.#setTimer(EVERY_MS, () => {
        this.#cancelWait = null;
        this.#start();
      });
    });
  }
}

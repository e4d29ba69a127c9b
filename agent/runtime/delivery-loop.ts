import { errorMessage } from "../../shared/runtime/error-message.ts";
import { type FailureKind, SendError } from "./send-error.ts";
import type { SetTimer } from "./timer.ts";

// Empties a queue of the spool into where it is to go: as long as there is something, and again later where that fails.

export interface DrainEvents {
  /** It does not get there any more: once when that begins, not once a try. */
  failed(kind: FailureKind, reason: string): void;
  recovered(): void;
}

export interface DrainTiming {
  readonly setTimer: SetTimer;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
}

/** Full jitter over 1 s, doubled up to 5 min; whatever may pass is tried for ever. */
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 5 * 60_000;
/** A key that is refused is a person's to mend: asking more often would only fill logs. */
const UNAUTHORIZED_RETRY_MS = 60_000;

export class Drain {
  readonly #sendNext: () => Promise<boolean>;
  readonly #events: DrainEvents;
  readonly #timing: DrainTiming;
  #running: Promise<void> | null = null;
  #again = false;
  #failures = 0;
  #cancelRetry: (() => void) | null = null;
  #stopped = false;

  /** `sendNext` sends a batch, if there is any; whether more may wait. It throws when the rest has to wait. */
  constructor(sendNext: () => Promise<boolean>, events: DrainEvents, timing: DrainTiming) {
    this.#sendNext = sendNext;
    this.#events = events;
    this.#timing = timing;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#stopped || this.#cancelRetry !== null) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Something got there. */
  succeeded(): void {
    if (this.#failures > 0) this.#events.recovered();
    this.#failures = 0;
  }

  /** Ends after what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        // An item that is queued meanwhile wakes the loop again.
        while ((await this.#sendNext()) && !this.#stopped);
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
  }

  #fail(error: unknown): void {
    const kind = error instanceof SendError ? error.kind : "transient";
    if (this.#failures === 0) this.#events.failed(kind, errorMessage(error));
    this.#failures += 1;
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (this.#failures - 1));
    const told = error instanceof SendError ? error.retryAfterMs : null;
    const ms = told ?? (kind === "unauthorized" ? UNAUTHORIZED_RETRY_MS : ceiling * this.#timing.random());
    this.#cancelRetry = this.#timing.setTimer(Math.min(ms, RETRY_MAX_MS), () => {
      this.#cancelRetry = null;
      this.wake();
    });
  }
}

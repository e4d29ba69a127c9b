import { type Backoff, backoffMs } from "./backoff.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { type FailureKind, SendError } from "./send-error.ts";
import type { SetTimer } from "./timer.ts";

export interface DeliveryEvents {
  /** Sending has started to fail. Called once until recovered(), not once per attempt. */
  failed(kind: FailureKind, reason: string): void;
  recovered(): void;
}

export interface DeliveryTiming {
  readonly setTimer: SetTimer;
  readonly random: () => number;
  /** Milliseconds since 1970; by default this machine's clock. */
  readonly now?: () => number;
}

const RETRY: Backoff = { firstMs: 1_000, lastMs: 5 * 60_000, jitter: 1 };
/** Delay after a refused key. The refusal lasts until a user replaces the key. */
const UNAUTHORIZED_RETRY_MS = 60_000;

/** Sends queued items of the spool until the queue is empty. Retries without end, with backoff, after a failure. */
export class DeliveryLoop {
  readonly #sendNext: () => Promise<boolean>;
  readonly #events: DeliveryEvents;
  readonly #timing: DeliveryTiming;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #failures = 0;
  #cancelRetry: (() => void) | null = null;
  /** Whether the retry waits by backoff, not for a Retry-After or a new key. */
  #isBackoff = false;
  #stopped = false;

  /** `sendNext` sends a batch if there is one, and returns whether more items may wait. It throws if sending fails. */
  constructor(sendNext: () => Promise<boolean>, events: DeliveryEvents, timing: DeliveryTiming) {
    this.#sendNext = sendNext;
    this.#events = events;
    this.#timing = timing;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Sends what is queued. Does nothing while a retry is scheduled. */
  wake(): void {
    if (this.#stopped || this.#cancelRetry !== null) return;
    this.#isWoken = true;
    this.#running ??= this.#run();
  }

  /** Reports that the receiver responds to another request: a backoff ends now. A Retry-After stays. */
  responded(): void {
    if (this.#isBackoff) {
      this.#cancelRetry?.();
      this.#cancelRetry = null;
    }
    this.wake();
  }

  /** Reports that the receiver has accepted an item. */
  succeeded(): void {
    if (this.#failures > 0) this.#events.recovered();
    this.#failures = 0;
  }

  /** Stops after the batch under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWoken && !this.#stopped) {
        this.#isWoken = false;
        // wake() during this loop starts another one, because its item may be queued after the last read.
        while ((await this.#sendNext()) && !this.#stopped);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      // Now, not when the promise resolves: a wake in between would be lost.
      this.#running = null;
    }
  }

  #fail(error: unknown): void {
    const kind = error instanceof SendError ? error.kind : "transient";
    if (this.#failures === 0) this.#events.failed(kind, errorMessage(error));
    this.#failures += 1;
    const ms = Math.min(this.#delayMs(error, kind), RETRY.lastMs);
    this.#isBackoff = kind !== "unauthorized" && !(error instanceof SendError && error.retryAfterMs !== null);
    this.#cancelRetry = this.#timing.setTimer(ms, () => {
      this.#cancelRetry = null;
      this.wake();
    });
  }

  #delayMs(error: unknown, kind: FailureKind): number {
    if (error instanceof SendError && error.retryAfterMs !== null) return error.retryAfterMs;
    return kind === "unauthorized" ? UNAUTHORIZED_RETRY_MS : backoffMs(this.#failures, RETRY, this.#timing.random);
  }
}

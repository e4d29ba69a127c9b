import type { Logger } from "pino";
import { messageId } from "../../dashboard/types/settings/webhooks.ts";
import { GONE, sendWebhook } from "./send.ts";
import {
  type ClaimedAttempt,
  claimDeliveries,
  dueWebhooks,
  endAttempt,
  pruneDeliveries,
} from "../../records/webhooks/deliveries.ts";
import { pruneFeeds } from "../../records/webhooks/feed-pruning.ts";
import { SteadyTime } from "../../database/steady-time.ts";
import { continueTrace, inTrace, type Trace } from "../../../shared/network/trace.ts";
import type { Store } from "../../database/store.ts";
import { nextStep } from "./schedule.ts";

/** Interval of the look for events. The transactions of other servers and commands write some. */
const CHECK_MS = 1000;

/** A webhook's simultaneous requests, so that a slow receiver holds up its own events alone. */
const LANES = 4;

/** Time after which another server repeats an attempt without an end. Longer than any request. */
const LEASE_MS = 60_000;

/** Time for which ended deliveries stay in the log, and events in the feed. */
const KEPT_MS = 30 * 86_400_000;
const PRUNE_MS = 3_600_000;

/** Time without a success after which a webhook pauses itself. */
const FAILING_MS = 3 * 86_400_000;

export interface DispatcherOptions {
  readonly logger: Logger;
  /** Allows receivers in the local network. */
  readonly allowPrivate: boolean;
  readonly now?: () => number;
  /** The time by which ended deliveries are removed. */
  readonly steady?: Pick<SteadyTime, "now">;
  /** From 0 to 1, spreads the retries. */
  readonly random?: () => number;
  readonly send?: typeof sendWebhook;
  /** The lease of what one server removes for all. By default no other server does. */
  readonly lease?: { readonly isHeld: boolean };
  /** Gets each attempt, for traces. */
  readonly attempted?: (attempt: Attempted) => void;
  /** Removes what else is old. It gets the time of that clock. */
  readonly prune?: (now: number) => Promise<void>;
}

/** One request to a receiver. */
export interface Attempted {
  readonly trace: Trace;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  readonly ms: number;
  /** Null without a response. */
  readonly status: number | null;
  readonly isError: boolean;
}

/** Sends the events of webhooks. Every server runs one. */
export class WebhookDispatcher {
  readonly #store: Store;
  readonly #options: Required<DispatcherOptions>;
  readonly #sending = new Map<number, Set<Promise<void>>>();
  #timer: NodeJS.Timeout | undefined;
  #check: Promise<void> | undefined;
  #isStopped = false;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, options: DispatcherOptions) {
    this.#store = store;
    const { now = Date.now } = options;
    const steady = new SteadyTime({ wall: now });
    const defaults = { random: Math.random, send: sendWebhook, lease: { isHeld: true }, prune: async () => undefined };
    this.#options = { now, steady, attempted: () => undefined, ...defaults, ...options };
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  /** Starts what is due. Resolves once it has started. Never rejects. */
  async check(): Promise<void> {
    this.#check ??= this.#begin()
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, "the events of webhooks could not be read"))
      .finally(() => (this.#check = undefined));
    return this.#check;
  }

  /** Starts nothing more, and waits for the requests under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#check;
    await Promise.all([...this.#sending.values()].flatMap((requests) => [...requests]));
  }

  async #begin(): Promise<void> {
    const now = this.#options.now();
    const steady = this.#options.steady.now();
    if (steady !== null && this.#options.lease.isHeld && Math.abs(steady - this.#prunedAt) >= PRUNE_MS) {
      this.#prunedAt = steady;
      await pruneDeliveries(this.#store, { before: steady - KEPT_MS, now: steady });
      await pruneFeeds(this.#store, { before: steady - KEPT_MS, now: steady });
      await this.#options.prune(steady);
    }
    for (const webhookId of await dueWebhooks(this.#store, now)) {
      const requests = this.#sending.get(webhookId) ?? new Set();
      const limit = LANES - requests.size;
      if (limit <= 0 || this.#isStopped) continue;
      this.#sending.set(webhookId, requests);
      for (const attempt of await claimDeliveries(this.#store, { webhookId, now, leaseMs: LEASE_MS, limit })) {
        const trace = continueTrace(attempt.traceparent);
        const request = inTrace(trace, () => this.#attempt(attempt, trace)).finally(() => {
          requests.delete(request);
          if (requests.size === 0) this.#sending.delete(webhookId);
          // The next event of the webhook need not wait for the timer.
          if (!this.#isStopped) setImmediate(() => void this.check());
        });
        requests.add(request);
      }
    }
  }

  async #attempt(attempt: ClaimedAttempt, trace: Trace): Promise<void> {
    const { now, random, send, allowPrivate, logger, steady, attempted } = this.#options;
    const [begunAt, begun] = [Date.now(), performance.now()];
    const { deliveryId, number, webhookPublicId: webhook } = attempt;
    try {
      const outcome = await send(attempt, messageOf(attempt), { allowPrivate, now });
      const { status } = outcome;
      attempted({ trace, begunAt, ms: performance.now() - begun, status, isError: !outcome.delivered });
      const [why, leastMs] = outcome.delivered ? [null, 0] : [outcome.why, outcome.retryAfterMs ?? 0];
      const ended = { deliveryId, number, now: now(), status, why, isGone: status === GONE };
      const trusted = steady.now();
      const failingBefore = trusted === null ? null : trusted - FAILING_MS;
      const step = nextStep(outcome.delivered, number, { now: ended.now, random: random(), leastMs });
      const code = await endAttempt(this.#store, { ...ended, ...step, failingBefore });
      if (code !== null) logger.warn({ webhook, code }, "a webhook paused itself: a person must resume it");
    } catch (error) {
      // The lease ends, and the message is repeated.
      logger.warn({ err: error, delivery: deliveryId }, "the end of a webhook's attempt could not be stored");
    }
  }
}

/** Makes the message of an attempt. Every attempt of a delivery makes the same one. */
function messageOf({ deliveryId, webhookPublicId, type, fp, changedAt }: ClaimedAttempt): { id: string; body: string } {
  const body = JSON.stringify({ type, timestamp: new Date(changedAt).toISOString(), data: { fp } });
  return { id: messageId(webhookPublicId, { id: deliveryId, changedAt }), body };
}

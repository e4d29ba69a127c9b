import type { Logger } from "pino";
import { SteadyTime } from "../../database/steady-time.ts";
import type { Store } from "../../database/store.ts";
import { ofServer, type StoredDestination } from "../../records/destinations/destinations.ts";
import { endAttempt, nextDelivery, pruneDestinations, type Render } from "../../records/destinations/queue.ts";
import { Line, type LineOptions } from "./line.ts";

/** Interval of the look for deliveries. The transactions of other servers and commands write some. */
const CHECK_MS = 1000;

/** Time after which another server repeats an attempt without an end. Longer than any attempt. */
const LEASE_MS = 120_000;

const PRUNE_MS = 3_600_000;

/** Time that messages in flight get when the server stops. After it they are sent again at the next start. */
const STOP_MS = 5000;

/** Max characters of a receiver's words. */
const TEXT_CHARS_MAX = 500;

export interface DispatcherOptions extends LineOptions {
  readonly logger: Logger;
  readonly render: Render;
  readonly now?: () => number;
  /** The time by which ended deliveries are removed. */
  readonly steady?: Pick<SteadyTime, "now">;
  /** The lease of what one server removes for all. By default no other server does. */
  readonly lease?: { readonly isHeld: boolean };
}

/** Sends to the destinations that the server reaches itself, one message at a time to each. Every server runs one. */
export class DestinationDispatcher {
  readonly #store: Store;
  readonly #options: DispatcherOptions & Required<Pick<DispatcherOptions, "now" | "steady">>;
  /** The destinations that are being sent to. */
  readonly #running = new Map<number, Promise<void>>();
  readonly #lines = new Set<Line>();
  #timer: NodeJS.Timeout | undefined;
  #check: Promise<void> | undefined;
  #isStopped = false;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, options: DispatcherOptions) {
    this.#store = store;
    const { now = Date.now } = options;
    this.#options = { ...options, now, steady: options.steady ?? new SteadyTime({ wall: now }) };
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  /** Starts what is due. Resolves once it has started. Never rejects. */
  async check(): Promise<void> {
    this.#check ??= this.#begin()
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, "the destinations could not be read"))
      .finally(() => (this.#check = undefined));
    return this.#check;
  }

  /** Resolves once nothing is sent any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Starts nothing more, and waits for the messages in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#check;
    const timer = setTimeout(() => {
      for (const line of this.#lines) line.close();
    }, STOP_MS);
    await this.settled();
    clearTimeout(timer);
  }

  async #begin(): Promise<void> {
    const steady = this.#options.steady.now();
    const isRemover = this.#options.lease?.isHeld ?? true;
    if (steady !== null && isRemover && Math.abs(steady - this.#prunedAt) >= PRUNE_MS) {
      this.#prunedAt = steady;
      await this.#store.transaction((session) => pruneDestinations(session, steady));
    }
    for (const destination of await this.#store.all(ofServer, {})) {
      const { id } = destination;
      if (this.#running.has(id) || this.#isStopped) continue;
      this.#running.set(
        id,
        this.#drain(destination).finally(() => this.#running.delete(id)),
      );
    }
  }

  /** Sends what is due over one connection. */
  async #drain(destination: StoredDestination): Promise<void> {
    const { now, render, logger } = this.#options;
    const line = new Line(destination.address ?? "", this.#options);
    this.#lines.add(line);
    try {
      while (!this.#isStopped) {
        const next = await nextDelivery(this.#store, destination, { now: now(), leaseMs: LEASE_MS, render });
        if ("waitMs" in next) break;
        const { deliveryId, number, payload } = next;
        const { outcome, code, text } = await line.send(payload);
        const ended = { destinationId: destination.id, deliveryId, number, now: now(), outcome, code };
        const words = text?.slice(0, TEXT_CHARS_MAX) ?? null;
        await this.#store.transaction((session) => endAttempt(session, { ...ended, text: words }), {
          repeatable: true,
        });
        // A pause or a change by a user counts for the next message.
        if (outcome === "failed" || !(await this.#isSame(destination))) break;
      }
    } catch (error) {
      // The lease ends, and the message is sent again.
      logger.warn({ err: error, destination: destination.public_id }, "a delivery could not be read or stored");
    } finally {
      line.close();
      this.#lines.delete(line);
    }
  }

  async #isSame({ id, address, options }: StoredDestination): Promise<boolean> {
    const rows = await this.#store.all(ofServer, {});
    return rows.some((row) => row.id === id && row.address === address && row.options === options);
  }
}

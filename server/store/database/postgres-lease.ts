import { setTimeout as sleep } from "node:timers/promises";
import { NodeLost } from "./postgres-client.ts";

// The lease of a primary. A primary that was cut off, or frozen and resumed, still responds to reads after another node took over.
// It gets no commit acknowledged, because each commit waits for a synchronous standby. So a read holds only with a recent commit.

/** Time for which a commit proves that its node is the primary, in ms. Patroni promotes another node later than that. */
export const LEASE_MS = 2000;

/** Max time that reads wait for the commit of a renewal, in ms. */
const RENEWAL_WAIT_MS = 5000;

export class Lease {
  readonly #ms: number;
  readonly #commit: () => Promise<void>;
  #until = 0;
  #renewal: Promise<void> | undefined;

  /** `commit` makes a commit that waits for the standby. */
  constructor(ms: number, commit: () => Promise<void>) {
    this.#ms = ms;
    this.#commit = commit;
  }

  /** Notes an acknowledged commit. `sentAt` is the monotonic time before it was sent. */
  note(sentAt: number): void {
    this.#until = Math.max(this.#until, sentAt + this.#ms);
  }

  /** Resolves if the node was the primary when the reads before this call ended. @throws NodeLost if it may not have been */
  async confirm(): Promise<void> {
    const left = this.#until - performance.now();
    if (left > 0) {
      // Renewed ahead of its end, so that hardly any read waits.
      if (left < this.#ms / 2) this.#renew().catch(() => undefined);
      return;
    }
    const isUnderWay = this.#renewal !== undefined;
    await this.#wait();
    // A renewal that began before the read ended proves less than one that begins now.
    if (isUnderWay && performance.now() >= this.#until) await this.#wait();
  }

  async #wait(): Promise<void> {
    const ended = new AbortController();
    const late = sleep(RENEWAL_WAIT_MS, undefined, { signal: ended.signal }).then(() => {
      throw new NodeLost(
        "no commit was acknowledged in time: a synchronous standby is missing, or another node took over",
      );
    });
    // The aborted timer rejects.
    late.catch(() => undefined);
    try {
      await Promise.race([this.#renew(), late]);
    } finally {
      ended.abort();
    }
  }

  /** Shared by all reads of the time. */
  #renew(): Promise<void> {
    this.#renewal ??= this.#commitNow().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #commitNow(): Promise<void> {
    const sentAt = performance.now();
    await this.#commit();
    this.note(sentAt);
  }
}

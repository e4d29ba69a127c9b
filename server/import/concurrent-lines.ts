/** Max lines that are stored concurrently. */
const LINES_AT_ONCE = 64;

/** Stores lines with different subjects concurrently, so that they share the round trips to a remote database. */
export class ConcurrentLines {
  #pending = new Map<string, Promise<void>>();
  #failure: { error: unknown } | null = null;

  /** Starts the work, after the work on the same subject. */
  async run(subject: string, work: () => Promise<void>): Promise<void> {
    if (this.#pending.size === LINES_AT_ONCE || this.#pending.has(subject)) await this.finish();
    this.#pending.set(
      subject,
      work().catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Waits for all work, failed or not, because no query may outlive its transaction. @throws the first error */
  async finish(): Promise<void> {
    await Promise.all(this.#pending.values());
    this.#pending.clear();
    if (this.#failure !== null) throw this.#failure.error;
  }
}

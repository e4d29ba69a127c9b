const LINES_AT_ONCE = 64;

/** Stores lines together where each has a subject of its own: a database across a network is waited for once for many. */
export class ConcurrentLines {
  #underWay = new Map<string, Promise<void>>();
  #failure: { error: unknown } | null = null;

  async run(subject: string, work: () => Promise<void>): Promise<void> {
    if (this.#underWay.size === LINES_AT_ONCE || this.#underWay.has(subject)) await this.finish();
    this.#underWay.set(
      subject,
      work().catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Waits for all, also when one fails: nobody may ask anything of a transaction that is over. */
  async finish(): Promise<void> {
    await Promise.all(this.#underWay.values());
    this.#underWay.clear();
    if (this.#failure !== null) throw this.#failure.error;
  }
}

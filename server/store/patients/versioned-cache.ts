/** Keeps what was built from a list until the list has another version. The least recently used value is evicted. */
export class VersionedCache<Value> {
  readonly #entries = new Map<string, { version: number; value: Promise<Value> }>();
  readonly #max: number;

  /** `max` is the number of values. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Read `version` before the call, so that a later change invalidates the entry. */
  async find(name: string, version: number, build: () => Promise<Value>): Promise<Value> {
    const cached = this.#entries.get(name);
    const entry = cached?.version === version ? cached : { version, value: build() };
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
      throw error;
    }
  }
}

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
    const value = this.get(name, version) ?? build();
    this.set(name, version, value);
    try {
      return await value;
    } catch (error) {
      if (this.#entries.get(name)?.value === value) this.#entries.delete(name);
      throw error;
    }
  }

  /** @returns undefined unless a value of this version is kept */
  get(name: string, version: number): Promise<Value> | undefined {
    const cached = this.#entries.get(name);
    return cached?.version === version ? cached.value : undefined;
  }

  /** Read `version` before the value. */
  set(name: string, version: number, value: Promise<Value>): void {
    this.#entries.delete(name);
    this.#entries.set(name, { version, value });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** The end of the server as its requests see it. */
export class Drain {
  #hasBegun = false;
  readonly #listeners: (() => void)[] = [];

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** From now on the server is not ready, and each response requests the end of its connection. */
  begin(): void {
    this.#hasBegun = true;
    for (const listener of this.#listeners) listener();
  }

  onBegin(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

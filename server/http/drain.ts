/** The end of the server as its requests see it. */
export class Drain {
  #hasBegun = false;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** From now on the server is not ready, and each response requests the end of its connection. */
  begin(): void {
    this.#hasBegun = true;
  }
}

/**
 * Bytes of one device that its links have not received yet. Every open wire may reach its own bound, so only the closed wires of
 * a peer that connects over and over exceed this one.
 */
export const DEVICE_PENDING_BYTES_MAX = 16 * 1024 * 1024;

/** Counts the pending bytes of one device over all its wires. A closed wire still stores what it has read. */
export class PendingBytes {
  #bytes = 0;
  /** Wires that wait until the count is within its bound. */
  readonly #waiting = new Set<() => void>();

  get isTooMuch(): boolean {
    return this.#bytes > DEVICE_PENDING_BYTES_MAX;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
    for (const resume of this.#waiting) {
      if (this.isTooMuch) return;
      this.#waiting.delete(resume);
      resume();
    }
  }

  /** Calls `resume` once, when the count is within its bound. */
  whenLess(resume: () => void): void {
    this.#waiting.add(resume);
  }
}

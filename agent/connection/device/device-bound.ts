/** Delivered but unfiled messages of one device. Beyond it the agent pauses its wires and holds back its replies. */
export const UNFILED_MAX = 256;
/**
 * Bytes of one device that its links have not received yet. Every open wire may reach its own bound, so only the closed wires of
 * a peer that connects over and over exceed this one.
 */
export const DEVICE_PENDING_BYTES_MAX = 16 * 1024 * 1024;

/** Counts over all wires of a device, closed ones included, so that a reconnecting peer does not start at 0. */
export class DeviceBound {
  readonly #max: number;
  #count = 0;
  /** Wires that wait until the count is within its bound. */
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  get isExceeded(): boolean {
    return this.#count > this.#max;
  }

  add(count: number): void {
    this.#count += count;
  }

  /** Resumes waiting wires, the longest wait first, as long as the count allows. */
  remove(count: number): void {
    this.#count -= count;
    for (const resume of this.#waiting) {
      if (this.isExceeded) return;
      this.#waiting.delete(resume);
      resume();
    }
  }

  /** Calls `resume` once, when the count is within its bound. A wire that waits already keeps its place. */
  whenWithin(resume: () => void): void {
    this.#waiting.add(resume);
  }
}

/** Delivered but unfiled messages of one device. Beyond it the agent pauses its wires and holds back its replies. */
export const UNFILED_MAX = 256;

/** Counts the unfiled messages of one device over all its wires, so that a reconnecting peer does not start at 0. */
export class UnfiledMessages {
  #count = 0;
  /** Wires that wait until the count is within its bound. */
  readonly #waiting = new Set<() => void>();

  get isTooMany(): boolean {
    return this.#count > UNFILED_MAX;
  }

  add(): void {
    this.#count += 1;
  }

  /** Resumes waiting wires in the order in which they began to wait, as long as the count allows. */
  remove(): void {
    this.#count -= 1;
    for (const resume of this.#waiting) {
      if (this.isTooMany) return;
      this.#waiting.delete(resume);
      resume();
    }
  }

  /** Calls `resume` once, when the count is within its bound. A wire that waits already keeps its place. */
  whenFew(resume: () => void): void {
    this.#waiting.add(resume);
  }
}

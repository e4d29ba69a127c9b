/**
 * Uncommitted bytes of one device in the spool. Beyond it, further events of the device wait for a later group. A message with
 * a picture of 100 kB fits into one.
 */
export const UNCOMMITTED_BYTES_MAX = 128 * 1024;

/**
 * One device's share of the group commits. Every other device waits for the group too, so the flood of one device must not
 * fill it.
 */
export class CommitShare {
  #bytes = 0;
  /** The calls of all wires of the device, the first one first. */
  readonly #waiting: { readonly bytes: number; readonly append: () => void }[] = [];

  /** Calls `append` as soon as the share has room: now, or after the commit of earlier events. remove() follows that commit. */
  add(bytes: number, append: () => void): void {
    this.#waiting.push({ bytes, append });
    this.#appendNext();
  }

  /** Notes that an event is committed or refused. */
  remove(bytes: number): void {
    this.#bytes -= bytes;
    this.#appendNext();
  }

  #appendNext(): void {
    while (this.#bytes < UNCOMMITTED_BYTES_MAX) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#bytes += next.bytes;
      next.append();
    }
  }
}

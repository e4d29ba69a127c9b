/** Bytes that unfinished messages of all devices may take. Beyond it the agent refuses chunks of long messages. */
const BUDGET_BYTES_MAX = 128 * 1024 * 1024;
/** An unfinished message of at most this many bytes grows even while the budget is exceeded. */
const SHARE_BYTES_MIN = 1024 * 1024;

/** Memory of unfinished messages, counted over the wires of all devices. */
export class MemoryBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = BUDGET_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @returns the share of one wire, 0 bytes at first */
  share(): MemoryShare {
    let own = 0;
    return {
      set: (bytes) => {
        this.#bytes += bytes - own;
        own = bytes;
      },
      isExceeded: () => this.#bytes > this.#bytesMax && own > SHARE_BYTES_MIN,
    };
  }
}

export interface MemoryShare {
  /** Replaces the number of bytes that the wire uses. */
  set(bytes: number): void;
  /** @returns true if the budget is exceeded and the message on this wire is long */
  isExceeded(): boolean;
}

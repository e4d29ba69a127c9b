import { CR, LF, NUL, STX, XOFF, XON } from "./bytes.ts";
import type { LinkAction, NoiseRun } from "./link.ts";

// Bytes outside any message. A run of them is one warning, for any division into chunks.

/** Silence that ends a run, in milliseconds, if nothing else ends it. */
export const NOISE_TIMEOUT_MS = 1_000;
/** Max bytes of one warning; a longer run is reported in pieces. A line at the wrong baud rate may never be silent. */
export const NOISE_BYTES_MAX = 64 * 1024;
/** Bytes kept from the start of a run: enough to detect a protocol. */
const HEAD_BYTES = 512;

/** Returns whether the byte is a line end, a break or flow control. Many lines carry these between messages. */
export function isUsualBetweenMessages(byte: number): boolean {
  return byte === NUL || byte === CR || byte === LF || byte === XON || byte === XOFF;
}

export class Noise {
  /** Position of the bytes, for the warning: `outside a session`. */
  readonly #where: string;
  #bytes = 0;
  #head: number[] = [];
  /** An STX that starts the next run. */
  #hasIdleStx = false;

  constructor(where: string) {
    this.#where = where;
  }

  get isPending(): boolean {
    return this.#bytes > 0;
  }

  /** Adds an STX. Alone it is not noise: a BC-5800 sends one every 3 s. Before other bytes it proves their protocol. */
  addStx(): LinkAction | null {
    if (this.isPending) return this.add(STX);
    this.#hasIdleStx = true;
    return null;
  }

  /**
   * Adds a byte. One that is usual between messages is not noise, but a run keeps it, because a checksum may cover it.
   * @returns the warning when the run has reached its max length, else null
   */
  add(byte: number): LinkAction | null {
    if (isUsualBetweenMessages(byte)) {
      this.#hasIdleStx = false; // the heartbeat had a line end
      if (this.isPending && this.#head.length < HEAD_BYTES) this.#head.push(byte);
      return null;
    }
    const bytes = this.#hasIdleStx ? [STX, byte] : [byte];
    this.#hasIdleStx = false;
    if (this.#head.length < HEAD_BYTES) this.#head.push(...bytes);
    this.#bytes += bytes.length;
    return this.#bytes >= NOISE_BYTES_MAX ? this.end() : null;
  }

  /** Ends the run. @returns its warning; null without one */
  end(): LinkAction | null {
    this.#hasIdleStx = false;
    if (this.#bytes === 0) return null;
    const noise = { bytes: this.#bytes, head: Uint8Array.from(this.#head) };
    this.#bytes = 0;
    this.#head = [];
    return noiseWarning(noise, this.#where);
  }
}

function noiseWarning(noise: NoiseRun, where: string): LinkAction {
  const { bytes } = noise;
  return { do: "warn", reason: `${bytes} byte${bytes === 1 ? "" : "s"} ${where}: ignored`, noise };
}

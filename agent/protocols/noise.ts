import { CR, LF, NUL, XOFF, XON } from "./bytes.ts";
import type { LinkAction, NoiseRun } from "./link.ts";

// Bytes that belong to no message. A run of them is one warning, whatever chunks it came in.

/** A run ends with this much silence, in milliseconds, where nothing else ends it. */
export const NOISE_TIMEOUT_MS = 1_000;
/** A longer run is reported in pieces of so many bytes: a line at the wrong baud rate may never fall silent. */
export const NOISE_BYTES_MAX = 64 * 1024;
/** Kept of the beginning of a run: enough to recognise a protocol by. */
const HEAD_BYTES = 512;

/** Line ends, breaks and flow control stand between messages on many lines and mean nothing there. */
export function isUsualBetweenMessages(byte: number): boolean {
  return byte === NUL || byte === CR || byte === LF || byte === XON || byte === XOFF;
}

export class Noise {
  /** Where the bytes stood: `outside a session`. */
  readonly #where: string;
  #bytes = 0;
  #head: number[] = [];

  constructor(where: string) {
    this.#where = where;
  }

  get isPending(): boolean {
    return this.#bytes > 0;
  }

  /** @returns the warning when the run has reached its bound, else null */
  add(byte: number): LinkAction | null {
    if (this.#bytes < HEAD_BYTES) this.#head.push(byte);
    this.#bytes += 1;
    return this.#bytes === NOISE_BYTES_MAX ? this.take() : null;
  }

  /** Ends the run. @returns its warning, null if there is none */
  take(): LinkAction | null {
    if (this.#bytes === 0) return null;
    const noise = { bytes: this.#bytes, head: Uint8Array.from(this.#head) };
    this.#bytes = 0;
    this.#head = [];
    return noiseWarning(noise, this.#where);
  }
}

export function noiseWarning(noise: NoiseRun, where: string): LinkAction {
  const { bytes } = noise;
  return { do: "warn", reason: `${bytes} byte${bytes === 1 ? "" : "s"} ${where}: ignored`, noise };
}

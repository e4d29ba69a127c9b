import { protocolOf } from "../../devices/detection/foreign-protocol.ts";
import { concat, hexByte } from "../../protocols/bytes.ts";
import type { NoiseRun } from "../../protocols/link.ts";
import type { NoiseState } from "../../states/noise-state.ts";

/** Bytes kept to detect a protocol. A device that waits for ACK sends one ENQ per run. */
const NEWEST_BYTES = 512;
const SAMPLE_BYTES = 64;

/** Noise of one device: sums up its runs, which may have one byte each. */
export class DeviceNoise {
  #state: NoiseState | null = null;
  #newest: Uint8Array = new Uint8Array(0);

  get state(): NoiseState | null {
    return this.#state;
  }

  /** Adds a run. Noise before the last message is forgotten. @returns the sum */
  add(run: NoiseRun, at: number, lastMessageAt: number | null, address: string): NoiseState {
    const before = this.#state !== null && (lastMessageAt ?? 0) < this.#state.at ? this.#state : null;
    this.#newest = concat([...(before === null ? [] : [this.#newest]), run.head]).slice(-NEWEST_BYTES);
    this.#state = {
      bytes: (before?.bytes ?? 0) + run.bytes,
      runs: (before?.runs ?? 0) + 1,
      since: before?.since ?? at,
      at,
      sample: Array.from(this.#newest.subarray(0, SAMPLE_BYTES), hexByte).join(" "),
      protocol: protocolOf(run.head) ?? protocolOf(this.#newest),
      address,
    };
    return this.#state;
  }
}

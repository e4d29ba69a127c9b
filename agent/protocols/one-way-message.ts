import { ActionQueue } from "./action-queue.ts";
import { ACK } from "./bytes.ts";
import type { LinkAction } from "./link.ts";
import { Noise, NOISE_TIMEOUT_MS } from "./noise.ts";

/** The message that a one-way link is reading. The link has no negative acknowledgement, so nothing can be refused. */
export class OneWayMessage {
  bytes: number[] = [];
  /** Why the message cannot be complete; null when no bytes are missing. */
  #damage: string | null = null;
  readonly #noise: Noise;
  readonly #actions = new ActionQueue();

  /** @param outside position of noise, for its warning: `outside a text` */
  constructor(outside: string) {
    this.#noise = new Noise(outside);
  }

  get hasNoise(): boolean {
    return this.#noise.isPending;
  }

  /** Adds a byte that belongs to no message. */
  ignore(byte: number): void {
    this.#actions.push(this.#noise.add(byte));
  }

  reportNoise(): void {
    this.#actions.push(this.#noise.end());
  }

  markDamaged(): void {
    this.#damage = "bytes of it could not be stored";
  }

  /**
   * Delivers the bytes and starts the next message. `incomplete`: why the message is cut short; null for a complete one.
   * @returns whether the message is complete
   */
  deliver(incomplete: string | null): boolean {
    const problem = this.#damage ?? incomplete;
    this.#actions.deliver(Uint8Array.from(this.bytes), problem);
    this.bytes = [];
    this.#damage = null;
    return problem === null;
  }

  /** Sends ACK, for a device that waits for one after each message. */
  acknowledge(): void {
    this.#actions.reply(Uint8Array.of(ACK));
  }

  /** @param timerMs how long the rest of the message may take; null between messages */
  drainActions(timerMs: number | null): LinkAction[] {
    const ms = timerMs ?? (this.hasNoise ? NOISE_TIMEOUT_MS : null);
    if (ms === null) this.#actions.stopTimer();
    else this.#actions.startTimer(ms);
    return this.#actions.drain();
  }
}

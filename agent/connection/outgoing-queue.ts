import type { SetTimer } from "../runtime/timer.ts";

/** Messages that wait for one device. A further one is discarded, because a device waits for its reply before its next query. */
const OUTGOING_MAX = 20;
/** Attempts per message, after which the queue gives it up. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 5_000;

export interface OutgoingMessage {
  readonly bytes: Uint8Array;
  /** The device has accepted the complete message. */
  readonly sent: () => void;
  /** The device did not accept the message in ATTEMPTS_MAX attempts. */
  readonly givenUp: (reason: string) => void;
}

/** The messages for the device on one wire. The link holds at most the first one, and reports its outcome. */
export class OutgoingQueue {
  /** Gives the link the bytes of the first message. */
  readonly #offer: (bytes: Uint8Array) => void;
  readonly #warn: (reason: string) => void;
  readonly #setTimer: SetTimer;
  readonly #messages: OutgoingMessage[] = [];
  /** Attempts to send the first message. */
  #attempts = 0;
  #cancelRetry: (() => void) | null = null;

  constructor(offer: (bytes: Uint8Array) => void, warn: (reason: string) => void, setTimer: SetTimer) {
    this.#offer = offer;
    this.#warn = warn;
    this.#setTimer = setTimer;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  add(message: OutgoingMessage): void {
    if (this.#messages.length === OUTGOING_MAX) {
      this.#warn(`message not queued: ${OUTGOING_MAX} messages wait for the device already`);
      return;
    }
    this.#messages.push(message);
    if (this.#messages.length === 1) this.#offerFirst();
  }

  /** The link reports that the device accepted the first message. */
  sent(): void {
    const first = this.#removeFirst();
    this.#offerFirst();
    first?.sent();
  }

  /** The link reports that the device did not accept the first message. */
  unsent(reason: string): void {
    if (this.isEmpty) return;
    this.#warn(`message not sent: ${reason}`);
    if (this.#attempts < ATTEMPTS_MAX) {
      this.#cancelRetry = this.#setTimer(RETRY_MS, () => this.#offerFirst());
      return;
    }
    this.#warn(`message given up after ${ATTEMPTS_MAX} attempts`);
    const first = this.#removeFirst();
    this.#offerFirst();
    first?.givenUp(reason);
  }

  /** Discards all messages without a report. */
  clear(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#messages.length = 0;
  }

  #offerFirst(): void {
    const [first] = this.#messages;
    if (first === undefined) return;
    this.#attempts += 1;
    this.#offer(first.bytes);
  }

  #removeFirst(): OutgoingMessage | undefined {
    this.#attempts = 0;
    return this.#messages.shift();
  }
}

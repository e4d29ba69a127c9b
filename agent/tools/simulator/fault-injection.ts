import { setImmediate, setTimeout } from "node:timers/promises";
import { ACK, CR, ENQ, EOT, FS, NAK, STX, VT } from "../../protocols/bytes.ts";
import type { SimulatorLine } from "./line.ts";

// Injects faults into a line, reproducibly by a seed.

export interface Faults {
  /** Probability that the ACK of a frame is lost (HL7: the acknowledgment message), so that the frame is sent again. */
  readonly dropAck: number;
  /**
   * Probability that a bit of a new frame is flipped; the resend is intact. In HL7 the bit is one of MSH, because the rest
   * of a message has no checksum.
   */
  readonly flip: number;
  /** Max bytes of one write. */
  readonly splitBytes: number;
  /** Delay before each frame and each reply is sent, in ms. */
  readonly delayMs: number;
  /** Holds a message until the other side sends ENQ, then sends ENQ as well. */
  readonly contend: boolean;
  /** Sends noise before ENQ, each frame and EOT. */
  readonly noise: boolean;
  /** Sends every frame twice. */
  readonly dup: boolean;
}

const NO_FAULTS: Faults = {
  dropAck: 0,
  flip: 0,
  splitBytes: Number.POSITIVE_INFINITY,
  delayMs: 0,
  contend: false,
  noise: false,
  dup: false,
};

const KNOWN = "drop-ack:P, flip:P, split:BYTES, delay:MS, contend, noise, dup";

/** Reads `drop-ack:0.1,split:1,contend`. @throws Error with a sentence */
export function parseFaults(list: string): Faults {
  let faults = NO_FAULTS;
  for (const item of list.split(",")) {
    const [name = "", value, ...rest] = item.trim().split(":");
    if (rest.length > 0) throw new Error(`--faults has ${item.trim()}, expected one colon at most`);
    switch (name) {
      case "drop-ack":
        faults = { ...faults, dropAck: probability(name, value) };
        break;
      case "flip":
        faults = { ...faults, flip: probability(name, value) };
        break;
      case "split":
        faults = { ...faults, splitBytes: wholeNumber(name, value, 1) };
        break;
      case "delay":
        faults = { ...faults, delayMs: wholeNumber(name, value, 0) };
        break;
      case "contend":
      case "noise":
      case "dup":
        if (value !== undefined) throw new Error(`--faults has ${item.trim()}, but ${name} takes no value`);
        faults = { ...faults, [name]: true };
        break;
      default:
        throw new Error(`--faults has ${name || "an empty name"}, expected ${KNOWN}`);
    }
  }
  return faults;
}

function probability(name: string, text = ""): number {
  const value = Number(text);
  if (text === "" || !(value >= 0 && value <= 1)) {
    throw new Error(`${name} is ${text || "not given"}, expected a probability from 0 to 1`);
  }
  return value;
}

function wholeNumber(name: string, text = "", least: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < least) {
    throw new Error(`${name} is ${text || "not given"}, expected a whole number of at least ${least}`);
  }
  return Number(text);
}

/** A line with faults; the same seed injects the same faults. */
export class FaultyLine implements SimulatorLine {
  readonly #line: SimulatorLine;
  readonly #faults: Faults;
  readonly #random: () => number;
  /** Resolves once all bytes sent so far are written; it keeps their order. */
  #sending: Promise<void> = Promise.resolve();
  #lastFrame = new Uint8Array(0);
  /** Whether the next byte is the reply to a frame. */
  #frameSent = false;
  /** Number of expected replies to duplicated frames; they are discarded. */
  #surplusReplies = 0;

  constructor(line: SimulatorLine, faults: Faults, seed: number) {
    this.#line = line;
    this.#faults = faults;
    this.#random = randomOf(seed);
  }

  get isOpen(): boolean {
    return this.#line.isOpen;
  }

  send(bytes: Uint8Array): void {
    this.#frameSent = bytes[0] === STX;
    const damaged = this.#damaged(bytes);
    this.#sending = this.#sending.then(() => this.#transmit(damaged));
  }

  async reply(ms: number): Promise<number | null> {
    await this.#sending;
    let byte = await this.#line.reply(ms);
    while (byte !== null && this.#surplusReplies > 0) {
      this.#surplusReplies -= 1;
      byte = await this.#line.reply(ms);
    }
    // A device that misses an ACK sends its frame again. The sender here would time out after 15 s, so it gets a NAK instead.
    if (byte === ACK && this.#frameSent && this.#random() < this.#faults.dropAck) return NAK;
    if (byte !== VT || this.#random() >= this.#faults.dropAck) return byte;
    for (let last = byte; ; ) {
      const next = await this.#line.reply(ms);
      if (next === null || (last === FS && next === CR)) return null;
      last = next;
    }
  }

  async close(): Promise<void> {
    await this.#sending;
    await this.#line.close();
  }

  #damaged(bytes: Uint8Array): Uint8Array {
    const { flip, dup, noise } = this.#faults;
    const first = bytes[0];
    let sent = bytes;
    if (first === STX || first === VT) {
      const isNew = Buffer.compare(bytes, this.#lastFrame) !== 0;
      this.#lastFrame = Uint8Array.from(bytes);
      if (isNew && this.#random() < flip) sent = this.#withBitFlipped(bytes);
      if (dup) {
        sent = Buffer.concat([sent, sent]);
        // An HL7 acknowledgment names its message, so a duplicate of it does no harm.
        if (first === STX) this.#surplusReplies += 1;
      }
    }
    const begins = first === STX || first === VT || first === ENQ || first === EOT;
    return noise && begins ? Buffer.concat([this.#noise(), sent]) : sent;
  }

  /** Flips a bit that makes no control character; a false end of frame would cost a timeout. */
  #withBitFlipped(frame: Uint8Array): Uint8Array {
    const printable = frame[0] === VT ? [1, 2, 3] : [...frame.keys()].filter((at) => frame[at]! >= 0x20);
    const at = printable[this.#below(printable.length)]!;
    const flipped = Uint8Array.from(frame);
    flipped[at] = flipped[at]! ^ (1 << this.#below(5));
    return flipped;
  }

  /** Makes noise without control characters; a receiver ignores such bytes between frames. */
  #noise(): Uint8Array {
    return Uint8Array.from({ length: 1 + this.#below(8) }, () => 0x20 + this.#below(0xe0));
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  async #transmit(bytes: Uint8Array): Promise<void> {
    const { delayMs, splitBytes } = this.#faults;
    if (delayMs > 0) await setTimeout(delayMs);
    for (let at = 0; at < bytes.length; at += splitBytes) {
      this.#line.send(bytes.subarray(at, at + splitBytes));
      // Writes within one turn of the event loop would be sent together.
      if (at + splitBytes < bytes.length) await setImmediate();
    }
  }
}

/** mulberry32: numbers from 0 to below 1, the same from the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

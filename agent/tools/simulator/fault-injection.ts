import { ACK, CR, ENQ, EOT, NAK, STX } from "../../protocols/bytes.ts";
import { FS, VT } from "../../protocols/bytes.ts";
import type { Line } from "./analyzer.ts";

// A line that goes wrong, so that a device's worst day can be played at will.

export interface Faults {
  /** The ACK of a frame, of HL7 the frame that answers it, gets lost with that probability: the frame is sent again. */
  readonly dropAck: number;
  /** A bit of a frame is flipped on its way, with that probability; after NAK it is sent right. HL7: of MSH, for the rest has no checksum. */
  readonly flip: number;
  /** What is sent leaves in writes of so many bytes. */
  readonly splitBytes: number;
  /** Every frame and every reply leaves so much later. */
  readonly delayMs: number;
  /** Holds a message until the other side says ENQ, and says ENQ at the same time. */
  readonly contend: boolean;
  /** Bytes that mean nothing stand before ENQ, each frame and EOT. */
  readonly noise: boolean;
  /** Every frame is sent twice. */
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

/** Reads `drop-ack:0.1,split:1,contend`. @throws with what is wrong with it */
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

/** A line that does to what passes what the faults say; the same seed does the same again. */
export class FaultyLine implements Line {
  readonly #line: Line;
  readonly #faults: Faults;
  readonly #random: () => number;
  /** What is on its way out, in order. */
  #sending: Promise<void> = Promise.resolve();
  #lastFrame = new Uint8Array(0);
  /** What was sent last is a frame: the next byte that comes is its reply. */
  #frameSent = false;
  /** Replies to the second copies of frames: the sender does not know that there were any. */
  #surplusReplies = 0;

  constructor(line: Line, faults: Faults, seed: number) {
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
    // A device that misses an ACK sends its frame again. Our sender would wait for 15 s and give up: NAK makes it do the same.
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
        // HL7 answers say what they answer.
        if (first === STX) this.#surplusReplies += 1;
      }
    }
    const begins = first === STX || first === VT || first === ENQ || first === EOT;
    return noise && begins ? Buffer.concat([this.#noise(), sent]) : sent;
  }

  /** Such a flip as makes no control character: what would look like an end of the frame is answered only after a timeout. */
  #withBitFlipped(frame: Uint8Array): Uint8Array {
    const printable = frame[0] === VT ? [1, 2, 3] : [...frame.keys()].filter((at) => frame[at]! >= 0x20);
    const at = printable[this.#below(printable.length)]!;
    const flipped = Uint8Array.from(frame);
    flipped[at] = flipped[at]! ^ (1 << this.#below(5));
    return flipped;
  }

  /** No control characters: between frames a receiver ignores the rest. */
  #noise(): Uint8Array {
    return Uint8Array.from({ length: 1 + this.#below(8) }, () => 0x20 + this.#below(0xe0));
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  async #transmit(bytes: Uint8Array): Promise<void> {
    const { delayMs, splitBytes } = this.#faults;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    for (let at = 0; at < bytes.length; at += splitBytes) {
      this.#line.send(bytes.subarray(at, at + splitBytes));
      // Writes of one turn would leave together.
      if (at + splitBytes < bytes.length) await new Promise((resolve) => setImmediate(resolve));
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

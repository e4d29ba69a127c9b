import { CR, ETB, LF, STX } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { OneWayMessage } from "../one-way-message.ts";

// Link of devices that only send: STX, text, ETX, without checksum; or a text that ends with words and begins with any byte. Most
// wait for no acknowledgement. A lost byte cannot be requested again, so the reader of the text has to prove that it is complete.

/** Max bytes of a text; the longest known has 2.5 kB. A longer one is delivered as incomplete. */
export const TEXT_BYTES_MAX = 64 * 1024;
/** Max silence within a text; then it is delivered as incomplete. Blocks of one text may be 2 s apart. */
export const SILENCE_MS = 15_000;

interface OneWayLinkOptions {
  /** Byte before a text; default STX. Null: a text begins with any byte but a line end. */
  readonly start?: number | null;
  /** Byte after a text, or the words at its end, which belong to it. */
  readonly end: number | Uint8Array;
  /** The device waits for one ACK after each text. An incomplete text gets none. */
  readonly isAcknowledged?: boolean;
}

export class OneWayLink implements Link {
  readonly #start: number | null;
  readonly #end: number | Uint8Array;
  readonly #isAcknowledged: boolean;
  /** Between texts, everything but the start byte is reported as noise. */
  #isInText = false;
  readonly #text = new OneWayMessage("outside a text");

  constructor({ start = STX, end, isAcknowledged = false }: OneWayLinkOptions) {
    this.#start = start;
    this.#end = end;
    this.#isAcknowledged = isAcknowledged;
  }

  get isIdle(): boolean {
    return !this.#isInText && !this.#text.hasNoise;
  }

  get between(): string | null {
    return this.#isInText ? null : "between texts";
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#drainActions();
  }

  refuse(): LinkAction[] {
    return this.gap();
  }

  gap(): LinkAction[] {
    if (this.#isInText) this.#text.markDamaged();
    return [];
  }

  timeout(): LinkAction[] {
    this.#text.reportNoise();
    this.#giveUp("the device fell silent before the end of its text");
    return this.#drainActions();
  }

  close(): LinkAction[] {
    this.#text.reportNoise();
    this.#giveUp("the connection closed before the end of the text");
    return this.#drainActions();
  }

  #step(byte: number): void {
    if (byte === this.#start) {
      // A block after the first may have a start byte of its own.
      if (this.#isInText && endsBlock(this.#text.bytes)) return;
      this.#text.reportNoise();
      this.#giveUp("a new text began before its end");
      this.#isInText = true;
    } else if (!this.#isInText && (this.#start !== null || byte === CR || byte === LF)) {
      this.#text.ignore(byte);
    } else if (byte === this.#end) {
      this.#deliver(null);
    } else if (this.#text.bytes.length >= TEXT_BYTES_MAX) {
      this.#giveUp(`a text of more than ${TEXT_BYTES_MAX} bytes`);
    } else {
      this.#isInText = true;
      this.#text.bytes.push(byte);
      if (typeof this.#end !== "number" && endsWith(this.#text.bytes, this.#end)) this.#deliver(null);
    }
  }

  #giveUp(incomplete: string): void {
    if (this.#text.bytes.length > 0) this.#deliver(incomplete);
    this.#isInText = false;
  }

  #deliver(incomplete: string | null): void {
    const isWhole = this.#text.deliver(incomplete);
    if (isWhole && this.#isAcknowledged) this.#text.acknowledge();
    this.#isInText = false;
  }

  #drainActions(): LinkAction[] {
    return this.#text.drainActions(this.#isInText ? SILENCE_MS : null);
  }
}

/** Returns whether the last byte is ETB, line ends aside. */
function endsBlock(text: readonly number[]): boolean {
  return text.findLast((byte) => byte !== CR && byte !== LF) === ETB;
}

function endsWith(text: readonly number[], words: Uint8Array): boolean {
  const start = text.length - words.length;
  return start >= 0 && words.every((byte, index) => text[start + index] === byte);
}

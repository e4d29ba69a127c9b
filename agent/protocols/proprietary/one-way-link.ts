import { CR, ETB, type ETX, LF, STX } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";

// Devices that only talk: STX, text, ETX, neither checksum nor acknowledgement. A lost byte cannot be asked for again, so
// the reader of the text has to prove it whole.

/** The end-of-file character, with which some devices end their text in place of ETX. */
export const SUB = 0x1a;

/** Far above the 2.5 kB of the longest text known; what runs on is delivered as incomplete. */
export const TEXT_BYTES_MAX = 64 * 1024;
/** Blocks of one text may come 2 s apart; after this much silence the text is given up. */
export const SILENCE_MS = 15_000;

export class OneWayLink implements Link {
  readonly #end: number;
  /** null: between texts, where everything but STX is ignored, and reported. */
  #text: number[] | null = null;
  /** Why what is being read cannot be whole. */
  #damage: string | null = null;
  readonly #noise = new Noise("outside a text");
  #actions: LinkAction[] = [];

  constructor(end: typeof ETX | typeof SUB) {
    this.#end = end;
  }

  get atRest(): boolean {
    return this.#text === null && !this.#noise.isPending;
  }

  get between(): string | null {
    return this.#text === null ? "between texts" : null;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#takeActions();
  }

  /** There is nobody to refuse: what was being read is no longer whole. */
  refuse(): LinkAction[] {
    return this.gap();
  }

  gap(): LinkAction[] {
    if (this.#text !== null) this.#damage = "bytes of it could not be stored";
    return [];
  }

  timeout(): LinkAction[] {
    this.#say(this.#noise.take());
    this.#giveUp("the device fell silent before the end of its text");
    return this.#takeActions();
  }

  close(): LinkAction[] {
    this.#say(this.#noise.take());
    this.#giveUp("the connection closed before the end of the text");
    return this.#takeActions();
  }

  #step(byte: number): void {
    if (byte === STX) {
      // A block after the first may begin with an STX of its own.
      if (this.#text !== null && endsBlock(this.#text)) return;
      this.#say(this.#noise.take());
      this.#giveUp("a new text began before its end");
      this.#text = [];
    } else if (this.#text === null) {
      if (!isUsualBetweenMessages(byte)) this.#say(this.#noise.add(byte));
    } else if (byte === this.#end) {
      this.#deliver(this.#text, this.#damage);
    } else if (this.#text.length >= TEXT_BYTES_MAX) {
      this.#giveUp(`a text of more than ${TEXT_BYTES_MAX} bytes`);
    } else {
      this.#text.push(byte);
    }
  }

  #giveUp(incomplete: string): void {
    if (this.#text === null) return;
    if (this.#text.length > 0) this.#deliver(this.#text, this.#damage ?? incomplete);
    this.#text = null;
    this.#damage = null;
  }

  #deliver(text: readonly number[], incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message: Uint8Array.from(text), incomplete });
    this.#text = null;
    this.#damage = null;
  }

  #say(action: LinkAction | null): void {
    if (action !== null) this.#actions.push(action);
  }

  #takeActions(): LinkAction[] {
    const actions = this.#actions;
    this.#actions = [];
    const ms = this.#text !== null ? SILENCE_MS : this.#noise.isPending ? NOISE_TIMEOUT_MS : null;
    return [...actions, { do: "timer", ms }];
  }
}

/** ETB, and at most a line end behind it, came last. */
function endsBlock(text: readonly number[]): boolean {
  return text.findLast((byte) => byte !== CR && byte !== LF) === ETB;
}

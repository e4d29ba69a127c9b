import { CR, LF } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";

// LIS02 records sent as plain lines, without the frames of E1381: a message begins with a line H and ends with the line L.
// There is neither checksum nor acknowledgement.

/** What runs on beyond this is no message; it is delivered as incomplete. */
export const MESSAGE_BYTES_MAX = 1024 * 1024;
/** After this much silence a message is given up. */
export const SILENCE_MS = 60_000;
/** The last line may come without its end: after this much silence a whole L record ends the message. */
export const LAST_LINE_MS = 2_000;

export class RawRecordsLink implements Link {
  readonly #digitPrefixed: boolean;
  /** Empty: between messages, where everything but a line H is ignored, and reported. */
  #message: number[] = [];
  /** Where the record that is not ended yet begins. */
  #recordStart = 0;
  /** The rest of this line is no record of a message. */
  #skipping = false;
  /** The digit before this record was passed over. */
  #digitSeen = false;
  /** Why what is being read cannot be whole. */
  #damage: string | null = null;
  readonly #noise = new Noise("outside a message");
  #actions: LinkAction[] = [];

  /** `digitPrefixed`: the frame numbers were left standing before the records when their frames were taken off. */
  constructor(digitPrefixed: boolean) {
    this.#digitPrefixed = digitPrefixed;
  }

  get atRest(): boolean {
    return this.#message.length === 0 && !this.#noise.isPending;
  }

  get between(): string | null {
    if (this.#message.length > 0 || this.#digitSeen) return null;
    return this.#skipping ? "in a line" : "between lines";
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
    if (this.#message.length > 0) this.#damage = "bytes of it could not be stored";
    return [];
  }

  timeout(): LinkAction[] {
    this.#say(this.#noise.take());
    this.#finish("the device fell silent before the L record");
    return this.#takeActions();
  }

  close(): LinkAction[] {
    this.#say(this.#noise.take());
    this.#finish("the connection closed before the L record");
    return this.#takeActions();
  }

  #step(byte: number): void {
    if (byte === CR || byte === LF) {
      this.#endLine();
      return;
    }
    if (this.#skipping) return this.#ignore(byte);
    const position = this.#message.length - this.#recordStart;
    if (position === 0 && this.#digitPrefixed && !this.#digitSeen && byte >= 0x30 && byte <= 0x37) {
      this.#digitSeen = true;
      return;
    }
    this.#message.push(byte);
    if (position === 1 && this.#recordIs("H")) {
      this.#beginMessage();
    } else if (this.#recordStart === 0 && (position === 1 || (position === 0 && !isLetter(byte, "H")))) {
      this.#skipLine();
    } else if (this.#message.length > MESSAGE_BYTES_MAX) {
      this.#giveUp(`a message of more than ${MESSAGE_BYTES_MAX} bytes`);
      this.#skipLine();
    }
  }

  #beginMessage(): void {
    const header = this.#message.slice(this.#recordStart);
    this.#message.length = this.#recordStart;
    this.#say(this.#noise.take());
    this.#giveUp("a new H record came before the L record");
    this.#message = header;
  }

  #skipLine(): void {
    for (const byte of this.#message) this.#ignore(byte);
    this.#message = [];
    this.#skipping = true;
  }

  #ignore(byte: number): void {
    if (!isUsualBetweenMessages(byte)) this.#say(this.#noise.add(byte));
  }

  #endLine(): void {
    const length = this.#message.length - this.#recordStart;
    if (this.#recordStart === 0 && length === 1)
      this.#skipLine(); // an H alone is no header
    else if (length > 0) this.#endRecord();
    this.#skipping = false;
    this.#digitSeen = false;
  }

  #endRecord(): void {
    const last = this.#recordIs("L");
    this.#message.push(CR);
    this.#recordStart = this.#message.length;
    if (last) this.#deliver(this.#damage);
  }

  /** Without its line end an L record counts only with its L-3, which may say that the sender failed. */
  #finish(incomplete: string): void {
    const record = String.fromCharCode(...this.#message.slice(this.#recordStart, this.#recordStart + 20));
    if (this.#recordStart > 0 && /^l(\W)\d*\1[a-z]/i.test(record)) this.#endRecord();
    else this.#giveUp(incomplete);
  }

  #giveUp(incomplete: string): void {
    if (this.#message.length > 0) this.#deliver(this.#damage ?? incomplete);
  }

  #deliver(incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message: Uint8Array.from(this.#message), incomplete });
    this.#message = [];
    this.#recordStart = 0;
    this.#damage = null;
  }

  /** Whether the record that is not ended yet is of that type; case does not matter (LIS02 §5.5). */
  #recordIs(letter: "H" | "L"): boolean {
    const [type, delimiter] = this.#message.slice(this.#recordStart, this.#recordStart + 2);
    return isLetter(type, letter) && (delimiter === undefined || !isAlphanumeric(delimiter));
  }

  #say(action: LinkAction | null): void {
    if (action !== null) this.#actions.push(action);
  }

  #takeActions(): LinkAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return [...actions, { do: "timer", ms: this.#timerMs() }];
  }

  #timerMs(): number | null {
    if (this.#message.length === 0) return this.#noise.isPending ? NOISE_TIMEOUT_MS : null;
    return this.#recordIs("L") ? LAST_LINE_MS : SILENCE_MS;
  }
}

function isLetter(byte: number | undefined, letter: "H" | "L"): boolean {
  return byte !== undefined && String.fromCharCode(byte).toUpperCase() === letter;
}

function isAlphanumeric(byte: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCharCode(byte));
}

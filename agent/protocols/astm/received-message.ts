import type { ActionQueue } from "../action-queue.ts";
import { CR, ETX, isAlphanumeric, isDigit, LF, upper, withCapacity } from "../bytes.ts";
import type { ReceivedFrame } from "./received-frame.ts";

/**
 * Max bytes of a message. Further frames get NAK; the device gives up, and the message is quarantined as incomplete.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

const LETTER_H = 0x48;
const LETTER_L = 0x4c;

/** Text of accepted frames up to the L record, which ends a message (LIS02-A2 §5.6.7). EOT is not awaited. */
export class ReceivedMessage {
  readonly #actions: ActionQueue;
  readonly #digitBeforeRecords: boolean;
  #text = new Uint8Array(1024);
  #length = 0;
  /** Offset of the unended record. */
  #recordStart = 0;

  /** @param digitBeforeRecords records start with a digit, which is skipped */
  constructor(digitBeforeRecords: boolean, actions: ActionQueue) {
    this.#digitBeforeRecords = digitBeforeRecords;
    this.#actions = actions;
  }

  get capacity(): number {
    return this.#text.length;
  }

  hasRoomFor(frame: ReceivedFrame): boolean {
    return this.#length + frame.length <= MESSAGE_BYTES_MAX;
  }

  /** Joins the text as it is, because a frame may end within a record. Only CR ends a record. */
  append({ text, length, terminator }: ReceivedFrame): void {
    // Bounds the search for CR: the buffer may hold the rest of a longer frame. ETX had room here.
    text[length] = CR;
    this.#text = withCapacity(this.#text, this.#length + length);
    let from = 0;
    while (from < length) {
      if (this.#length === this.#recordStart) {
        // Some devices end records with CR LF.
        if (text[from] === LF || (this.#digitBeforeRecords && isDigit(text[from]!))) {
          from += 1;
          continue;
        }
        this.#beginRecord(text, from, length);
      }
      const cr = text.indexOf(CR, from);
      const isEnded = cr < length;
      const to = isEnded ? cr + 1 : length;
      this.#text.set(text.subarray(from, to), this.#length);
      this.#length += to - from;
      if (isEnded) this.#endRecord();
      from = to;
    }
    // The last frame may end "L|1|N" without CR.
    if (terminator === ETX && this.#recordIs(LETTER_L)) this.#endRecord();
  }

  /** Delivers the text, if there is any. @param incomplete why the message is cut short; null for a complete one */
  deliver(incomplete: string | null): void {
    if (this.#length > 0) this.#actions.deliver(this.#text.slice(0, this.#length), incomplete);
    this.clear();
  }

  clear(): void {
    this.#length = 0;
    this.#recordStart = 0;
  }

  #beginRecord(text: Uint8Array, at: number, length: number): void {
    const isHeader = upper(text[at]!) === LETTER_H && at + 1 < length && !isAlphanumeric(text[at + 1]!);
    if (isHeader) this.deliver("a new H record came before the L record");
  }

  #endRecord(): void {
    if (this.#recordIs(LETTER_L)) this.deliver(null);
    else this.#recordStart = this.#length;
  }

  /** Returns whether the last record of the message is of this type, in either case (LIS02-A2 §5.5). */
  #recordIs(letter: number): boolean {
    const at = this.#recordStart;
    if (at >= this.#length || upper(this.#text[at]!) !== letter) return false;
    return at + 1 >= this.#length || !isAlphanumeric(this.#text[at + 1]!);
  }
}

import type { ActionQueue } from "../action-queue.ts";
import { CR, ETX, isAlphanumeric, isDigit, LF, upper, withCapacity } from "../bytes.ts";
import type { ReceivedFrame } from "./received-frame.ts";

/**
 * Max bytes of a message. Further frames get NAK; the device gives up, and the message is quarantined as incomplete.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

const LETTER_H = 0x48;
const LETTER_L = 0x4c;
const SPACE = 0x20;

/** Text of accepted frames up to the L record, which ends a message (LIS02-A2 §5.6.7). EOT is not awaited. */
export class ReceivedMessage {
  readonly #actions: ActionQueue;
  readonly #digitBeforeRecords: boolean;
  #text = new Uint8Array(1024);
  #length = 0;
  /** Offset of the unended record. */
  #recordStart = 0;
  /** The last frame ended with ETX, not with ETB. */
  #isFrameEnded = false;

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

  /** Whether the frame may start a message: none is under way, and its text starts with an H record. */
  canStartWith({ text, length }: ReceivedFrame): boolean {
    const at = this.#digitBeforeRecords && length > 0 && isDigit(text[0]!) ? 1 : 0;
    return this.#length === 0 && isHeader(text, at, length);
  }

  /**
   * Joins the text as it is, because a frame may end within a record. CR ends a record, and so does LF before another record or at
   * the end of the frame: other LFs are in the text of a comment. Devices that send a record per frame may omit both.
   */
  append({ text, length, terminator }: ReceivedFrame): void {
    // Bounds the search for CR: the buffer may hold the rest of a longer frame. ETX had room here.
    text[length] = CR;
    let lf = this.#recordLf(text, 0, length);
    if (this.#isFrameEnded && this.#length > this.#recordStart && startsRecord(text, length)) this.#closeRecord();
    this.#isFrameEnded = terminator === ETX;
    this.#text = withCapacity(this.#text, this.#length + length);
    let from = 0;
    while (from < length) {
      if (this.#length === this.#recordStart) {
        // Some devices end records with CR LF or LF CR.
        if (text[from] === LF || text[from] === CR || (this.#digitBeforeRecords && isDigit(text[from]!))) {
          from += 1;
          continue;
        }
        this.#beginRecord(text, from, length);
      }
      if (lf < from) lf = this.#recordLf(text, from, length);
      const end = Math.min(text.indexOf(CR, from), lf);
      this.#text.set(text.subarray(from, end), this.#length);
      this.#length += end - from;
      if (end < length) this.#closeRecord();
      from = end + 1;
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

  /** Returns the offset of the next LF that ends a record; the length of the text without one. */
  #recordLf(text: Uint8Array, from: number, length: number): number {
    for (let at = text.indexOf(LF, from); at >= 0 && at < length; at = text.indexOf(LF, at + 1)) {
      const next = this.#digitBeforeRecords && isDigit(text[at + 1]!) ? at + 2 : at + 1;
      if (next >= length || mayStart(text[next]!, next + 1 < length ? text[next + 1]! : CR)) return at;
    }
    return length;
  }

  #beginRecord(text: Uint8Array, at: number, length: number): void {
    if (isHeader(text, at, length)) this.deliver("a new H record came before the L record");
  }

  /** Ends a record with CR, whatever the device sent. */
  #closeRecord(): void {
    this.#text = withCapacity(this.#text, this.#length + 1);
    this.#text[this.#length++] = CR;
    this.#endRecord();
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

/** Whether two bytes after LF start a record, or end another line: a letter of a word or of a sentence does neither. */
function mayStart(first: number, second: number): boolean {
  if (first === CR || first === LF) return true;
  if (isDigit(first) || !isAlphanumeric(first)) return false;
  return second === CR || second === LF || (second > SPACE && !isAlphanumeric(second));
}

function isHeader(text: Uint8Array, at: number, length: number): boolean {
  return at + 1 < length && upper(text[at]!) === LETTER_H && !isAlphanumeric(text[at + 1]!);
}

/** The start of a record with its number, `R|12|` or `L|1`. */
const RECORD = /^[PORCMQSL]([^\w\s])\d{1,4}(?:\1|\r|$)/i;

function startsRecord(text: Uint8Array, length: number): boolean {
  return RECORD.test(String.fromCharCode(...text.subarray(0, Math.min(length, 8))));
}

import { CR, DIGIT_0, ENQ, EOT, ETX, hexDigit, isAlphanumeric, LF, STX } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { NOISE_TIMEOUT_MS } from "../noise.ts";
import { OneWayMessage } from "../one-way-message.ts";

// LIS02 records sent as plain lines, without the frames of E1381. A message starts with an H record and ends with an L record.
// There is no acknowledgement. Some devices keep control characters of E1381: ENQ and STX before a record, and ETX with the two digits
// of a checksum, or EOT, after its CR or after the L record. They are left out. ETX within another record stays in it, because the
// record may continue after it.

/** ENQ and STX. */
const MARKS_MAX = 2;
/** Max bytes of a message; a longer one is delivered as incomplete. */
export const MESSAGE_BYTES_MAX = 1024 * 1024;
/** Max silence within a message; then it is delivered as incomplete. */
export const SILENCE_MS = 60_000;
/** The L record may lack its line end: after this silence, a complete L record ends the message. */
export const LAST_LINE_MS = 2_000;

export class RawRecordsLink implements Link {
  readonly #digitPrefixed: boolean;
  /** Empty between messages, where everything but an H record is reported as noise. */
  readonly #message = new OneWayMessage("outside a message");
  /** Offset of the unended record. */
  #recordStart = 0;
  /** The rest of this line is noise. */
  #skipping = false;
  /** The digit before this record was skipped. */
  #digitSeen = false;
  /** ENQ and STX before this line: noise, unless an H record follows. */
  #marks: number[] = [];
  /** Digits of a checksum after ETX; null after another byte. */
  #checksum: number[] | null = null;

  /** @param digitPrefixed frame numbers are left before the records */
  constructor(digitPrefixed: boolean) {
    this.#digitPrefixed = digitPrefixed;
  }

  get isIdle(): boolean {
    return this.#message.bytes.length === 0 && !this.#message.hasNoise && !this.#isWithinMarks;
  }

  /** Control characters were received, whose meaning the next byte decides. */
  get #isWithinMarks(): boolean {
    return this.#marks.length > 0 || this.#checksum !== null;
  }

  get between(): string | null {
    if (this.#message.bytes.length > 0 || this.#digitSeen || this.#isWithinMarks) return null;
    return this.#skipping ? "in a line" : "between lines";
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#drainActions();
  }

  refuse(): LinkAction[] {
    return this.gap();
  }

  gap(): LinkAction[] {
    if (this.#message.bytes.length > 0) this.#message.markDamaged();
    return [];
  }

  timeout(): LinkAction[] {
    this.#endMarks();
    this.#message.reportNoise();
    this.#finish("the device fell silent before the L record");
    return this.#drainActions();
  }

  close(): LinkAction[] {
    this.#endMarks();
    this.#message.reportNoise();
    this.#finish("the connection closed before the L record");
    return this.#drainActions();
  }

  #step(byte: number): void {
    if (this.#checksum !== null && this.#isChecksum(byte, this.#checksum)) return;
    if (byte === CR || byte === LF) return this.#endLine(byte);
    if (this.#skipping) return this.#message.ignore(byte);
    const { bytes } = this.#message;
    const position = bytes.length - this.#recordStart;
    const endsRecord = position === 0 ? !this.#message.hasNoise : this.#recordIs("L");
    if (isTextEnd(byte) && endsRecord) return this.#endText(byte);
    if (position === 0 && isMark(byte)) return this.#addMark(byte);
    // STX before the digit makes it a frame of a device that waits for ACK.
    if (position === 0 && this.#digitPrefixed && !this.#digitSeen && this.#marks.length === 0 && isFrameNumber(byte)) {
      this.#digitSeen = true;
      return;
    }
    bytes.push(byte);
    if (position === 1 && this.#recordIs("H")) {
      this.#beginMessage();
    } else if (this.#recordStart === 0 && (position === 1 || (position === 0 && !isLetter(byte, "H")))) {
      this.#skipLine();
    } else if (bytes.length > MESSAGE_BYTES_MAX) {
      this.#giveUp(`a message of more than ${MESSAGE_BYTES_MAX} bytes`);
      this.#skipLine();
    }
  }

  /** Takes a digit of a checksum. Digits that begin a line are read as its text. @returns whether the byte is read */
  #isChecksum(byte: number, digits: number[]): boolean {
    if (digits.length < 2 && !Number.isNaN(hexDigit(byte))) {
      digits.push(byte);
      return true;
    }
    this.#checksum = null;
    const isWhole = digits.length === 2 && (byte === CR || byte === LF || isTextEnd(byte) || isMark(byte));
    if (!isWhole) for (const digit of digits) this.#step(digit);
    return false;
  }

  #addMark(byte: number): void {
    if (this.#message.bytes.length > 0) return; // before a later record of the message
    if (this.#marks.length === MARKS_MAX) this.#endMarks();
    this.#marks.push(byte);
  }

  /** Counts control characters that began no message as noise. */
  #endMarks(): void {
    for (const mark of this.#marks) this.#message.ignore(mark);
    this.#marks = [];
    this.#checksum = null;
  }

  #beginMessage(): void {
    this.#marks = [];
    const header = this.#message.bytes.splice(this.#recordStart);
    this.#message.reportNoise();
    this.#giveUp("a new H record came before the L record");
    this.#message.bytes = header;
  }

  #skipLine(): void {
    this.#endMarks();
    for (const byte of this.#message.bytes) this.#message.ignore(byte);
    this.#message.bytes = [];
    this.#skipping = true;
  }

  #endText(byte: number): void {
    this.#endLine(byte);
    if (byte === ETX) this.#checksum = [];
  }

  #endLine(byte: number): void {
    const length = this.#message.bytes.length - this.#recordStart;
    // An H alone on its line is noise: a header has delimiters.
    if (this.#recordStart === 0 && length === 1) this.#skipLine();
    else if (length > 0) this.#endRecord();
    this.#skipping = false;
    this.#digitSeen = false;
    if (this.#message.hasNoise) this.#message.ignore(byte);
  }

  #endRecord(): void {
    const isLast = this.#recordIs("L");
    this.#message.bytes.push(CR);
    this.#recordStart = this.#message.bytes.length;
    if (isLast) this.#deliver(null);
  }

  /** Ends the message. An L record without its line end counts only with L-3, which may report that the sender failed. */
  #finish(incomplete: string): void {
    const record = String.fromCharCode(...this.#message.bytes.slice(this.#recordStart, this.#recordStart + 20));
    if (this.#recordStart > 0 && /^l(\W)\d*\1[a-z]/i.test(record)) this.#endRecord();
    else this.#giveUp(incomplete);
  }

  #giveUp(incomplete: string): void {
    if (this.#message.bytes.length > 0) this.#deliver(incomplete);
  }

  #deliver(incomplete: string | null): void {
    this.#message.deliver(incomplete);
    this.#recordStart = 0;
  }

  /** Returns whether the unended record is of this type, in either case (LIS02-A2 §5.5). */
  #recordIs(letter: "H" | "L"): boolean {
    const [type, delimiter] = this.#message.bytes.slice(this.#recordStart, this.#recordStart + 2);
    return isLetter(type, letter) && (delimiter === undefined || !isAlphanumeric(delimiter));
  }

  #drainActions(): LinkAction[] {
    if (this.#message.bytes.length === 0) {
      return this.#message.drainActions(this.#isWithinMarks ? NOISE_TIMEOUT_MS : null);
    }
    return this.#message.drainActions(this.#recordIs("L") ? LAST_LINE_MS : SILENCE_MS);
  }
}

/** Returns whether the byte ends a text or a session. */
function isTextEnd(byte: number): boolean {
  return byte === ETX || byte === EOT;
}

/** Returns whether the byte may precede a record. */
function isMark(byte: number): boolean {
  return byte === ENQ || byte === STX;
}

/** Returns whether the byte is a digit from 0 to 7. */
function isFrameNumber(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_0 + 7;
}

function isLetter(byte: number | undefined, letter: "H" | "L"): boolean {
  return byte !== undefined && String.fromCharCode(byte).toUpperCase() === letter;
}

import {
  CR,
  DIGIT_0,
  ENQ,
  EOT,
  ETB,
  ETX,
  hexByte,
  hexDigit,
  isAlphanumeric,
  NUL,
  upper,
  withCapacity,
} from "../bytes.ts";

/**
 * Max bytes of a frame's text; a longer frame gets NAK. Analyzers exceed the standard's 240 and 64 000 bytes: some send a complete
 * message with histograms in one frame.
 */
export const FRAME_BYTES_MAX = 1024 * 1024;

const LETTER_H = 0x48;

/** Frame while it is received: `STX FN text ETX C1 C2 CR LF` (LIS01-A2 §6.3.1). */
export class ReceivedFrame {
  /** 0 to 7; another number for an invalid byte. */
  number = 0;
  text = new Uint8Array(512);
  length = 0;
  /** ETX or ETB. */
  terminator = 0;
  /** End of the text; null while the text continues. */
  textEnd: "terminator" | "new session" | "too long" | null = null;
  /** As sent; NaN for invalid hex digits. */
  checksum = 0;
  /** Sum of the bytes from the frame number to ETX or ETB (§6.3.3). */
  #sum = 0;

  begin(numberByte: number): void {
    this.number = numberByte - DIGIT_0;
    this.length = 0;
    this.textEnd = null;
    this.#sum = numberByte;
  }

  /** Reads up to the end of the text, or of the chunk. @returns the offset after the last read byte */
  readText(chunk: Uint8Array, from: number): number {
    const end = Math.min(chunk.length, from + FRAME_BYTES_MAX - this.length);
    this.text = withCapacity(this.text, this.length + end - from);
    const text = this.text;
    let length = this.length;
    let sum = this.#sum;
    let at = from;
    while (at < end) {
      const byte = chunk[at]!;
      at += 1;
      sum += byte;
      // Only the ends of the text matter: any other control character is damage, and the checksum detects all but NUL.
      // Starting over at a stray STX would accept a damaged frame whose tail has the right sum.
      if (byte > ETB || byte === CR) {
        text[length++] = byte;
      } else if (byte === NUL) {
        // A break on a serial line reads as NUL, which no sum detects. The standard forbids NUL in text.
      } else if (byte === ETX || byte === ETB) {
        this.terminator = byte;
        this.textEnd = "terminator";
        break;
      } else if (byte === ENQ && length > 0 && text[length - 1] === EOT) {
        // EOT ENQ never occurs in text: the frame is cut, and the device starts again.
        this.textEnd = "new session";
        break;
      } else {
        text[length++] = byte;
      }
    }
    this.length = length;
    this.#sum = sum;
    if (length >= FRAME_BYTES_MAX) this.textEnd = "too long";
    return at;
  }

  /** Whether the frame has an H record in place of its number: the device counts no frames. */
  get isUncountedHeader(): boolean {
    return this.length > 0 && upper(this.number + DIGIT_0) === LETTER_H && !isAlphanumeric(this.text[0]!);
  }

  /** Makes the byte in place of the number the first one of the text. */
  takeNumberAsText(): void {
    this.text = withCapacity(this.text, this.length + 2); // a CR may follow the text
    this.text.copyWithin(1, 0, this.length);
    this.text[0] = this.number + DIGIT_0;
    this.length += 1;
    this.number = 0;
  }

  readChecksumHigh(byte: number): void {
    this.checksum = hexDigit(byte) * 16;
  }

  readChecksumLow(byte: number): void {
    this.checksum += hexDigit(byte);
  }

  /** Returns why the checksum is wrong (§6.3.3), null for a right one. */
  checksumProblem(): string | null {
    const sum = this.#sum & 0xff;
    if (sum === this.checksum) return null;
    const sent = Number.isNaN(this.checksum) ? "is not two hex digits" : hexByte(this.checksum);
    return `checksum ${sent}, computed ${hexByte(sum)}`;
  }

  /** Compares complete frames. The same number with other bytes is new data of a sender that does not count. */
  equals(other: ReceivedFrame): boolean {
    if (this.number !== other.number || this.length !== other.length || this.terminator !== other.terminator) {
      return false;
    }
    for (let at = 0; at < this.length; at++) if (this.text[at] !== other.text[at]) return false;
    return true;
  }
}

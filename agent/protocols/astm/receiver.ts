import type { ActionQueue } from "../action-queue.ts";
import {
  ACK,
  CR,
  DIGIT_0,
  ENQ,
  EOT,
  ETB,
  ETX,
  hexByte,
  hexDigit,
  isAlphanumeric,
  isDigit,
  LF,
  NAK,
  NUL,
  STX,
  upper,
  withCapacity,
} from "../bytes.ts";
import type { LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import type { Sender } from "./sender.ts";

// Receiver of LIS01-A2: frames in, acknowledgements and whole messages out. Every decision depends on the current byte
// and the state, so any segmentation of the stream gives the same result.

/**
 * Max bytes of a frame; a longer one gets NAK. Analyzers exceed the standard's 240 and 64 000 bytes: some send a whole
 * message with histograms in one frame.
 */
export const FRAME_BYTES_MAX = 1024 * 1024;
/**
 * Max bytes of a message. Further frames get NAK; the device gives up, and the message is quarantined as incomplete.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Max wait for a frame or EOT after the last reply: 30 s (§6.5.2.4). */
export const RECEIVE_TIMEOUT_MS = 30_000;
/** Silence after the checksum that ends a frame. Some devices omit LF, or CR and LF, and wait for the reply. */
export const FRAME_END_TIMEOUT_MS = 300;

export interface ReceiverOptions {
  /**
   * `warn`: accept a wrong checksum with a warning (some devices sum other bytes). `none`: ignore the bytes between ETX
   * or ETB and the end of the frame. Default `strict`.
   */
  readonly checksum?: "strict" | "warn" | "none";
  /** `none`: the frame ends with its checksum, or with ETX or ETB if there is no checksum. */
  readonly frameEnd?: "CR LF" | "none";
  /** Records begin with a digit left from a frame number: `2P|1`. The digit is skipped. */
  readonly digitBeforeRecords?: boolean;
  /** Frames get EOT while a message of the agent waits (§6.3.5). Default false: not every device supports it. */
  readonly interrupts?: boolean;
}

type State =
  /** Neutral: everything but ENQ is ignored (§6.2.5) and reported. */
  | "neutral"
  /** Data transfer: everything but STX and EOT is ignored (§6.5.1.1) and reported. */
  | "between-frames"
  /** Part of this frame could not be stored; its end gets NAK. */
  | "refused-frame"
  | "frame-number"
  | "text"
  | "checksum-high"
  | "checksum-low"
  /** The checksum is read; CR and LF end the frame. */
  | "frame-end"
  | "frame-end-after-cr"
  /** Any byte may follow; LF ends the frame. */
  | "unchecked-frame-end";

const ACCEPT: LinkAction = { do: "reply", bytes: Uint8Array.of(ACK) };
const REJECT: LinkAction = { do: "reply", bytes: Uint8Array.of(NAK) };
/** Replaces ACK: the frame is accepted, and the sender is asked to stop (§6.3.5). */
const INTERRUPT: LinkAction = { do: "reply", bytes: Uint8Array.of(EOT) };

const LETTER_H = 0x48;
const LETTER_L = 0x4c;

export class Receiver {
  readonly #actions: ActionQueue;
  readonly #sender: Sender;
  readonly #checksumPolicy: "strict" | "warn" | "none";
  readonly #frameEnd: "CR LF" | "none";
  readonly #digitBeforeRecords: boolean;
  readonly #interrupts: boolean;
  #state: State = "neutral";

  /** Text of the current frame, behind its number. */
  #frame = new Uint8Array(512);
  #frameLength = 0;
  #frameNumber = -1;
  /** ETX or ETB. */
  #terminator = 0;
  /** Sum of the bytes from the frame number to ETX or ETB (§6.3.3). */
  #sum = 0;
  #checksum = 0;

  /** Last accepted frame of the session, to detect repetitions; its number is null before the first frame. */
  #last = new Uint8Array(512);
  #lastLength = 0;
  #lastNumber: number | null = null;
  #lastTerminator = 0;
  /** Frames count from 1; 0 follows 7 (§6.3.2.1). */
  #expected = 1;
  /** The rest of a rejected frame is being skipped, without further warnings. */
  #isRest = false;
  readonly #outside = new Noise("outside a session");
  readonly #between = new Noise("between frames");
  /** Bytes are missing since the last accepted frame; EOT may be among them. */
  #gapped = false;

  /** Accepted text of the current message. */
  #message = new Uint8Array(1024);
  #messageLength = 0;
  /** Offset of the unended record. */
  #recordStart = 0;

  constructor(
    { checksum = "strict", frameEnd = "CR LF", digitBeforeRecords = false, interrupts = false }: ReceiverOptions,
    actions: ActionQueue,
    sender: Sender,
  ) {
    this.#checksumPolicy = checksum;
    this.#frameEnd = frameEnd;
    this.#digitBeforeRecords = digitBeforeRecords;
    this.#interrupts = interrupts;
    this.#actions = actions;
    this.#sender = sender;
  }

  get isNeutral(): boolean {
    return this.#state === "neutral";
  }

  /** Unreported bytes outside a session. */
  get hasNoise(): boolean {
    return this.#outside.isPending;
  }

  /** A session was established, and no frame of it is accepted or has begun. */
  get awaitsFirstFrame(): boolean {
    return this.#state === "between-frames" && this.#lastNumber === null && !this.#gapped;
  }

  get heldBytes(): number {
    return this.isNeutral ? 0 : this.#message.length;
  }

  /** ACK to ENQ means "ready" (§6.2.3); it accepts no frame. */
  mayAccept(chunk: Uint8Array): boolean {
    return !(this.#state === "neutral" || this.#state === "between-frames") || chunk.includes(STX);
  }

  receive(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "text") {
        at = this.#readText(chunk, at);
      } else {
        this.#step(chunk[at]!);
        at += 1;
      }
    }
  }

  refuse(chunk: Uint8Array): void {
    // Noise between frames gets no reply at its LF.
    const betweenFrames = this.#state === "between-frames";
    this.gap();
    if (betweenFrames) this.#state = "between-frames";
    for (const byte of chunk) this.#refuseByte(byte);
    if (this.#state === "refused-frame") this.#actions.startTimer(FRAME_END_TIMEOUT_MS);
  }

  /** Leaves the link in the state after refuse(), so that a replay reads the later bytes equally. */
  gap(): void {
    if (this.#state !== "neutral") {
      this.#state = "refused-frame";
      this.#gapped = true;
    }
  }

  timeout(): void {
    switch (this.#state) {
      case "neutral":
        this.#reportNoise();
        break;
      case "frame-end":
      case "frame-end-after-cr":
      case "unchecked-frame-end":
        this.#settleFrame();
        break;
      case "refused-frame":
        this.#endRefusedFrame();
        break;
      case "between-frames":
      case "frame-number":
      case "text":
      case "checksum-high":
      case "checksum-low":
        this.#actions.warn(`no frame within ${RECEIVE_TIMEOUT_MS / 1000} s`);
        this.#endSession("the device fell silent before the L record");
        break;
    }
  }

  close(): void {
    if (this.#state !== "neutral") this.#endSession("the connection closed before the L record");
    this.#reportNoise();
  }

  #step(byte: number): void {
    switch (this.#state) {
      case "neutral":
        if (byte === ENQ) this.#establish();
        else if (!isReplyOrEnd(byte)) this.#countNoise(this.#outside, byte);
        return;
      case "between-frames":
      case "refused-frame":
        this.#betweenFrames(byte);
        return;
      case "frame-number":
        this.#frameNumber = byte - DIGIT_0;
        this.#sum = byte;
        this.#state = "text";
        return;
      case "checksum-high":
        this.#checksum = hexDigit(byte) * 16;
        this.#state = "checksum-low";
        return;
      case "checksum-low":
        this.#checksum += hexDigit(byte);
        this.#awaitFrameEnd("frame-end");
        return;
      case "frame-end":
        if (byte === CR) this.#state = "frame-end-after-cr";
        else this.#afterChecksum(byte);
        return;
      case "frame-end-after-cr":
        this.#afterChecksum(byte);
        return;
      case "unchecked-frame-end":
        if (byte === LF || byte === STX || byte === EOT || byte === ENQ) this.#afterChecksum(byte);
        return;
      case "text":
        throw new Error("text is read by #readText");
    }
  }

  #countNoise(noise: Noise, byte: number): void {
    if (!isUsualBetweenMessages(byte)) this.#actions.push(noise.add(byte));
    // In a session the timer waits for the next frame; while the agent sends, for the reply.
    if (this.hasNoise && this.#sender.state === "idle") this.#actions.startTimer(NOISE_TIMEOUT_MS);
  }

  #reportNoise(): void {
    this.#actions.push(this.#outside.end());
    this.#actions.push(this.#between.end());
  }

  #establish(): void {
    this.#beginSession();
    this.#accept(ACCEPT);
  }

  #beginSession(): void {
    this.#reportNoise();
    this.#isRest = false;
    this.#state = "between-frames";
    this.#expected = 1;
    this.#lastNumber = null;
    this.#gapped = false;
    this.#messageLength = 0;
    this.#recordStart = 0;
  }

  #betweenFrames(byte: number): void {
    if (byte === STX) {
      this.#reportNoise();
      this.#isRest = false;
      this.#state = "frame-number";
      this.#frameLength = 0;
    } else if (byte === EOT) {
      this.#endSession("the session ended before the L record");
    } else if (byte === ENQ && this.#gapped) {
      // EOT may be among the missing bytes. No reply: if this is a damaged STX, ACK would accept a frame that was not
      // received.
      this.#endSession("a new session began before the L record");
      this.#beginSession();
      this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
    } else if (byte === LF && this.#state === "refused-frame") {
      this.#endRefusedFrame();
    } else if (byte !== ENQ && this.#state === "between-frames" && !this.#isRest) {
      this.#countNoise(this.#between, byte);
    }
  }

  #refuseByte(byte: number): void {
    if (this.#state === "neutral") {
      // A receiver that cannot store data replies NAK to ENQ; the sender waits 10 s and tries again (§6.2.6).
      if (byte === ENQ) {
        this.#actions.warn("cannot store: session refused");
        this.#actions.push(REJECT);
      }
    } else if (byte === STX) {
      this.#state = "refused-frame";
    } else if (byte === EOT) {
      this.#endSession("the session ended before the L record");
    } else if (byte === LF && this.#state === "refused-frame") {
      this.#endRefusedFrame();
    }
  }

  #endRefusedFrame(): void {
    this.#state = "between-frames";
    this.#reject("cannot store: frame refused");
  }

  /** Reads text up to and including ETX or ETB. @returns the offset behind it */
  #readText(chunk: Uint8Array, from: number): number {
    const room = FRAME_BYTES_MAX - this.#frameLength;
    const end = Math.min(chunk.length, from + room);
    this.#frame = withCapacity(this.#frame, this.#frameLength + end - from);
    const frame = this.#frame;
    let length = this.#frameLength;
    let sum = this.#sum;
    let at = from;
    while (at < end) {
      const byte = chunk[at]!;
      at += 1;
      sum += byte;
      // Only the ends of the text matter: any other control character is damage, and the checksum detects all but NUL.
      // Starting over at a stray STX would accept a damaged frame whose tail has the right sum.
      if (byte > ETB || byte === CR) {
        frame[length++] = byte;
      } else if (byte === NUL) {
        // A break on a serial line reads as NUL, which no sum detects. The standard forbids NUL in text.
      } else if (byte === ETX || byte === ETB) {
        this.#terminator = byte;
        this.#state = "checksum-high";
        break;
      } else if (byte === ENQ && length > 0 && frame[length - 1] === EOT) {
        // EOT ENQ never occurs in text: the frame was cut, and the device has started again.
        this.#actions.warn("a frame was cut short by EOT and a new ENQ");
        this.#endSession("a new session began before the L record");
        this.#establish();
        return at;
      } else {
        frame[length++] = byte;
      }
    }
    this.#frameLength = length;
    this.#sum = sum;
    if (length >= FRAME_BYTES_MAX) {
      this.#reject(`frame of more than ${FRAME_BYTES_MAX} bytes`);
      this.#state = "between-frames";
    } else if (this.#state === "checksum-high" && this.#checksumPolicy === "none") {
      this.#awaitFrameEnd("unchecked-frame-end");
    }
    return at;
  }

  #awaitFrameEnd(state: "frame-end" | "unchecked-frame-end"): void {
    this.#state = state;
    if (this.#frameEnd === "none") this.#settleFrame();
    else this.#actions.startTimer(FRAME_END_TIMEOUT_MS);
  }

  /** Handles the byte after the checksum, or after its CR. */
  #afterChecksum(byte: number): void {
    if (byte === LF) {
      this.#settleFrame();
    } else if (byte === STX || byte === EOT || byte === ENQ) {
      // The device omitted CR LF and did not wait for the reply.
      this.#settleFrame();
      this.#step(byte);
    } else {
      // The frame did not end here: a damaged byte looked like ETX or ETB.
      this.#state = "between-frames";
      this.#reject("the checksum is not followed by CR LF");
    }
  }

  /** Accepts the whole frame, acknowledges it as a repetition, or rejects it (§6.5.1.1). */
  #settleFrame(): void {
    this.#state = "between-frames";
    const number = this.#frameNumber;
    const wrong = this.#checksumPolicy === "none" ? null : this.#checksumFault();
    if (wrong !== null && (this.#checksumPolicy === "strict" || Number.isNaN(this.#checksum))) {
      this.#reject(wrong);
      return;
    }
    if (wrong !== null) this.#actions.warn(`${wrong}: accepted by the profile`);
    if (number === this.#lastNumber && this.#isRepetition()) {
      // The device missed the ACK and sent the frame again (§6.3.2).
      this.#actions.warn(`frame ${number} was repeated: acknowledged, not counted again`);
      this.#accept(ACCEPT);
    } else if (number !== this.#expected) {
      this.#reject(`frame number ${frameNumberText(number)}, expected ${this.#expected}`);
    } else if (this.#messageLength + this.#frameLength > MESSAGE_BYTES_MAX) {
      this.#reject(`message of more than ${MESSAGE_BYTES_MAX} bytes`);
    } else {
      this.#takeFrame();
      this.#accept(this.#interrupts && this.#sender.wantsLine ? INTERRUPT : ACCEPT);
    }
  }

  #checksumFault(): string | null {
    const sum = this.#sum & 0xff;
    if (sum === this.#checksum) return null;
    const sent = Number.isNaN(this.#checksum) ? "is not two hex digits" : hexByte(this.#checksum);
    return `checksum ${sent}, computed ${hexByte(sum)}`;
  }

  /**
   * Compares the frame with the last one. The same number with other bytes is new data of a sender that does not count.
   */
  #isRepetition(): boolean {
    if (this.#frameLength !== this.#lastLength || this.#terminator !== this.#lastTerminator) return false;
    for (let i = 0; i < this.#frameLength; i++) if (this.#frame[i] !== this.#last[i]) return false;
    return true;
  }

  #takeFrame(): void {
    const frame = this.#frame;
    const length = this.#frameLength;
    // Bounds the search for CR: the buffer may hold the rest of a longer frame. ETX had room here.
    frame[length] = CR;
    this.#message = withCapacity(this.#message, this.#messageLength + length);
    // A frame may end within a record, so text is joined as it is. Only CR ends a record.
    let from = 0;
    while (from < length) {
      if (this.#messageLength === this.#recordStart) {
        // Some devices end records with CR LF.
        if (frame[from] === LF || (this.#digitBeforeRecords && isDigit(frame[from]!))) {
          from += 1;
          continue;
        }
        this.#beginRecord(frame, from, length);
      }
      const cr = frame.indexOf(CR, from);
      const ended = cr < length;
      const to = ended ? cr + 1 : length;
      this.#message.set(frame.subarray(from, to), this.#messageLength);
      this.#messageLength += to - from;
      if (ended) this.#endRecord();
      from = to;
    }
    // The last frame may end "L|1|N" without CR.
    if (this.#terminator === ETX && this.#recordIs(LETTER_L)) this.#endRecord();

    this.#frame = this.#last;
    this.#last = frame;
    this.#lastLength = length;
    this.#lastNumber = this.#frameNumber;
    this.#lastTerminator = this.#terminator;
    this.#expected = (this.#frameNumber + 1) % 8;
    this.#gapped = false;
  }

  #beginRecord(frame: Uint8Array, at: number, length: number): void {
    const isHeader = upper(frame[at]!) === LETTER_H && at + 1 < length && !isAlphanumeric(frame[at + 1]!);
    if (isHeader && this.#messageLength > 0) this.#deliver("a new H record came before the L record");
  }

  #endRecord(): void {
    if (this.#recordIs(LETTER_L)) this.#deliver(null);
    else this.#recordStart = this.#messageLength;
  }

  /** Returns whether the last record of the message is of this type, in either case (LIS02 §5.5). */
  #recordIs(letter: number): boolean {
    const at = this.#recordStart;
    if (at >= this.#messageLength || upper(this.#message[at]!) !== letter) return false;
    return at + 1 >= this.#messageLength || !isAlphanumeric(this.#message[at + 1]!);
  }

  #deliver(incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message: this.#message.slice(0, this.#messageLength), incomplete });
    this.#messageLength = 0;
    this.#recordStart = 0;
  }

  #endSession(incomplete: string): void {
    this.#reportNoise();
    if (this.#messageLength > 0) this.#deliver(incomplete);
    this.#state = "neutral";
    this.#actions.stopTimer();
    this.#sender.sessionEnded();
  }

  #accept(reply: LinkAction): void {
    this.#actions.push(reply);
    this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }

  #reject(reason: string): void {
    this.#isRest = true;
    this.#actions.warn(reason);
    this.#actions.push(REJECT);
    this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }
}

/** Returns whether the byte is a repeated end of session or a late reply; in neutral state neither is noise. */
function isReplyOrEnd(byte: number): boolean {
  return byte === EOT || byte === ACK || byte === NAK;
}

function frameNumberText(number: number): string {
  return number >= 0 && number <= 7 ? String(number) : `byte ${hexByte(number + DIGIT_0)}`;
}

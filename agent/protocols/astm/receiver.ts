import type { ActionQueue } from "../action-queue.ts";
import { ACK, CR, DIGIT_0, ENQ, EOT, hexByte, LF, NAK, STX } from "../bytes.ts";
import type { LinkAction } from "../link.ts";
import { Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { FRAME_BYTES_MAX, ReceivedFrame } from "./received-frame.ts";
import { MESSAGE_BYTES_MAX, ReceivedMessage } from "./received-message.ts";
import type { Sender } from "./sender.ts";

// Receiver of LIS01-A2: frames in, acknowledgements and complete messages out. Every decision depends on the current byte
// and the state, so any segmentation of the stream gives the same result.

/** Max wait for a frame or EOT after the last reply: 30 s (§6.5.2.4). */
export const RECEIVE_TIMEOUT_MS = 30_000;
/**
 * Silence after the checksum that ends a frame: some devices omit LF, or CR and LF, and wait for the reply. The same silence after
 * ENQ within a session means that the device starts again, or sends no EOT: it sends nothing until the reply. If the ENQ was a
 * damaged byte, the frame goes on, and ACK would accept a frame that was not received.
 */
export const FRAME_END_TIMEOUT_MS = 300;

export interface ReceiverOptions {
  /**
   * `warn`: accept a wrong checksum with a warning (some devices sum other bytes). `none`: ignore the bytes between ETX
   * or ETB and the end of the frame. Default `strict`.
   */
  readonly checksum?: "strict" | "warn" | "none";
  /** Records start with a digit left from a frame number: `2P|1`. The digit is skipped. */
  readonly digitBeforeRecords?: boolean;
  /** Frames get EOT while a message of the agent waits (§6.3.5). Default false: not every device supports it. */
  readonly interrupts?: boolean;
}

/** State of the line. The states of a frame follow its parts: `STX FN text ETX C1 C2 CR LF` (§6.3.1). */
type ReceiverState =
  /** Neutral: awaits ENQ (§6.2). */
  | "neutral"
  /** Data transfer: awaits STX (§6.3) or EOT (§6.4). */
  | "between-frames"
  /** Awaits the end of a frame that could not be stored. */
  | "refused-frame"
  | "frame-number"
  | "text"
  | "checksum-high"
  | "checksum-low"
  /** Awaits CR LF. */
  | "frame-end"
  /** Awaits LF. */
  | "frame-end-after-cr"
  /** Awaits LF after any bytes: the profile ignores checksums. */
  | "unchecked-frame-end";

const ACCEPT: LinkAction = { do: "reply", bytes: Uint8Array.of(ACK) };
const REJECT: LinkAction = { do: "reply", bytes: Uint8Array.of(NAK) };
/** Replaces ACK: accepts the frame and interrupts the sender (§6.3.5). */
const INTERRUPT: LinkAction = { do: "reply", bytes: Uint8Array.of(EOT) };

export class Receiver {
  readonly #checksumPolicy: "strict" | "warn" | "none";
  readonly #interrupts: boolean;
  readonly #sender: Sender;
  readonly #actions: ActionQueue;
  readonly #message: ReceivedMessage;

  #state: ReceiverState = "neutral";
  #frame = new ReceivedFrame();
  /** Last accepted frame, to detect repetitions. */
  #lastFrame = new ReceivedFrame();
  #acceptedFrames = 0;
  #nextNumber = 1;
  /** The frames of the session have no numbers. */
  #isUncounted = false;
  /** The last byte is an ENQ that may start a new session. */
  #isEnquired = false;
  #sessions = 0;
  /** Bytes are missing since the last accepted frame; EOT may be among them. */
  #hasGap = false;
  /** The rest of a rejected frame is skipped without warnings. */
  #skipsRest = false;
  readonly #noiseOutside = new Noise("outside a session");
  readonly #noiseBetween = new Noise("between frames");

  constructor(
    { checksum = "strict", digitBeforeRecords = false, interrupts = false }: ReceiverOptions,
    actions: ActionQueue,
    sender: Sender,
  ) {
    this.#checksumPolicy = checksum;
    this.#interrupts = interrupts;
    this.#sender = sender;
    this.#actions = actions;
    this.#message = new ReceivedMessage(digitBeforeRecords, actions);
  }

  get isNeutral(): boolean {
    return this.#state === "neutral";
  }

  /** Bytes outside a session are not reported yet. */
  get hasNoise(): boolean {
    return this.#noiseOutside.isPending;
  }

  /** A session is established, and no frame of it is accepted or has started. */
  get awaitsFirstFrame(): boolean {
    return this.#state === "between-frames" && this.#acceptedFrames === 0 && !this.#hasGap;
  }

  get heldBytes(): number {
    return this.isNeutral ? 0 : this.#message.capacity;
  }

  /** ACK to ENQ means "ready" (§6.2.3); it accepts no frame. */
  mayAccept(chunk: Uint8Array): boolean {
    const isInFrame = this.#state !== "neutral" && this.#state !== "between-frames";
    return isInFrame || chunk.includes(STX);
  }

  receive(chunk: Uint8Array): void {
    const wasEnquired = this.#isEnquired;
    let sessions = this.#sessions;
    let at = 0;
    while (at < chunk.length) {
      sessions = this.#sessions;
      if (this.#state === "text") {
        at = this.#text(chunk, at);
      } else {
        this.#step(chunk[at]!);
        at += 1;
      }
    }
    // An ENQ that established a session is acknowledged. A second one directly after it is an echo.
    const mayRestart = this.#state !== "neutral" && this.#state !== "refused-frame" && !this.awaitsFirstFrame;
    if (chunk.length > 0) this.#isEnquired = chunk.at(-1) === ENQ && mayRestart && this.#sessions === sessions;
    if (this.#isEnquired) this.#actions.startTimer(FRAME_END_TIMEOUT_MS);
    else if (wasEnquired && this.#awaitsBytes) this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }

  /** In a session, and not at the end of a frame. */
  get #awaitsBytes(): boolean {
    return !["neutral", "refused-frame", "frame-end", "frame-end-after-cr", "unchecked-frame-end"].includes(
      this.#state,
    );
  }

  /** Receives bytes that could not be stored. No frame in them is accepted. */
  refuse(chunk: Uint8Array): void {
    const wasBetweenFrames = this.#state === "between-frames";
    this.gap();
    // Noise between frames gets no reply at its LF.
    if (wasBetweenFrames) this.#state = "between-frames";
    for (const byte of chunk) this.#refuseByte(byte);
    if (this.#state === "refused-frame") this.#actions.startTimer(FRAME_END_TIMEOUT_MS);
  }

  /** Leaves the link in the state after refuse(), so that a replay reads the later bytes equally. */
  gap(): void {
    if (this.#state === "neutral") return;
    this.#isEnquired = false;
    this.#state = "refused-frame";
    this.#hasGap = true;
  }

  timeout(): void {
    switch (this.#state) {
      case "neutral":
        this.#reportNoise();
        return;
      case "frame-end":
      case "frame-end-after-cr":
      case "unchecked-frame-end":
        if (this.#isEnquired) return this.#restart(); // ENQ in place of a digit of the checksum
        this.#endFrame();
        return;
      case "refused-frame":
        this.#endRefusedFrame();
        return;
      case "between-frames":
      case "frame-number":
      case "text":
      case "checksum-high":
      case "checksum-low":
        if (this.#isEnquired) return this.#restart();
        this.#actions.warn(`no frame within ${RECEIVE_TIMEOUT_MS / 1000} s`);
        this.#endSession("the device fell silent before the L record");
        return;
    }
  }

  close(): void {
    if (this.#state !== "neutral") this.#endSession("the connection closed before the L record");
    this.#reportNoise();
  }

  /** Hands a byte to the transitions of the state. */
  #step(byte: number): void {
    switch (this.#state) {
      case "neutral":
        return this.#neutral(byte);
      case "between-frames":
        return this.#betweenFrames(byte);
      case "refused-frame":
        return this.#refusedFrame(byte);
      case "frame-number":
        return this.#number(byte);
      case "text":
        throw new Error("text is read by #text");
      case "checksum-high":
        return this.#checksumHigh(byte);
      case "checksum-low":
        return this.#checksumLow(byte);
      case "frame-end":
        return this.#crOrEnd(byte);
      case "frame-end-after-cr":
        return this.#end(byte);
      case "unchecked-frame-end":
        return this.#uncheckedEnd(byte);
    }
  }

  /** §6.2.5: all bytes but ENQ are ignored. They are reported, except late replies and repeated ends of session. */
  #neutral(byte: number): void {
    if (byte === ENQ) this.#establish();
    else if (byte !== EOT && byte !== ACK && byte !== NAK) this.#ignore(byte, this.#noiseOutside);
  }

  /** §6.5.1.1: all bytes but STX and EOT are ignored. They are reported, except a repeated ENQ. */
  #betweenFrames(byte: number): void {
    if (this.#startOrEnd(byte)) return;
    if (byte !== ENQ && !this.#skipsRest) this.#ignore(byte, this.#noiseBetween);
  }

  /** LF ends the frame, or the next frame, session or end of session does. */
  #refusedFrame(byte: number): void {
    if (this.#startOrEnd(byte)) return;
    if (byte === LF) this.#endRefusedFrame();
  }

  /** §6.3, §6.4: STX starts a frame, EOT ends the session. @returns whether the byte does either */
  #startOrEnd(byte: number): boolean {
    if (byte === STX) {
      this.#reportNoise();
      this.#skipsRest = false;
      this.#state = "frame-number";
      return true;
    }
    if (byte === EOT) {
      this.#endSession("the session ended before the L record");
      return true;
    }
    if (byte === ENQ && this.#hasGap) {
      // EOT may be among the missing bytes. No reply: if this is a damaged STX, ACK would accept a frame that was not
      // received.
      this.#endSession("a new session began before the L record");
      this.#beginSession();
      this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
      return true;
    }
    return false;
  }

  /** §6.3.2: the number of the frame. */
  #number(byte: number): void {
    this.#frame.begin(byte);
    this.#state = "text";
  }

  /** §6.3.1: text up to ETX or ETB. @returns the offset after the last read byte */
  #text(chunk: Uint8Array, from: number): number {
    const at = this.#frame.readText(chunk, from);
    switch (this.#frame.textEnd) {
      case null:
        break;
      case "terminator":
        if (this.#checksumPolicy === "none") this.#awaitFrameEnd("unchecked-frame-end");
        else this.#state = "checksum-high";
        break;
      case "new session":
        this.#actions.warn("a frame was cut short by EOT and a new ENQ");
        this.#endSession("a new session began before the L record");
        this.#establish();
        break;
      case "too long":
        this.#rejectFrame(`frame of more than ${FRAME_BYTES_MAX} bytes`);
        break;
    }
    return at;
  }

  /** §6.3.3: the checksum, high digit first. */
  #checksumHigh(byte: number): void {
    this.#frame.readChecksumHigh(byte);
    this.#state = "checksum-low";
  }

  #checksumLow(byte: number): void {
    this.#frame.readChecksumLow(byte);
    this.#awaitFrameEnd("frame-end");
  }

  /** §6.3.1: CR LF. */
  #crOrEnd(byte: number): void {
    if (byte === CR) this.#state = "frame-end-after-cr";
    else this.#end(byte);
  }

  #end(byte: number): void {
    if (byte === LF) {
      this.#endFrame();
    } else if (isStart(byte)) {
      // The device omits CR LF and does not wait for the reply.
      this.#endFrame();
      this.#step(byte);
    } else {
      // The frame does not end here: a damaged byte looked like ETX or ETB.
      this.#rejectFrame("the checksum is not followed by CR LF");
    }
  }

  #uncheckedEnd(byte: number): void {
    if (byte === LF || isStart(byte)) this.#end(byte);
  }

  /** §6.2.6: a receiver that cannot store data replies NAK to ENQ. The sender waits 10 s and tries again. */
  #refuseByte(byte: number): void {
    if (this.#state === "neutral") {
      if (byte !== ENQ) return;
      this.#actions.warn("cannot store: session refused");
      this.#actions.push(REJECT);
    } else if (byte === STX) {
      this.#state = "refused-frame";
    } else if (byte === EOT) {
      this.#endSession("the session ended before the L record");
    } else if (byte === LF && this.#state === "refused-frame") {
      this.#endRefusedFrame();
    }
  }

  #awaitFrameEnd(state: "frame-end" | "unchecked-frame-end"): void {
    this.#state = state;
    this.#actions.startTimer(FRAME_END_TIMEOUT_MS);
  }

  /** Accepts the frame, acknowledges it as a repetition, or rejects it (§6.5.1.1). */
  #endFrame(): void {
    const frame = this.#frame;
    const problem = this.#checksumPolicy === "none" ? null : frame.checksumProblem();
    if (problem !== null) {
      if (this.#checksumPolicy === "strict" || Number.isNaN(frame.checksum)) return this.#rejectFrame(problem);
      this.#actions.warn(`${problem}: accepted by the profile`);
    }
    // A damaged number would have another checksum.
    if (this.#acceptedFrames === 0) this.#isUncounted = problem === null && frame.isUncountedHeader;
    if (this.#isUncounted) frame.takeNumberAsText();
    const { number } = frame;
    if (this.#acceptedFrames > 0 && frame.equals(this.#lastFrame)) {
      // The device missed the ACK and sent the frame again (§6.3.2).
      this.#actions.warn(`frame ${number} was repeated: acknowledged, not counted again`);
      return this.#acceptFrame(ACCEPT);
    }
    // Frames count from 1; 0 follows 7 (§6.3.2.1).
    const expected = this.#expectedNumber(frame);
    if (number !== expected) return this.#rejectFrame(`frame number ${numberText(number)}, expected ${expected}`);
    if (!this.#message.hasRoomFor(frame)) {
      return this.#rejectFrame(`message of more than ${MESSAGE_BYTES_MAX} bytes`);
    }
    this.#message.append(frame);
    this.#frame = this.#lastFrame;
    this.#lastFrame = frame;
    this.#acceptedFrames += 1;
    this.#nextNumber = (number + 1) % 8;
    this.#hasGap = false;
    this.#acceptFrame(this.#interrupts && this.#sender.wantsLine ? INTERRUPT : ACCEPT);
  }

  /** Some devices count from 0, or from 1 again with each message: a frame that starts a message may have these numbers. */
  #expectedNumber(frame: ReceivedFrame): number {
    if (this.#isUncounted) return frame.number;
    return frame.number >= 0 && frame.number <= 1 && this.#message.canStartWith(frame)
      ? frame.number
      : this.#nextNumber;
  }

  #endRefusedFrame(): void {
    this.#rejectFrame("cannot store: frame refused");
  }

  #acceptFrame(reply: LinkAction): void {
    this.#state = "between-frames";
    this.#actions.push(reply);
    this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }

  #rejectFrame(reason: string): void {
    this.#state = "between-frames";
    this.#skipsRest = true;
    this.#actions.warn(reason);
    this.#actions.push(REJECT);
    this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }

  /** The device starts a new session without having ended the last one. */
  #restart(): void {
    if (this.#state !== "between-frames") this.#actions.warn("a frame was cut short by a new ENQ");
    this.#endSession("a new session began before the L record");
    this.#establish();
  }

  /** §6.2: ENQ establishes a session. */
  #establish(): void {
    this.#beginSession();
    this.#actions.push(ACCEPT);
    this.#actions.startTimer(RECEIVE_TIMEOUT_MS);
  }

  #beginSession(): void {
    this.#reportNoise();
    this.#isEnquired = false;
    this.#sessions += 1;
    this.#state = "between-frames";
    this.#acceptedFrames = 0;
    this.#nextNumber = 1;
    this.#hasGap = false;
    this.#skipsRest = false;
    this.#message.clear();
  }

  /** §6.4: the line is neutral again. @param incomplete why a message without its L record is cut short */
  #endSession(incomplete: string): void {
    this.#reportNoise();
    this.#message.deliver(incomplete);
    this.#state = "neutral";
    this.#actions.stopTimer();
    this.#sender.sessionEnded();
  }

  #ignore(byte: number, noise: Noise): void {
    this.#actions.push(noise.add(byte));
    // In a session the timer waits for the next frame; while the agent sends, for the reply.
    if (this.hasNoise && this.#sender.state === "idle") this.#actions.startTimer(NOISE_TIMEOUT_MS);
  }

  #reportNoise(): void {
    this.#actions.push(this.#noiseOutside.end());
    this.#actions.push(this.#noiseBetween.end());
  }
}

/** Returns whether the byte starts a frame, or starts or ends a session. */
function isStart(byte: number): boolean {
  return byte === STX || byte === EOT || byte === ENQ;
}

function numberText(number: number): string {
  return number >= 0 && number <= 7 ? String(number) : `byte ${hexByte(number + DIGIT_0)}`;
}

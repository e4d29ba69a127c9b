import type { ActionQueue } from "../action-queue.ts";
import { ACK, CR, ENQ, EOT, ETB, ETX, NAK } from "../bytes.ts";
import type { LinkAction } from "../link.ts";
import { encodeFrame } from "./frame.ts";

// Sender of LIS01-A2: one message at a time, each frame acknowledged before the next. A message that fails is returned
// as unsent; the connection keeps it and offers it again.

/** Max wait for a reply: 15 s, then the sender ends with EOT (§6.5.2.1, §6.5.2.3). */
export const REPLY_TIMEOUT_MS = 15_000;
/** Max tries of one frame; then the transfer ends (§6.5.1.2). */
export const FRAME_TRIES_MAX = 6;
/** Wait after NAK before the next ENQ: 10 s (§6.2.6). */
export const BUSY_MS = 10_000;
/** Wait of a computer after contention, for the instrument to send: 20 s (§6.5.2.2). */
export const HOST_CONTENTION_MS = 20_000;
/** Wait of an instrument, which has priority, after contention: 1 s (§6.2.7.1). */
export const INSTRUMENT_CONTENTION_MS = 1_000;
/** Wait of an interrupted sender: 15 s, or until the other side has sent and ended (§6.3.5). */
export const INTERRUPT_MS = 15_000;
/** Wait for the reply after an invalid character. Without it, the repeated frame would get two replies. */
export const GARBLED_MS = 300;
/** Max ENQs for one message; then the message is returned as unsent. The standard sets no bound. */
export const ENQUIRIES_MAX = 6;

export interface SenderOptions {
  /** Side with priority when both send ENQ: the instrument. Default `host`, a computer. */
  readonly role?: "host" | "instrument";
  /**
   * Max text bytes of a frame: 240 in E1381-95. LIS01-A2 allows 63 993 (§6.3.1), and recommends that only over TCP
   * (§4.4.1).
   */
  readonly frameBytes?: number;
  /**
   * Content of a frame. `record`, the usual: one record, ended by ETX. `etb-record`: one record, ended by ETX only at
   * the end of the message. `message`: as much of the message as fits.
   */
  readonly framing?: "record" | "etb-record" | "message";
}

export type SenderState =
  | "idle"
  /** A message waits for the line. */
  | "ready"
  | "establishing"
  /** ENQ got NAK: the other side cannot receive now. */
  | "busy"
  /** ENQ got ENQ: both sides want to send. */
  | "contention"
  | "transferring"
  /** A frame is sent, and an invalid reply character was received. */
  | "garbled"
  /** A frame got EOT: the other side wants to send. */
  | "interrupted";

const ENQUIRE: LinkAction = { do: "reply", bytes: Uint8Array.of(ENQ) };
const END: LinkAction = { do: "reply", bytes: Uint8Array.of(EOT) };

export class Sender {
  readonly #actions: ActionQueue;
  readonly #contentionMs: number;
  readonly #frameBytes: number;
  readonly #framing: "record" | "etb-record" | "message";
  #state: SenderState = "idle";

  #message: Uint8Array | null = null;
  #enquiries = 0;
  #acceptedBytes = 0;
  /** The current frame, its number, and the message bytes in it. */
  #frame: Uint8Array = new Uint8Array(0);
  #frameNumber = 0;
  #frameText = 0;
  #frameTries = 0;

  constructor({ role = "host", frameBytes = 240, framing = "record" }: SenderOptions, actions: ActionQueue) {
    this.#contentionMs = role === "host" ? HOST_CONTENTION_MS : INSTRUMENT_CONTENTION_MS;
    this.#frameBytes = frameBytes;
    this.#framing = framing;
    this.#actions = actions;
  }

  get state(): SenderState {
    return this.#state;
  }

  /** The next bytes are a reply. */
  get awaitsReply(): boolean {
    return this.#state === "establishing" || this.#state === "transferring" || this.#state === "garbled";
  }

  /**
   * A message waits, and the other side has not requested the line. Two sides that both interrupt would make no
   * progress.
   */
  get wantsLine(): boolean {
    return this.#message !== null && this.#state !== "interrupted";
  }

  offer(message: Uint8Array): void {
    if (this.#message !== null) throw new Error("a message is offered before the last one is sent or unsent");
    this.#message = message;
    this.#enquiries = 0;
    if (this.#state === "idle") this.#state = "ready";
  }

  /** Starts sending; the line is neutral. */
  begin(): void {
    if (this.#state === "ready") this.#enquire();
  }

  /** Handles the end of the other side's session. */
  sessionEnded(): void {
    switch (this.#state) {
      case "contention":
      case "interrupted":
        this.#ready();
        break;
      case "busy":
        // The link has no clock, so it cannot know how much of the 10 s has passed.
        this.#wait("busy", BUSY_MS);
        break;
      case "idle":
      case "ready":
      case "establishing":
      case "transferring":
      case "garbled":
        break;
    }
  }

  /** Reads the first reply of a chunk. The device sent later bytes before the agent could respond to it. */
  receive(chunk: Uint8Array): void {
    for (const byte of chunk) {
      const isReply = this.#state === "establishing" ? this.#replyToEnq(byte) : this.#replyToFrame(byte);
      if (isReply) return;
    }
  }

  timeout(): void {
    switch (this.#state) {
      case "idle":
      case "ready":
        break;
      case "busy":
      case "contention":
      case "interrupted":
        this.#ready();
        break;
      case "establishing":
        this.#abort(`no reply to ENQ within ${REPLY_TIMEOUT_MS / 1000} s`);
        break;
      case "transferring":
        this.#abort(`no reply to frame ${this.#frameNumber} within ${REPLY_TIMEOUT_MS / 1000} s`);
        break;
      case "garbled":
        this.#retryFrame("got an invalid reply");
        break;
    }
  }

  close(): void {
    if (this.#state === "idle") return;
    this.#state = "idle";
    this.#actions.stopTimer();
    if (this.#message !== null) this.#returnUnsent("the connection closed");
  }

  #enquire(): void {
    if (this.#enquiries === ENQUIRIES_MAX) {
      this.#state = "idle";
      this.#returnUnsent(`no transfer after ${ENQUIRIES_MAX} ENQs: the other side was busy or wanted to send`);
      return;
    }
    this.#enquiries += 1;
    this.#actions.push(ENQUIRE);
    this.#wait("establishing", REPLY_TIMEOUT_MS);
  }

  #replyToEnq(byte: number): boolean {
    switch (byte) {
      case ACK:
        this.#acceptedBytes = 0;
        this.#frameNumber = 0;
        this.#sendNext();
        return true;
      case NAK:
        this.#wait("busy", BUSY_MS);
        return true;
      case ENQ:
        // No reply: the instrument repeats its ENQ (§6.2.7.1).
        this.#wait("contention", this.#contentionMs);
        return true;
      default:
        return false;
    }
  }

  #replyToFrame(byte: number): boolean {
    switch (byte) {
      case ACK:
        this.#acceptedBytes += this.#frameText;
        this.#sendNext();
        return true;
      case EOT:
        // The receiver accepts the frame and requests a stop (§6.3.5).
        this.#acceptedBytes += this.#frameText;
        this.#stop();
        return true;
      case NAK:
        this.#retryFrame("got NAK");
        return true;
      default:
        // An invalid character counts as NAK (§6.5.1.2), unless a reply follows it directly.
        if (this.#state !== "garbled") this.#wait("garbled", GARBLED_MS);
        return false;
    }
  }

  #sendNext(): void {
    const message = this.#message!;
    if (this.#acceptedBytes === message.length) {
      this.#state = "idle";
      this.#actions.push(END);
      this.#actions.stopTimer();
      this.#sent();
      return;
    }
    const { text, terminator } = this.#cut(message.subarray(this.#acceptedBytes));
    this.#frameNumber = (this.#frameNumber + 1) % 8;
    this.#frame = encodeFrame(this.#frameNumber, text, terminator);
    this.#frameText = text.length;
    this.#frameTries = 0;
    this.#transmit();
  }

  /** Returns the text of the next frame and its terminator. */
  #cut(rest: Uint8Array): { text: Uint8Array; terminator: typeof ETX | typeof ETB } {
    const cr = this.#framing === "message" ? -1 : rest.indexOf(CR);
    const recordEnd = cr < 0 ? rest.length : cr + 1;
    const length = Math.min(recordEnd, this.#frameBytes);
    const endsRecord = this.#framing === "record" && length === recordEnd;
    return { text: rest.subarray(0, length), terminator: endsRecord || length === rest.length ? ETX : ETB };
  }

  #transmit(): void {
    this.#frameTries += 1;
    this.#actions.push({ do: "reply", bytes: this.#frame });
    this.#wait("transferring", REPLY_TIMEOUT_MS);
  }

  #retryFrame(how: string): void {
    this.#actions.warn(`frame ${this.#frameNumber} ${how}`);
    if (this.#frameTries < FRAME_TRIES_MAX) this.#transmit();
    else this.#abort(`frame ${this.#frameNumber} was not accepted in ${FRAME_TRIES_MAX} tries`);
  }

  /** Stops for the other side. The message is sent again from its start. */
  #stop(): void {
    this.#actions.push(END);
    this.#wait("interrupted", INTERRUPT_MS);
    if (this.#acceptedBytes === this.#message!.length) this.#sent();
  }

  #abort(reason: string): void {
    this.#state = "idle";
    this.#actions.push(END);
    this.#actions.stopTimer();
    this.#returnUnsent(reason);
  }

  #sent(): void {
    this.#message = null;
    this.#actions.push({ do: "sent" });
  }

  #returnUnsent(reason: string): void {
    this.#message = null;
    this.#actions.push({ do: "unsent", reason });
  }

  #ready(): void {
    this.#state = this.#message === null ? "idle" : "ready";
  }

  #wait(state: SenderState, ms: number): void {
    this.#state = state;
    this.#actions.startTimer(ms);
  }
}

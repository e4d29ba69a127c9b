import type { ActionQueue } from "../action-queue.ts";
import { ACK, CR, ENQ, EOT, ETB, ETX, NAK } from "../bytes.ts";
import type { LinkAction } from "../link.ts";
import { encodeFrame } from "./frame.ts";

// The sender of LIS01-A2: one message at a time, frame by frame, each acknowledged before the next. A message that does
// not get through is given back whole: the shell keeps it and offers it again.

/** §6.5.2.1, §6.5.2.3: a reply comes within 15 s, or the sender ends with EOT. */
export const REPLY_TIMEOUT_MS = 15_000;
/** §6.5.1.2: a frame that is not accepted six times ends the transfer. */
export const FRAME_TRIES_MAX = 6;
/** §6.2.6: after NAK the sender waits 10 s before its next ENQ. */
export const BUSY_MS = 10_000;
/** §6.5.2.2: a computer leaves the line to the instrument for 20 s. */
export const HOST_CONTENTION_MS = 20_000;
/** §6.2.7.1: an instrument, which has priority, sends its next ENQ after 1 s. */
export const INSTRUMENT_CONTENTION_MS = 1_000;
/** §6.3.5: a sender that was asked to stop leaves the line free for 15 s, or until the other side has sent and ended. */
export const INTERRUPT_MS = 15_000;
/** So long after a character that is no reply, the reply may still come; a frame sent again sooner would be answered twice. */
export const GARBLED_MS = 300;
/** ENQs for one message; the standard sets no bound. Then it is given back, and the shell decides when to try again. */
export const ENQUIRIES_MAX = 6;

export interface SenderOptions {
  /** Who has priority when both say ENQ: the instrument. A computer if not given. */
  readonly role?: "host" | "instrument";
  /** Text in one frame: 240 by E1381-95; LIS01-A2 (§6.3.1) allows 63 993, and recommends it over TCP alone (§4.4.1). */
  readonly frameBytes?: number;
  /**
   * What one frame holds. `record`, as most do: a record, ETX behind each. `etb-record`: a record, ETX behind the last
   * of the message alone. `message`: as much of the message as there is room for.
   */
  readonly framing?: "record" | "etb-record" | "message";
}

export type SenderState =
  /** There is nothing to send. */
  | "idle"
  /** A message waits for the line. */
  | "ready"
  /** ENQ is sent. */
  | "establishing"
  /** ENQ was answered NAK: the other side cannot receive now. */
  | "busy"
  /** ENQ was answered ENQ: both want to send. */
  | "contention"
  /** A frame is sent. */
  | "transferring"
  /** A frame is sent, and a character came that is no reply. */
  | "garbled"
  /** A frame was answered EOT: the other side wants to send. */
  | "interrupted";

const SAY_ENQ: LinkAction = { do: "reply", bytes: Uint8Array.of(ENQ) };
const SAY_EOT: LinkAction = { do: "reply", bytes: Uint8Array.of(EOT) };

export class Sender {
  readonly #actions: ActionQueue;
  readonly #contentionMs: number;
  readonly #frameBytes: number;
  readonly #framing: "record" | "etb-record" | "message";
  #state: SenderState = "idle";

  #message: Uint8Array | null = null;
  #enquiries = 0;
  /** How much of the message was accepted. */
  #acceptedBytes = 0;
  /** The frame that is sent, on the wire and as a number, and the text it takes from the message. */
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

  /** Something is sent and not answered: what comes is the reply. */
  get awaitsReply(): boolean {
    return this.#state === "establishing" || this.#state === "transferring" || this.#state === "garbled";
  }

  /** A message waits, and not because the other side asked for the line: two that both ask would never get anywhere. */
  get wantsLine(): boolean {
    return this.#message !== null && this.#state !== "interrupted";
  }

  offer(message: Uint8Array): void {
    if (this.#message !== null) throw new Error("a message is offered before the last one is sent or unsent");
    this.#message = message;
    this.#enquiries = 0;
    if (this.#state === "idle") this.#state = "ready";
  }

  /** The line is neutral: what waits may begin. */
  begin(): void {
    if (this.#state === "ready") this.#enquire();
  }

  /** The other side has sent and ended. */
  sessionEnded(): void {
    switch (this.#state) {
      case "contention":
      case "interrupted":
        this.#ready();
        break;
      case "busy":
        // How much of the 10 s has passed the link cannot know: it has no clock.
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

  /** Only the first reply of a chunk is one: what stands behind it came before we could answer it. */
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
        this.#notAccepted("was answered by what is no reply");
        break;
    }
  }

  close(): void {
    if (this.#state === "idle") return;
    this.#state = "idle";
    this.#actions.stopTimer();
    if (this.#message !== null) this.#giveBack("the connection closed");
  }

  #enquire(): void {
    if (this.#enquiries === ENQUIRIES_MAX) {
      this.#state = "idle";
      this.#giveBack(`no transfer after ${ENQUIRIES_MAX} ENQs: the other side was busy or wanted to send`);
      return;
    }
    this.#enquiries += 1;
    this.#actions.push(SAY_ENQ);
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
        // This ENQ is not answered: the instrument says it again (§6.2.7.1).
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
        // Accepted, and please stop (§6.3.5).
        this.#acceptedBytes += this.#frameText;
        this.#stop();
        return true;
      case NAK:
        this.#notAccepted("was answered NAK");
        return true;
      default:
        // What is no reply counts as NAK (§6.5.1.2), unless the reply is right behind it.
        if (this.#state !== "garbled") this.#wait("garbled", GARBLED_MS);
        return false;
    }
  }

  #sendNext(): void {
    const message = this.#message!;
    if (this.#acceptedBytes === message.length) {
      this.#state = "idle";
      this.#actions.push(SAY_EOT);
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

  /** The text of the next frame and how it ends. */
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

  #notAccepted(how: string): void {
    this.#actions.warn(`frame ${this.#frameNumber} ${how}`);
    if (this.#frameTries < FRAME_TRIES_MAX) this.#transmit();
    else this.#abort(`frame ${this.#frameNumber} was not accepted in ${FRAME_TRIES_MAX} tries`);
  }

  /** A message that was cut here is sent again from its beginning. */
  #stop(): void {
    this.#actions.push(SAY_EOT);
    this.#wait("interrupted", INTERRUPT_MS);
    if (this.#acceptedBytes === this.#message!.length) this.#sent();
  }

  #abort(reason: string): void {
    this.#state = "idle";
    this.#actions.push(SAY_EOT);
    this.#actions.stopTimer();
    this.#giveBack(reason);
  }

  #sent(): void {
    this.#message = null;
    this.#actions.push({ do: "sent" });
  }

  #giveBack(reason: string): void {
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

import { ActionQueue } from "../action-queue.ts";
import { FS, STX, VT, withCapacity } from "../bytes.ts";
import { printable } from "../escape-sequences.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { encodeMllp } from "../mllp.ts";
import { type AckOptions, HEAD_BYTES_MAX, type Outcome } from "./acknowledgement.ts";
import type { Stamp } from "./acknowledgement-message.ts";
import { AcknowledgementTemplate } from "./acknowledgement-template.ts";
import { parseMessage, splitMessages } from "./message.ts";

// MLLP: VT, a message, FS CR. What the link is given is on disk, so it answers a whole message at once.
// Framing is found in bytes: VT, FS and CR are no part of a character in any charset but UTF-16 and UTF-32.

/** Images come within messages. What is longer is refused at its end, and what came of it is delivered as incomplete. */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** A frame that goes on no more is given up. Between frames a device may be silent for days. */
export const FRAME_TIMEOUT_MS = 30_000;
/** FS without CR: this much silence ends the frame too. */
export const FRAME_END_TIMEOUT_MS = 200;
/** How long a device may take to acknowledge a message of ours that wants it. */
export const ANSWER_TIMEOUT_MS = 10_000;

export interface LinkOptions extends AckOptions {
  /** FS before a printable character is text: for devices that send images as they are. Else every FS ends its frame. */
  readonly textMayHoldFs?: boolean;
  /** A DSR^Q03 is sent and that is that: the QCK^Q02 behind it is not to wait for its acknowledgement. */
  readonly displayFirst?: boolean;
}

type State =
  /** Everything but VT is ignored. */
  | "between-frames"
  | "in-frame"
  /** FS came; CR belongs to it. */
  | "frame-end";

/** A message of a frame, and what it is answered with. */
interface AcknowledgedMessage {
  readonly message: Uint8Array;
  /** Frames. */
  readonly replies: readonly Uint8Array[];
  readonly refusal: string | null;
}

export class Hl7Link implements Link {
  readonly #options: LinkOptions;
  readonly #acknowledgements: AcknowledgementTemplate;
  #state: State = "between-frames";
  /** What was read of the frame; of one that will be refused, only enough to answer it. */
  #frame = new Uint8Array(FRAME_BYTES_INITIAL);
  #frameLength = 0;
  /** What will become of the frame. */
  #outcome: Outcome = "stored";
  /** Bytes received, up to the end of the present chunk, and before the first of the frame. */
  #received = 0;
  #frameFrom = 0;
  readonly #outside = new Noise("outside frames");
  /** MSH-10 of our message that the device has yet to acknowledge. */
  #sentId: string | null = null;
  readonly #actions = new ActionQueue();

  constructor(stamp: () => Stamp, options: LinkOptions = {}) {
    this.#options = options;
    this.#acknowledgements = new AcknowledgementTemplate(options, stamp);
  }

  get atRest(): boolean {
    return this.#isQuiet && this.#sentId === null;
  }

  get heldBytes(): number {
    return this.#state === "between-frames" ? 0 : this.#frame.length;
  }

  /** Only the end of a frame is answered. */
  mayAccept(chunk: Uint8Array): boolean {
    return this.#state === "frame-end" || chunk.includes(FS);
  }

  receive(chunk: Uint8Array): LinkAction[] {
    const wasQuiet = this.#isQuiet;
    this.#read(chunk, "stored");
    // Heartbeats do not put off the end of our waiting.
    if (wasQuiet && this.#isQuiet && this.#sentId !== null && this.#actions.isEmpty) return [];
    return this.#takeActions();
  }

  /** A message with its header. @throws when the one before it is not acknowledged yet */
  send(message: Uint8Array): LinkAction[] {
    if (this.#sentId !== null) throw new Error(`message ${this.#sentId} is not acknowledged yet`);
    this.#actions.reply(encodeMllp(message));
    this.#sentId = idToAcknowledge(message, this.#options);
    if (this.#sentId === null) this.#actions.push({ do: "sent" });
    return this.#takeActions();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    this.#loseBytes();
    this.#read(chunk, "not-stored");
    return this.#takeActions();
  }

  /** Delivers what refuse() delivered: a replay has to count the same messages. */
  gap(): LinkAction[] {
    this.#loseBytes();
    return this.#takeActions();
  }

  timeout(): LinkAction[] {
    switch (this.#state) {
      case "between-frames":
        if (this.#outside.isPending) this.#actions.push(this.#outside.take());
        else this.#giveUp(`the device did not acknowledge it within ${ANSWER_TIMEOUT_MS / 1000} s`);
        break;
      case "in-frame":
        this.#dropFrame(`the device fell silent for ${FRAME_TIMEOUT_MS / 1000} s within a frame`);
        break;
      case "frame-end":
        this.#endFrame();
        break;
    }
    return this.#takeActions();
  }

  close(): LinkAction[] {
    if (this.#state === "in-frame") this.#dropFrame("the connection closed within a frame");
    if (this.#state === "frame-end") this.#endFrame();
    this.#actions.push(this.#outside.take());
    this.#giveUp("the connection closed before the device acknowledged it");
    return this.#takeActions();
  }

  get #isQuiet(): boolean {
    return this.#state === "between-frames" && !this.#outside.isPending;
  }

  /** `outcome`: what can become of a frame that begins in these bytes. */
  #read(chunk: Uint8Array, outcome: Outcome): void {
    if (outcome === "stored") this.#received += chunk.length;
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "in-frame") {
        at = this.#readFrame(chunk, at, outcome);
      } else {
        at += 1;
        this.#step(chunk[at - 1]!, outcome, chunk.length - at);
      }
    }
  }

  /** `left`: how many bytes of the chunk are behind this one. */
  #step(byte: number, outcome: Outcome, left: number): void {
    if (this.#state === "frame-end") {
      if (this.#options.textMayHoldFs === true && byte >= 0x20) {
        this.#state = "in-frame";
        this.#append(Uint8Array.of(FS, byte));
        return;
      }
      this.#endFrame();
    }
    if (byte === VT) this.#beginFrame(outcome, left);
    // A BC-5800 says STX every 3 s.
    else if (byte !== STX && !isUsualBetweenMessages(byte)) this.#actions.push(this.#outside.add(byte));
  }

  /** Reads up to and including VT or FS; answers where it stopped. */
  #readFrame(chunk: Uint8Array, from: number, outcome: Outcome): number {
    const rest = chunk.subarray(from);
    const end = rest.indexOf(FS);
    const whole = end < 0 ? rest : rest.subarray(0, end);
    const restart = whole.indexOf(VT);
    const taken = restart < 0 ? whole : whole.subarray(0, restart);
    const at = from + taken.length;
    this.#append(taken);
    if (at === chunk.length) return at;
    if (chunk[at] === FS) {
      this.#state = "frame-end";
    } else {
      this.#dropFrame("a new frame began before its end");
      this.#beginFrame(outcome, chunk.length - at - 1);
    }
    return at + 1;
  }

  #beginFrame(outcome: Outcome, left: number): void {
    this.#actions.push(this.#outside.take());
    this.#state = "in-frame";
    this.#frameFrom = this.#received - left;
    this.#frameLength = 0;
    this.#outcome = outcome;
  }

  #append(bytes: Uint8Array): void {
    const max = this.#outcome === "stored" ? MESSAGE_BYTES_MAX : HEAD_BYTES_MAX;
    const taken = bytes.subarray(0, max - this.#frameLength);
    this.#frame = withCapacity(this.#frame, this.#frameLength + taken.length);
    this.#frame.set(taken, this.#frameLength);
    this.#frameLength += taken.length;
    if (taken.length < bytes.length) {
      this.#refuseFrame("too-long", `a message of more than ${MESSAGE_BYTES_MAX} bytes`);
    }
  }

  /** Bytes are missing here. A frame that came up to its FS is whole without them, unless that FS may be text. */
  #loseBytes(): void {
    if (this.#state === "frame-end" && this.#options.textMayHoldFs !== true) this.#endFrame();
    else this.#refuseFrame("not-stored", "bytes of it could not be stored");
  }

  /** From here on the frame is read only to be answered at its end. */
  #refuseFrame(outcome: Outcome, incomplete: string): void {
    if (this.#state === "between-frames" || this.#outcome !== "stored") return;
    this.#deliverIncomplete(incomplete);
    this.#outcome = outcome;
    // Perhaps it was refused for the memory that it takes.
    this.#frame = this.#frame.slice(0, HEAD_BYTES_MAX);
    this.#frameLength = Math.min(this.#frameLength, HEAD_BYTES_MAX);
  }

  /** No answer: the device has given the frame up, or would take it for the answer to its next one. */
  #dropFrame(reason: string): void {
    this.#actions.warn(reason);
    if (this.#outcome === "stored") this.#deliverIncomplete(reason);
    this.#leaveFrame();
  }

  #endFrame(): void {
    const outcome = this.#outcome;
    const payload = this.#takeFrame();
    this.#leaveFrame();
    if (payload.length === 0) {
      this.#actions.warn("a frame without a message: not answered");
      return;
    }
    for (const { message, replies, refusal } of this.#acknowledge(payload, outcome)) {
      if (outcome === "stored") this.#deliver(message, message.byteOffset - payload.byteOffset, null);
      if (refusal !== null) this.#actions.warn(refusal);
      for (const bytes of replies) this.#actions.reply(bytes);
      if (outcome === "stored" && this.#sentId !== null) this.#readAcknowledgement(message, this.#sentId);
    }
  }

  #acknowledge(payload: Uint8Array, outcome: Outcome): AcknowledgedMessage[] {
    return splitMessages(payload).map((message) => {
      const { messages, refusal } = this.#acknowledgements.acknowledge(message, outcome);
      return { message, replies: messages.map(encodeMllp), refusal };
    });
  }

  #readAcknowledgement(message: Uint8Array, id: string): void {
    const parsed = parseMessage(message, this.#options);
    const msa = "problem" in parsed ? undefined : parsed.segments.find(({ name }) => name === "MSA");
    if (msa === undefined) return;
    const accepts = /^[AC]A$/i.test(msa.field(1).trim());
    const named = msa.field(2).trim();
    // Who could not read our header refuses it without its id.
    if (named !== id && (accepts || named !== "")) return;
    if (accepts) {
      this.#sentId = null;
      this.#actions.push({ do: "sent" });
    } else {
      this.#giveUp(`the device answered it with ${printable(msa.field(1))}`);
    }
  }

  #giveUp(reason: string): void {
    if (this.#sentId === null) return;
    this.#sentId = null;
    this.#actions.push({ do: "unsent", reason });
  }

  /** What is too large to be kept for the next frame need not be copied. */
  #takeFrame(): Uint8Array {
    const isLetGo = this.#frame.length > FRAME_BYTES_KEPT;
    return isLetGo ? this.#frame.subarray(0, this.#frameLength) : this.#frame.slice(0, this.#frameLength);
  }

  #leaveFrame(): void {
    this.#state = "between-frames";
    this.#frameLength = 0;
    // One long message must not hold its memory for days.
    if (this.#frame.length > FRAME_BYTES_KEPT) this.#frame = new Uint8Array(FRAME_BYTES_INITIAL);
  }

  #deliverIncomplete(incomplete: string): void {
    if (this.#frameLength === 0) return;
    this.#deliver(this.#frame.slice(0, this.#frameLength), 0, incomplete);
  }

  /** A part of the frame, from so many bytes behind its first one. */
  #deliver(message: Uint8Array, start: number, incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message, incomplete, from: this.#frameFrom + start });
  }

  #takeActions(): LinkAction[] {
    const ms = this.#timerMs();
    if (ms === null) this.#actions.stopTimer();
    else this.#actions.startTimer(ms);
    return this.#actions.take();
  }

  #timerMs(): number | null {
    switch (this.#state) {
      case "between-frames":
        if (this.#outside.isPending) return NOISE_TIMEOUT_MS;
        return this.#sentId === null ? null : ANSWER_TIMEOUT_MS;
      case "in-frame":
        return FRAME_TIMEOUT_MS;
      case "frame-end":
        return FRAME_END_TIMEOUT_MS;
    }
  }
}

const FRAME_BYTES_INITIAL = 1024;
const FRAME_BYTES_KEPT = 256 * 1024;

/**
 * MSH-10 of a message that is to be acknowledged. What answers a query is not (it has MSA), but for a display response, and
 * nor is what says in MSH-15 and MSH-16 that it never is.
 */
function idToAcknowledge(message: Uint8Array, { displayFirst }: LinkOptions): string | null {
  const parsed = parseMessage(message);
  if ("problem" in parsed) return null;
  const { header, segments } = parsed;
  const never = header.field(15) === "NE" && header.field(16) === "NE";
  const isAwaited = header.component(9, 1) === "DSR" && displayFirst !== true;
  const isAnswer = segments.some(({ name }) => name === "MSA") && !isAwaited;
  return never || isAnswer ? null : header.field(10);
}

import { printable } from "../escape-sequences.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { type AckOptions, Answers, HEAD_BYTES_MAX, type Outcome, type Stamp } from "./acknowledgement.ts";
import { parseMessage, splitMessages } from "./message.ts";

// MLLP: VT, a message, FS CR. What the link is given is on disk, so it answers a whole message at once.
// Framing is found in bytes: VT, FS and CR are no part of a character in any charset but UTF-16 and UTF-32.

export const VT = 0x0b;
export const FS = 0x1c;
const STX = 0x02;
const CR = 0x0d;

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
interface Answered {
  readonly message: Uint8Array;
  /** Frames. */
  readonly replies: readonly Uint8Array[];
  readonly refusal: string | null;
}

/** What a frame that begins and ends in one chunk comes to, if it is stored. */
interface Prepared {
  /** In the chunk, behind VT. */
  readonly start: number;
  readonly payload: Uint8Array;
  readonly answered: readonly Answered[];
}

export class Hl7Link implements Link {
  readonly #options: LinkOptions;
  readonly #answers: Answers;
  #state: State = "between-frames";
  /** What was read of the frame; of one that will be refused, only enough to answer it. */
  #frame = new Uint8Array(FRAME_BYTES_INITIAL);
  #frameLength = 0;
  /** What will become of the frame. */
  #outcome: Outcome = "stored";
  /** By the chunks that are on their way to the disk. */
  readonly #prepared = new Map<Uint8Array, readonly Prepared[]>();
  /** Of the frame that has come up to its FS, if that is known. */
  #foreseen: Prepared | null = null;
  /** Bytes received, up to the end of the present chunk, and before the first of the frame. */
  #received = 0;
  #frameFrom = 0;
  readonly #outside = new Noise("outside frames");
  /** Frames in a row that ended before their end, and whether one of them was delivered. */
  #fragments = 0;
  #hasFragment = false;
  /** MSH-10 of our message that the device has yet to acknowledge. */
  #sentId: string | null = null;
  #actions: LinkAction[] = [];

  constructor(stamp: () => Stamp, options: LinkOptions = {}) {
    this.#options = options;
    this.#answers = new Answers(options, stamp);
  }

  get atRest(): boolean {
    return this.#isQuiet && this.#sentId === null;
  }

  get between(): string | null {
    if (this.#state === "between-frames") return this.#state;
    return this.#outcome === "stored" ? null : "in a refused frame";
  }

  get heldBytes(): number {
    return this.#state === "between-frames" ? 0 : this.#frame.length;
  }

  /** Only the end of a frame is answered. */
  mayAccept(chunk: Uint8Array): boolean {
    return this.#state === "frame-end" || chunk.includes(FS);
  }

  prepare(chunk: Uint8Array): void {
    const prepared: Prepared[] = [];
    let end = chunk.indexOf(FS);
    for (let from = 0; end >= 0; from = end + 1, end = chunk.indexOf(FS, from)) {
      const start = chunk.subarray(from, end).lastIndexOf(VT) + from + 1;
      if (start === from || start === end) continue;
      const payload = new Uint8Array(chunk.buffer, chunk.byteOffset + start, end - start);
      prepared.push({ start, payload, answered: this.#answer(payload, "stored") });
    }
    if (prepared.length > 0) this.#prepared.set(chunk, prepared);
  }

  receive(chunk: Uint8Array): LinkAction[] {
    const wasQuiet = this.#isQuiet;
    this.#read(chunk, "stored");
    this.#prepared.delete(chunk);
    // Heartbeats do not put off the end of our waiting.
    if (wasQuiet && this.#isQuiet && this.#sentId !== null && this.#actions.length === 0) return [];
    return this.#takeActions();
  }

  /** A message with its header. @throws when the one before it is not acknowledged yet */
  send(message: Uint8Array): LinkAction[] {
    if (this.#sentId !== null) throw new Error(`message ${this.#sentId} is not acknowledged yet`);
    this.#actions.push({ do: "reply", bytes: encodeFrame(message) });
    this.#sentId = idToAcknowledge(message, this.#options);
    if (this.#sentId === null) this.#actions.push({ do: "sent" });
    return this.#takeActions();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    this.#prepared.delete(chunk);
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
        if (this.#isPending) this.#reportPending();
        else this.#giveUp(`the device did not acknowledge it within ${ANSWER_TIMEOUT_MS / 1000} s`);
        break;
      case "in-frame":
        this.#dropFrame(`the device fell silent for ${FRAME_TIMEOUT_MS / 1000} s within a frame`);
        this.#reportPending();
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
    this.#reportPending();
    this.#giveUp("the connection closed before the device acknowledged it");
    return this.#takeActions();
  }

  get #isQuiet(): boolean {
    return this.#state === "between-frames" && !this.#isPending;
  }

  /** Something is counted that was not reported yet. */
  get #isPending(): boolean {
    return this.#outside.isPending || this.#fragments > 0;
  }

  #reportPending(): void {
    this.#say(this.#outside.take());
    this.#endFragments();
  }

  /** `outcome`: what can become of a frame that begins in these bytes. */
  #read(chunk: Uint8Array, outcome: Outcome): void {
    if (outcome === "stored") this.#received += chunk.length;
    const begins = new Places(chunk, VT);
    const ends = new Places(chunk, FS);
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "in-frame") {
        at = this.#readFrame(chunk, at, Math.min(begins.next(at), ends.next(at)), outcome);
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
    else if (byte !== STX && !isUsualBetweenMessages(byte)) this.#say(this.#outside.add(byte));
  }

  /** Reads up to and including the VT or FS at `at`, or the end of the chunk. @returns the place behind it */
  #readFrame(chunk: Uint8Array, from: number, at: number, outcome: Outcome): number {
    this.#append(chunk.subarray(from, at));
    if (at === chunk.length) return at;
    if (chunk[at] === FS) {
      this.#state = "frame-end";
      this.#foreseen = this.#prepared.get(chunk)?.find(({ start }) => start === from) ?? null;
    } else {
      this.#dropFrame("a new frame began before its end");
      this.#beginFrame(outcome, chunk.length - at - 1);
    }
    return at + 1;
  }

  #beginFrame(outcome: Outcome, left: number): void {
    this.#say(this.#outside.take());
    this.#state = "in-frame";
    this.#frameFrom = this.#received - left;
    this.#frameLength = 0;
    this.#outcome = outcome;
  }

  #append(bytes: Uint8Array): void {
    const max = this.#outcome === "stored" ? MESSAGE_BYTES_MAX : HEAD_BYTES_MAX;
    const taken = bytes.subarray(0, max - this.#frameLength);
    this.#frame = withRoom(this.#frame, this.#frameLength + taken.length);
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
    this.#countFragment(incomplete);
    this.#endFragments();
    this.#outcome = outcome;
    // Perhaps it was refused for the memory that it takes.
    this.#frame = this.#frame.slice(0, HEAD_BYTES_MAX);
    this.#frameLength = Math.min(this.#frameLength, HEAD_BYTES_MAX);
  }

  /** No answer: the device has given the frame up, or would take it for the answer to its next one. */
  #dropFrame(reason: string): void {
    const isStored = this.#outcome === "stored";
    if (!isStored || this.#fragments === 0) this.#warn(reason);
    if (isStored) this.#countFragment(reason);
    this.#leaveFrame();
  }

  #countFragment(reason: string): void {
    this.#fragments += 1;
    if (this.#hasFragment || this.#frameLength === 0) return;
    this.#hasFragment = true;
    this.#deliver(this.#frame.slice(0, this.#frameLength), 0, reason);
  }

  /** Reports the fragments behind the first one in one warning. A peer may send a fragment every 2 bytes. */
  #endFragments(): void {
    const more = this.#fragments - 1;
    this.#fragments = 0;
    this.#hasFragment = false;
    if (more > 0) this.#warn(`${more} more incomplete frames in a row: only the first is kept as a message`);
  }

  #endFrame(): void {
    const outcome = this.#outcome;
    const foreseen = outcome === "stored" ? this.#foreseen : null;
    const payload = foreseen?.payload ?? this.#takeFrame();
    this.#leaveFrame();
    if (payload.length === 0) {
      this.#warn("a frame without a message: not answered");
      return;
    }
    if (outcome === "stored") this.#endFragments();
    for (const { message, replies, refusal } of foreseen?.answered ?? this.#answer(payload, outcome)) {
      if (outcome === "stored") this.#deliver(message, message.byteOffset - payload.byteOffset, null);
      if (refusal !== null) this.#warn(refusal);
      for (const bytes of replies) this.#actions.push({ do: "reply", bytes });
      if (outcome === "stored" && this.#sentId !== null) this.#readAcknowledgement(message, this.#sentId);
    }
  }

  #answer(payload: Uint8Array, outcome: Outcome): Answered[] {
    return splitMessages(payload).map((message) => {
      const { messages, refusal } = this.#answers.answer(message, outcome);
      return { message, replies: messages.map(encodeFrame), refusal };
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
    this.#foreseen = null;
    this.#frameLength = 0;
    // One long message must not hold its memory for days.
    if (this.#frame.length > FRAME_BYTES_KEPT) this.#frame = new Uint8Array(FRAME_BYTES_INITIAL);
  }

  /** A part of the frame, from so many bytes behind its first one. */
  #deliver(message: Uint8Array, start: number, incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message, incomplete, from: this.#frameFrom + start });
  }

  #warn(reason: string): void {
    this.#actions.push({ do: "warn", reason });
  }

  #say(action: LinkAction | null): void {
    if (action !== null) this.#actions.push(action);
  }

  #takeActions(): LinkAction[] {
    const actions = this.#actions;
    this.#actions = [];
    actions.push({ do: "timer", ms: this.#timerMs() });
    return actions;
  }

  #timerMs(): number | null {
    switch (this.#state) {
      case "between-frames":
        if (this.#isPending) return NOISE_TIMEOUT_MS;
        return this.#sentId === null ? null : ANSWER_TIMEOUT_MS;
      case "in-frame":
        return FRAME_TIMEOUT_MS;
      case "frame-end":
        return FRAME_END_TIMEOUT_MS;
    }
  }
}

/** The places of a byte in a chunk. Each part of the chunk is searched once, however many frames begin in it. */
class Places {
  readonly #chunk: Uint8Array;
  readonly #byte: number;
  #next = -1;

  constructor(chunk: Uint8Array, byte: number) {
    this.#chunk = chunk;
    this.#byte = byte;
  }

  /** @returns the first place from there on, and the length of the chunk if there is none */
  next(from: number): number {
    if (this.#next < from) {
      const found = this.#chunk.indexOf(this.#byte, from);
      this.#next = found < 0 ? this.#chunk.length : found;
    }
    return this.#next;
  }
}

const FRAME_BYTES_INITIAL = 1024;
const FRAME_BYTES_KEPT = 256 * 1024;

/** A message as it goes on the wire. */
export function encodeFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 3);
  frame[0] = VT;
  frame.set(message, 1);
  frame[message.length + 1] = FS;
  frame[message.length + 2] = CR;
  return frame;
}

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

function withRoom(buffer: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= buffer.length) return buffer;
  const larger = new Uint8Array(Math.max(length, buffer.length * 2));
  larger.set(buffer);
  return larger;
}

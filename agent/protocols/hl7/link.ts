import { ActionQueue } from "../action-queue.ts";
import { CR, ETX, FS, LF, NUL, STX, VT, withCapacity } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { encodeMllp } from "../mllp.ts";
import { acknowledge, type AckOptions, HEAD_BYTES_MAX, type Outcome } from "./message/acknowledgement.ts";
import type { Stamp } from "./message/acknowledgement-message.ts";
import { fromHeader, MESSAGE_BYTES_MAX, splitMessages } from "./message/message.ts";
import { Sender, type SenderOptions } from "./sender.ts";

// MLLP link: VT, a message, FS CR. Received bytes are stored already, so a complete message is acknowledged immediately.
// Framing is found in bytes: VT, FS and CR are part of no character in any charset but UTF-16 and UTF-32. A text without a frame is a
// message, too, if a line begins with MSH: some devices send it on a serial line. Only its silence shows that it has ended. Segments
// that come after it are delivered as incomplete, so that a person sees them.

/** Max silence within a frame; then the frame is dropped. Between frames a device may be silent for days. */
export const FRAME_TIMEOUT_MS = 30_000;
/** Silence after an FS without CR that ends the frame. */
export const FRAME_END_TIMEOUT_MS = 200;
/** Silence that ends a message without a frame. A device may write it a segment at a time. */
export const BARE_END_TIMEOUT_MS = 5_000;
/** Max wait for the device's acknowledgement of a message. */
export const ANSWER_TIMEOUT_MS = 10_000;

export type LinkOptions = AckOptions & SenderOptions;

type FrameState =
  /** Everything but VT and a header at the start of a line is ignored. */
  | "between-frames"
  /** The first letters of a header without a frame were received. */
  | "bare-header"
  | "in-bare"
  | "in-frame"
  /** FS was received; a CR may follow. */
  | "frame-end";

/** A message of a frame, with its acknowledgement. */
interface AcknowledgedMessage {
  readonly message: Uint8Array;
  /** Encoded frames. */
  readonly replies: readonly Uint8Array[];
  readonly refusal: string | null;
}

export class Hl7Link implements Link {
  readonly #options: LinkOptions;
  readonly #stamp: () => Stamp;
  #state: FrameState = "between-frames";
  /** Content of the current frame. A frame that will be refused keeps only the head, for its acknowledgement. */
  #frame = new Uint8Array(FRAME_BYTES_INITIAL);
  #frameLength = 0;
  #outcome: Outcome = "stored";
  /** Bytes received up to the end of the current chunk, and up to the start of the frame. */
  #received = 0;
  #frameFrom = 0;
  readonly #outside = new Noise("outside frames");
  /** The message has no frame, and its acknowledgement has none either. */
  #isBare = false;
  /** The text without a frame does not begin with a header. */
  #isRest = false;
  /** The next byte outside frames begins a line. */
  #beginsLine = true;
  /** Incomplete frames in a row. */
  #fragments = 0;
  /** One of these frames was delivered. */
  #hasFragment = false;
  readonly #actions = new ActionQueue();
  readonly #sender: Sender;

  constructor(stamp: () => Stamp, options: LinkOptions = {}) {
    this.#options = options;
    this.#stamp = stamp;
    this.#sender = new Sender(options, this.#actions);
  }

  get isIdle(): boolean {
    return this.#isQuiet && !this.#sender.isAwaiting;
  }

  get between(): string | null {
    if (this.#state === "between-frames") {
      // The next bytes are read differently within a line, and after a fragment, which ends with the next silence.
      return `${this.#state}${this.#beginsLine ? "" : " in a line"}${this.#fragments > 0 ? " after a fragment" : ""}`;
    }
    if (this.#state === "bare-header") return null;
    return this.#outcome === "stored" ? null : "in a refused frame";
  }

  get heldBytes(): number {
    return this.#state === "between-frames" ? 0 : this.#frame.length;
  }

  /** Whether the chunk may complete a message: only complete ones are acknowledged, and any bytes may be the last without a frame. */
  mayAccept(chunk: Uint8Array): boolean {
    if (this.#state === "in-frame" || chunk.includes(FS)) return chunk.includes(FS);
    if (this.#state !== "between-frames") return true;
    const frame = chunk.indexOf(VT);
    const outside = frame < 0 ? chunk : chunk.subarray(0, frame);
    return outside.some(
      (byte, at) => byte === HEADER.charCodeAt(0) && (at === 0 ? this.#beginsLine : isBeforeLine(outside[at - 1]!)),
    );
  }

  receive(chunk: Uint8Array): LinkAction[] {
    const wasQuiet = this.#isQuiet;
    this.#read(chunk, "stored");
    // Heartbeats do not restart the timer of an awaited acknowledgement.
    if (wasQuiet && this.#isQuiet && this.#sender.isAwaiting && this.#actions.isEmpty) return [];
    return this.#drainActions();
  }

  /** Sends a message with its header. @throws while the last message is not acknowledged */
  send(message: Uint8Array): LinkAction[] {
    this.#sender.send(message);
    return this.#drainActions();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    this.#loseBytes();
    this.#read(chunk, "not-stored");
    return this.#drainActions();
  }

  /** Delivers the same messages as refuse(), so that a replay counts equally. */
  gap(): LinkAction[] {
    this.#loseBytes();
    return this.#drainActions();
  }

  timeout(): LinkAction[] {
    switch (this.#state) {
      case "between-frames":
        if (this.#isPending) this.#reportPending();
        else this.#sender.giveUp(`the device did not acknowledge it within ${ANSWER_TIMEOUT_MS / 1000} s`);
        break;
      case "in-frame":
        this.#dropFrame(`the device fell silent for ${FRAME_TIMEOUT_MS / 1000} s within a frame`);
        this.#reportPending();
        break;
      case "bare-header":
        this.#leaveHeader();
        this.#reportPending();
        break;
      case "in-bare":
        this.#endBare(`the device fell silent for ${BARE_END_TIMEOUT_MS / 1000} s within a segment`);
        break;
      case "frame-end":
        this.#endFrame();
        break;
    }
    return this.#drainActions();
  }

  close(): LinkAction[] {
    if (this.#state === "in-frame") this.#dropFrame("the connection closed within a frame");
    if (this.#state === "frame-end") this.#endFrame();
    if (this.#state === "in-bare") this.#endBare("the connection closed within a segment");
    if (this.#state === "bare-header") this.#leaveHeader();
    this.#reportPending();
    this.#sender.giveUp("the connection closed before the device acknowledged it");
    return this.#drainActions();
  }

  get #isQuiet(): boolean {
    return this.#state === "between-frames" && !this.#isPending;
  }

  /** Noise or fragments were counted and not reported. */
  get #isPending(): boolean {
    return this.#outside.isPending || this.#fragments > 0;
  }

  #reportPending(): void {
    this.#actions.push(this.#outside.end());
    this.#endFragments();
  }

  /** @param outcome possible outcome of a frame that starts in these bytes */
  #read(chunk: Uint8Array, outcome: Outcome): void {
    if (outcome === "stored") this.#received += chunk.length;
    const begins = new ByteOffsets(chunk, VT);
    const ends = new ByteOffsets(chunk, FS);
    const textEnds = new ByteOffsets(chunk, ETX);
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "in-frame") {
        at = this.#readFrame(chunk, at, Math.min(begins.next(at), ends.next(at)), outcome);
      } else if (this.#state === "in-bare") {
        at = this.#readFrame(chunk, at, Math.min(begins.next(at), ends.next(at), textEnds.next(at)), outcome);
      } else {
        at += 1;
        this.#step(chunk[at - 1]!, outcome, chunk.length - at);
      }
    }
  }

  /** @param left bytes of the chunk after this one */
  #step(byte: number, outcome: Outcome, left: number): void {
    if (this.#state === "frame-end") this.#endFrame();
    if (this.#isHeader(byte, outcome, left)) return;
    this.#leaveHeader();
    this.#beginsLine = byte === CR || byte === LF || (this.#beginsLine && isBeforeLine(byte));
    if (byte === VT) this.#beginFrame(outcome, left);
    else if (byte === STX) this.#actions.push(this.#outside.addStx());
    else this.#actions.push(this.#outside.add(byte));
  }

  /** Takes a byte that begins a text without a frame: the letters of a segment at the start of a line, and a separator. */
  #isHeader(byte: number, outcome: Outcome, left: number): boolean {
    const at = this.#state === "bare-header" ? this.#frameLength : 0;
    const letters = String.fromCharCode(...this.#frame.subarray(0, at), byte);
    if (at === HEADER.length) {
      if (!SEPARATOR.test(letters.slice(at)) || outcome !== this.#outcome) return false;
      this.#actions.push(this.#outside.end());
      this.#state = "in-bare";
      this.#isBare = true;
      this.#isRest = !letters.startsWith(HEADER);
    } else if (!BEGINNINGS.some((name) => name.startsWith(letters)) || (at === 0 && !this.#beginsLine)) {
      return false;
    } else if (at === 0) {
      this.#state = "bare-header";
      this.#frameFrom = this.#received - left - 1;
      this.#outcome = outcome;
    }
    this.#append(Uint8Array.of(byte));
    return true;
  }

  /** Counts letters that began no header as noise. */
  #leaveHeader(): void {
    if (this.#state !== "bare-header") return;
    const letters = this.#frame.slice(0, this.#frameLength);
    this.#leaveFrame();
    this.#beginsLine = false;
    for (const letter of letters) this.#actions.push(this.#outside.add(letter));
  }

  /** Ends a message without a frame. One that ends within a segment is cut. */
  #endBare(cut: string): void {
    const last = this.#frame[this.#frameLength - 1];
    if (last === CR || last === LF) this.#endFrame();
    else this.#dropFrame(cut);
    this.#reportPending();
  }

  /** Reads up to and including the VT, FS or ETX at `at`, or the end of the chunk. @returns the offset after it */
  #readFrame(chunk: Uint8Array, from: number, at: number, outcome: Outcome): number {
    this.#append(chunk.subarray(from, at));
    if (at === chunk.length) return at;
    if (chunk[at] !== VT) {
      this.#isBare = chunk[at] === ETX;
      this.#state = "frame-end";
    } else {
      if (this.#state === "in-bare") this.#endBare("a new frame began within a segment");
      else this.#dropFrame("a new frame began before its end");
      this.#beginFrame(outcome, chunk.length - at - 1);
    }
    return at + 1;
  }

  #beginFrame(outcome: Outcome, left: number): void {
    this.#actions.push(this.#outside.end());
    this.#state = "in-frame";
    this.#isBare = false;
    this.#isRest = false;
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
      this.#keepFirstPart();
    }
  }

  /** Delivers the part of a message that fits. The rest is read only for the acknowledgement. */
  #keepFirstPart(): void {
    if (this.#outcome !== "stored") return;
    this.#endFragments();
    this.#actions.warn(`a message of more than ${MESSAGE_BYTES_MAX} bytes: its first part is kept`);
    this.#deliver(this.#frame.slice(0, this.#frameLength), 0, null);
    this.#keepHead("too-long");
  }

  /** Handles missing bytes. A frame that reached its FS is complete without them. */
  #loseBytes(): void {
    if (this.#state === "frame-end") this.#endFrame();
    else this.#refuseFrame("bytes of it could not be stored");
  }

  /** Marks the frame as refused. The rest is read only for its acknowledgement. */
  #refuseFrame(incomplete: string): void {
    this.#leaveHeader();
    if (this.#state === "between-frames" || this.#outcome !== "stored") return;
    this.#countFragment(incomplete);
    this.#endFragments();
    this.#keepHead("not-stored");
  }

  /** The frame may be refused because of its memory, so the memory is released. */
  #keepHead(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#frame = this.#frame.slice(0, HEAD_BYTES_MAX);
    this.#frameLength = Math.min(this.#frameLength, HEAD_BYTES_MAX);
  }

  /** Drops the frame without a reply: the device has given it up, and would take the reply for the next one. */
  #dropFrame(reason: string): void {
    const isStored = this.#outcome === "stored";
    if (!isStored || this.#fragments === 0) this.#actions.warn(reason);
    if (isStored) this.#countFragment(reason);
    this.#leaveFrame();
  }

  #countFragment(reason: string, length = this.#frameLength): void {
    this.#fragments += 1;
    if (this.#hasFragment || length === 0) return;
    this.#hasFragment = true;
    this.#deliver(this.#frame.slice(0, length), 0, reason);
  }

  /** Reports the fragments after the first one in one warning. A peer may send a fragment every 2 bytes. */
  #endFragments(): void {
    const more = this.#fragments - 1;
    this.#fragments = 0;
    this.#hasFragment = false;
    if (more > 0) this.#actions.warn(`${more} more incomplete frames in a row: only the first is kept as a message`);
  }

  #endFrame(): void {
    const outcome = this.#outcome;
    const content = this.#frameContent();
    const rest = this.#isRest ? content.length - fromHeader(content).length : 0;
    if (rest > 0 && outcome === "stored") {
      if (this.#fragments === 0) this.#actions.warn(REST);
      this.#countFragment(REST, rest);
    }
    const payload = content.subarray(rest);
    this.#leaveFrame();
    if (payload.length === 0 && rest > 0) return;
    if (payload.length === 0) {
      this.#actions.warn("a frame without a message: no reply");
      return;
    }
    if (outcome === "stored") this.#endFragments();
    for (const { message, replies, refusal } of this.#acknowledge(payload, outcome)) {
      if (outcome === "stored") this.#deliver(message, message.byteOffset - content.byteOffset, null);
      if (refusal !== null) this.#actions.warn(refusal);
      for (const bytes of replies) this.#actions.reply(bytes);
      if (outcome === "stored") this.#sender.receive(message);
    }
  }

  /** A message without a frame is answered without one. */
  #acknowledge(payload: Uint8Array, outcome: Outcome): AcknowledgedMessage[] {
    return splitMessages(payload).map((message) => {
      const { messages, refusal } = acknowledge(message, outcome, this.#options, this.#stamp);
      return { message, replies: this.#isBare ? messages : messages.map(encodeMllp), refusal };
    });
  }

  /** Returns the frame's content. A buffer too large to be kept is returned without a copy. */
  #frameContent(): Uint8Array {
    const isDropped = this.#frame.length > FRAME_BYTES_KEPT;
    return isDropped ? this.#frame.subarray(0, this.#frameLength) : this.#frame.slice(0, this.#frameLength);
  }

  #leaveFrame(): void {
    this.#state = "between-frames";
    this.#beginsLine = true;
    this.#frameLength = 0;
    // Releases the memory of a long message.
    if (this.#frame.length > FRAME_BYTES_KEPT) this.#frame = new Uint8Array(FRAME_BYTES_INITIAL);
  }

  /** Delivers a part of the frame. @param start offset of the part in the frame */
  #deliver(message: Uint8Array, start: number, incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message, incomplete, from: this.#frameFrom + start });
  }

  #drainActions(): LinkAction[] {
    const ms = this.#timerMs();
    if (ms === null) this.#actions.stopTimer();
    else this.#actions.startTimer(ms);
    return this.#actions.drain();
  }

  #timerMs(): number | null {
    switch (this.#state) {
      case "between-frames":
        if (this.#isPending) return NOISE_TIMEOUT_MS;
        return this.#sender.isAwaiting ? ANSWER_TIMEOUT_MS : null;
      case "in-frame":
        return FRAME_TIMEOUT_MS;
      case "bare-header":
        return NOISE_TIMEOUT_MS;
      case "in-bare":
        return BARE_END_TIMEOUT_MS;
      case "frame-end":
        return FRAME_END_TIMEOUT_MS;
    }
  }
}

/** Whether a line may begin after a byte outside frames. */
function isBeforeLine(byte: number): boolean {
  return byte === CR || byte === LF || byte === NUL || byte === STX;
}

/** Offsets of a byte in a chunk. Each part of the chunk is searched once. */
class ByteOffsets {
  readonly #chunk: Uint8Array;
  readonly #byte: number;
  #next = -1;

  constructor(chunk: Uint8Array, byte: number) {
    this.#chunk = chunk;
    this.#byte = byte;
  }

  /** @returns the first offset at or after `from`; the length of the chunk without one */
  next(from: number): number {
    if (this.#next < from) {
      const found = this.#chunk.indexOf(this.#byte, from);
      this.#next = found < 0 ? this.#chunk.length : found;
    }
    return this.#next;
  }
}

/** A header without a frame: these letters, and a separator. */
const HEADER = "MSH";
/** A device may pause for longer within a message: the segments that follow are the rest of one that was acknowledged. */
const BEGINNINGS = [HEADER, "PID", "PV1", "ORC", "OBR", "OBX", "NTE", "SPM"];
const REST = "segments without their header: the device may have paused within a message";
const SEPARATOR = /[!-/:-@[-`{-~]/;

const FRAME_BYTES_INITIAL = 1024;
const FRAME_BYTES_KEPT = 256 * 1024;

import { ActionQueue } from "../action-queue.ts";
import { ACK, ENQ, EOT, ETX, NAK } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";

// ENQ, we ACK; a body without frames; EOT; ETX, we ACK. After NAK the device sends the body again, and after any other
// answer, or none within its 4 s, ETX alone. There is no checksum: what a whole body looks like is the profile's to say.

/** What runs on beyond this is no body; its end is answered NAK. */
export const BODY_BYTES_MAX = 64 * 1024;
/** Counted from our last reply: a body of 2.5 kB takes 2.3 s at 9600 baud, and 18 s at 1200. */
export const BODY_TIMEOUT_MS = 30_000;
/** The device waits 4 s for the answer to its ETX, and asks for it once more. */
export const ANSWER_AGAIN_MS = 10_000;

type State =
  /** Everything but ENQ is ignored, and reported. */
  | { readonly at: "neutral" }
  | { readonly at: "body"; readonly bytes: number[] }
  /** ETX was answered with ACK; when that answer is lost the device repeats ETX. */
  | { readonly at: "accepted" }
  /** These bytes were no whole body: the device is to send it again. */
  | { readonly at: "rejected"; readonly bytes: readonly number[]; readonly reason: string };

export class EnqEtxLink implements Link {
  readonly #problemOf: (body: Uint8Array) => string | null;
  #state: State = { at: "neutral" };
  readonly #noise = new Noise("outside a body");
  readonly #actions = new ActionQueue();

  /** `problemOf`: why these bytes are no whole body; null where they are. */
  constructor(problemOf: (body: Uint8Array) => string | null) {
    this.#problemOf = problemOf;
  }

  get atRest(): boolean {
    return this.#state.at === "neutral" && !this.#noise.isPending;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#actions.take();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    this.gap();
    for (const byte of chunk) this.#refuseByte(byte);
    return this.#actions.take();
  }

  /** What comes next begins a body; the rest of the one that bytes are missing of is no whole one. */
  gap(): LinkAction[] {
    if (this.#state.at === "body") {
      this.#state = { at: "rejected", bytes: this.#state.bytes, reason: "bytes of it could not be stored" };
    }
    return [];
  }

  timeout(): LinkAction[] {
    if (this.#state.at === "body") this.#actions.warn(`no ETX within ${BODY_TIMEOUT_MS / 1000} s`);
    this.#end("the device fell silent before the end of the body");
    return this.#actions.take();
  }

  close(): LinkAction[] {
    this.#end("the connection closed before the end of the body");
    return this.#actions.take();
  }

  #step(byte: number): void {
    if (byte === ENQ) {
      // Also within a body: the device gave up and has begun again.
      this.#end("a new ENQ came before the end of the body");
      this.#state = { at: "body", bytes: [] };
      this.#reply(ACK, BODY_TIMEOUT_MS);
    } else if (byte === ETX) {
      this.#answer();
    } else if (byte !== EOT) {
      this.#readBody(byte);
    }
  }

  #ignore(byte: number): void {
    if (isUsualBetweenMessages(byte) || byte === ACK || byte === NAK) return;
    this.#actions.push(this.#noise.add(byte));
    if (this.#state.at === "neutral") this.#actions.startTimer(NOISE_TIMEOUT_MS);
  }

  #readBody(byte: number): void {
    const state = this.#state;
    if (state.at === "rejected") this.#state = { at: "body", bytes: [byte] };
    else if (state.at !== "body") this.#ignore(byte);
    if (state.at !== "body") return;
    state.bytes.push(byte);
    if (state.bytes.length > BODY_BYTES_MAX) {
      this.#state = { at: "rejected", bytes: state.bytes, reason: `a body of more than ${BODY_BYTES_MAX} bytes` };
    }
  }

  /** ETX asks for an answer: to the body before it, or once more to the last one, when our answer was lost. */
  #answer(): void {
    const state = this.#state;
    switch (state.at) {
      case "neutral":
        return;
      case "body":
        this.#settle(state.bytes);
        return;
      case "accepted":
        this.#reply(ACK, ANSWER_AGAIN_MS);
        return;
      case "rejected":
        this.#reply(NAK, BODY_TIMEOUT_MS);
        return;
    }
  }

  #settle(bytes: readonly number[]): void {
    const message = Uint8Array.from(bytes);
    const problem = this.#problemOf(message);
    if (problem === null) {
      this.#actions.deliver(message, null);
      this.#state = { at: "accepted" };
      this.#reply(ACK, ANSWER_AGAIN_MS);
    } else {
      this.#state = { at: "rejected", bytes, reason: problem };
      this.#actions.warn(problem);
      this.#reply(NAK, BODY_TIMEOUT_MS);
    }
  }

  #refuseByte(byte: number): void {
    if (byte === ETX) {
      this.#answer();
    } else if (byte === ENQ) {
      this.#actions.warn("cannot store: ENQ refused");
      this.#reply(NAK, this.atRest ? null : BODY_TIMEOUT_MS);
    }
  }

  /** Whatever was begun and not accepted is delivered as incomplete, so that a person sees it. */
  #end(incomplete: string): void {
    const state = this.#state;
    if (state.at === "body") this.#deliverIncomplete(state.bytes, incomplete);
    if (state.at === "rejected") this.#deliverIncomplete(state.bytes, state.reason);
    this.#actions.push(this.#noise.take());
    this.#state = { at: "neutral" };
    this.#actions.stopTimer();
  }

  #deliverIncomplete(bytes: readonly number[], incomplete: string): void {
    if (bytes.length > 0) this.#actions.deliver(Uint8Array.from(bytes), incomplete);
  }

  #reply(byte: typeof ACK | typeof NAK, timerMs: number | null): void {
    this.#actions.reply(Uint8Array.of(byte));
    if (timerMs === null) this.#actions.stopTimer();
    else this.#actions.startTimer(timerMs);
  }
}

import { ActionQueue } from "../action-queue.ts";
import { ACK, ENQ, EOT, ETX, NAK } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { Noise, NOISE_TIMEOUT_MS } from "../noise.ts";

// Dialogue: ENQ, ACK of the agent, body without frames, EOT, ETX, ACK of the agent. After NAK the device sends the body again.
// After any other reply, or none within 4 s, it repeats ETX. Without a checksum, the profile decides whether a body is complete.

/** Max bytes of a body; the end of a longer one gets NAK. */
export const BODY_BYTES_MAX = 64 * 1024;
/** Max time for a body after the agent's last reply. A body of 2.5 kB takes 2.3 s at 9600 baud, 18 s at 1200. */
export const BODY_TIMEOUT_MS = 30_000;
/** Time for a repeated ETX. The device waits 4 s for the reply to its ETX, then repeats it once. */
export const ANSWER_AGAIN_MS = 10_000;

type EnqEtxState =
  /** Everything but ENQ is reported as noise. */
  | { readonly at: "neutral" }
  | { readonly at: "body"; readonly bytes: number[] }
  /** ETX got ACK. A device that misses the ACK repeats ETX. */
  | { readonly at: "accepted" }
  /** The bytes are not a complete body; the device has to send it again. */
  | { readonly at: "rejected"; readonly bytes: readonly number[]; readonly reason: string };

export class EnqEtxLink implements Link {
  readonly #problemOf: (body: Uint8Array) => string | null;
  #state: EnqEtxState = { at: "neutral" };
  readonly #noise = new Noise("outside a body");
  readonly #actions = new ActionQueue();

  /** @param problemOf returns why bytes are not a complete body; null for a complete one */
  constructor(problemOf: (body: Uint8Array) => string | null) {
    this.#problemOf = problemOf;
  }

  get isIdle(): boolean {
    return this.#state.at === "neutral" && !this.#noise.isPending;
  }

  get between(): string | null {
    return this.#state.at === "neutral" ? "neutral" : null;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#actions.drain();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    this.gap();
    for (const byte of chunk) this.#refuseByte(byte);
    return this.#actions.drain();
  }

  /** Rejects the body with missing bytes; the next bytes start a new body. */
  gap(): LinkAction[] {
    if (this.#state.at === "body") {
      this.#state = { at: "rejected", bytes: this.#state.bytes, reason: "bytes of it could not be stored" };
    }
    return [];
  }

  timeout(): LinkAction[] {
    if (this.#state.at === "body") this.#actions.warn(`no ETX within ${BODY_TIMEOUT_MS / 1000} s`);
    this.#end("the device fell silent before the end of the body");
    return this.#actions.drain();
  }

  close(): LinkAction[] {
    this.#end("the connection closed before the end of the body");
    return this.#actions.drain();
  }

  #step(byte: number): void {
    if (byte === ENQ) {
      // ENQ within a body: the device has started again.
      this.#end("a new ENQ came before the end of the body");
      this.#state = { at: "body", bytes: [] };
      this.#reply(ACK, BODY_TIMEOUT_MS);
    } else if (byte === ETX) {
      this.#replyToEtx();
    } else if (byte !== EOT) {
      this.#readBody(byte);
    }
  }

  #ignore(byte: number): void {
    if (byte === ACK || byte === NAK) return;
    this.#actions.push(this.#noise.add(byte));
    if (this.#state.at === "neutral" && this.#noise.isPending) this.#actions.startTimer(NOISE_TIMEOUT_MS);
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

  /** Replies to ETX: to the body before it, or again to the last body if the device missed the reply. */
  #replyToEtx(): void {
    const state = this.#state;
    switch (state.at) {
      case "neutral":
        return;
      case "body":
        this.#judgeBody(state.bytes);
        return;
      case "accepted":
        this.#reply(ACK, ANSWER_AGAIN_MS);
        return;
      case "rejected":
        this.#reply(NAK, BODY_TIMEOUT_MS);
        return;
    }
  }

  #judgeBody(bytes: readonly number[]): void {
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
      this.#replyToEtx();
    } else if (byte === ENQ) {
      this.#actions.warn("cannot store: ENQ refused");
      this.#reply(NAK, this.isIdle ? null : BODY_TIMEOUT_MS);
    }
  }

  /** Delivers an unaccepted body as incomplete, so that a user sees it. */
  #end(incomplete: string): void {
    const state = this.#state;
    if (state.at === "body") this.#deliverIncomplete(state.bytes, incomplete);
    if (state.at === "rejected") this.#deliverIncomplete(state.bytes, state.reason);
    this.#actions.push(this.#noise.end());
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

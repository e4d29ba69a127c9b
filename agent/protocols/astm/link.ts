import { ActionQueue } from "../action-queue.ts";
import type { Link, LinkAction } from "../link.ts";
import { Receiver, type ReceiverOptions } from "./receiver.ts";
import { Sender, type SenderOptions, type SenderState } from "./sender.ts";

// ASTM E1381 / CLSI LIS01-A2, both roles: who has the line. How frames are received stands in receiver.ts, how a message
// is sent in sender.ts; between the two the line is neutral, and whoever says ENQ first has it (§6.2).

/**
 * Which side of the line we are, and how the device departs from the standard. What is not said here is not done: the
 * link never tries one way after another.
 */
export type AstmLinkOptions = ReceiverOptions & SenderOptions;

export type AstmState = "neutral" | "receiving" | Exclude<SenderState, "idle">;

export class AstmLink implements Link {
  readonly #actions = new ActionQueue();
  readonly #sender: Sender;
  readonly #receiver: Receiver;

  constructor(options: AstmLinkOptions = {}) {
    this.#sender = new Sender(options, this.#actions);
    this.#receiver = new Receiver(options, this.#actions, this.#sender);
  }

  /** Where the line stands, in the standard's words. */
  get state(): AstmState {
    if (!this.#receiver.isNeutral) return "receiving";
    return this.#sender.state === "idle" ? "neutral" : this.#sender.state;
  }

  get atRest(): boolean {
    return this.state === "neutral" && !this.#receiver.hasNoise;
  }

  get heldBytes(): number {
    return this.#receiver.heldBytes;
  }

  /** While the device answers us the receiver is neutral: nothing of the device's is accepted. */
  mayAccept(chunk: Uint8Array): boolean {
    return this.#receiver.mayAccept(chunk);
  }

  receive(chunk: Uint8Array): LinkAction[] {
    if (this.#sender.awaitsReply) this.#sender.receive(chunk);
    else this.#receiver.receive(chunk);
    return this.#settle();
  }

  /** Records, each ended by CR. @throws when the message before it is neither sent nor unsent yet */
  send(message: Uint8Array): LinkAction[] {
    this.#sender.offer(message);
    return this.#settle();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    // A reply that is not on disk has not come: the sender goes on waiting for it.
    if (this.#sender.awaitsReply) this.#actions.warn("cannot store: reply ignored");
    else this.#receiver.refuse(chunk);
    return this.#settle();
  }

  gap(): LinkAction[] {
    this.#receiver.gap();
    return this.#settle();
  }

  timeout(): LinkAction[] {
    if (this.#receiver.isNeutral) this.#sender.timeout();
    this.#receiver.timeout();
    return this.#settle();
  }

  close(): LinkAction[] {
    this.#receiver.close();
    this.#sender.close();
    return this.#settle();
  }

  /** Only at the end of a chunk: a device that says EOT and ENQ in one breath has the line again. */
  #settle(): LinkAction[] {
    if (this.#receiver.isNeutral) this.#sender.begin();
    return this.#actions.take();
  }
}

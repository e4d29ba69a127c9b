import { ActionQueue } from "../action-queue.ts";
import type { Link, LinkAction } from "../link.ts";
import { Receiver, type ReceiverOptions } from "./receiver.ts";
import { Sender, type SenderOptions, type SenderState } from "./sender.ts";

// ASTM E1381 / CLSI LIS01-A2 link in both roles. receiver.ts receives frames, sender.ts sends messages. Between the two
// the line is neutral, and the first side to send ENQ gets it (§6.2).

/**
 * Role of the agent, and the device's departures from the standard. The link applies only declared departures, because trying
 * variants would refuse frames of a device, and devices give up after six refusals of a frame.
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

  /** State of the line, in the standard's terms. */
  get state(): AstmState {
    if (!this.#receiver.isNeutral) return "receiving";
    return this.#sender.state === "idle" ? "neutral" : this.#sender.state;
  }

  get isIdle(): boolean {
    return this.state === "neutral" && !this.#receiver.hasNoise;
  }

  get between(): string | null {
    if (this.state === "neutral") return "neutral";
    return this.#receiver.awaitsFirstFrame ? "a session without frames" : null;
  }

  get heldBytes(): number {
    return this.#receiver.heldBytes;
  }

  /** While the device replies to the agent, the receiver is neutral and accepts nothing. */
  mayAccept(chunk: Uint8Array): boolean {
    return this.#receiver.mayAccept(chunk);
  }

  receive(chunk: Uint8Array): LinkAction[] {
    if (this.#sender.awaitsReply) this.#sender.receive(chunk);
    else this.#receiver.receive(chunk);
    return this.#drainActions();
  }

  /** Sends records, each ended by CR. @throws while the last message is neither sent nor unsent */
  send(message: Uint8Array): LinkAction[] {
    this.#sender.offer(message);
    return this.#drainActions();
  }

  refuse(chunk: Uint8Array): LinkAction[] {
    // An unstored reply counts as missing: the sender keeps waiting for it.
    if (this.#sender.awaitsReply) this.#actions.warn("cannot store: reply ignored");
    else this.#receiver.refuse(chunk);
    return this.#drainActions();
  }

  gap(): LinkAction[] {
    this.#receiver.gap();
    return this.#drainActions();
  }

  timeout(): LinkAction[] {
    if (this.#receiver.isNeutral) this.#sender.timeout();
    this.#receiver.timeout();
    return this.#drainActions();
  }

  close(): LinkAction[] {
    this.#receiver.close();
    this.#sender.close();
    return this.#drainActions();
  }

  /** Called at the end of a chunk only: a device that sends EOT and ENQ together keeps the line. */
  #drainActions(): LinkAction[] {
    if (this.#receiver.isNeutral) this.#sender.begin();
    return this.#actions.drain();
  }
}

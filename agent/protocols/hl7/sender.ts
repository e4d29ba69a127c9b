import type { ActionQueue } from "../action-queue.ts";
import { printable } from "../escape-sequences.ts";
import { encodeMllp } from "../mllp.ts";
import type { CharsetOptions } from "./message/charset.ts";
import { parseMessage } from "./message/message.ts";

export interface SenderOptions extends CharsetOptions {
  /** A DSR^Q03 is not awaited, so that the QCK^Q02 follows immediately. */
  readonly displayFirst?: boolean;
}

/** Sends one message at a time. Most messages wait for the device's acknowledgement. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #actions: ActionQueue;
  /** MSH-10 of the message that the device has to acknowledge; null if none. */
  #awaitedId: string | null = null;

  constructor(options: SenderOptions, actions: ActionQueue) {
    this.#options = options;
    this.#actions = actions;
  }

  get isAwaiting(): boolean {
    return this.#awaitedId !== null;
  }

  /** @throws while the last message is not acknowledged */
  send(message: Uint8Array): void {
    if (this.#awaitedId !== null) throw new Error(`message ${this.#awaitedId} is not acknowledged yet`);
    this.#actions.reply(encodeMllp(message));
    this.#awaitedId = idToAcknowledge(message, this.#options);
    if (this.#awaitedId === null) this.#actions.push({ do: "sent" });
  }

  /** Reads a message of the device, which may be the awaited acknowledgement. */
  receive(message: Uint8Array): void {
    if (this.#awaitedId === null) return;
    const parsed = parseMessage(message, this.#options);
    const msa = "problem" in parsed ? undefined : parsed.segments.find(({ name }) => name === "MSA");
    if (msa === undefined) return;
    const isAccepted = /^[AC]A$/i.test(msa.field(1).trim());
    const acknowledgedId = msa.field(2).trim();
    // A refusal without an id counts: a device that cannot read the header does not know the id.
    if (acknowledgedId !== this.#awaitedId && (isAccepted || acknowledgedId !== "")) return;
    if (isAccepted) {
      this.#awaitedId = null;
      this.#actions.push({ do: "sent" });
    } else {
      this.giveUp(`the device acknowledged it with ${printable(msa.field(1))}`);
    }
  }

  /** Returns the awaited message as unsent, if there is one. */
  giveUp(reason: string): void {
    if (this.#awaitedId === null) return;
    this.#awaitedId = null;
    this.#actions.push({ do: "unsent", reason });
  }
}

/**
 * Returns MSH-10 of a message that the device has to acknowledge, else null. Query replies (with MSA) are not
 * acknowledged, except a display response. MSH-15 and MSH-16 may both be NE, never.
 */
function idToAcknowledge(message: Uint8Array, { displayFirst }: SenderOptions): string | null {
  const parsed = parseMessage(message);
  if ("problem" in parsed) return null;
  const { header, segments } = parsed;
  const isNever = header.field(15) === "NE" && header.field(16) === "NE";
  const isAwaitedDisplay = header.component(9, 1) === "DSR" && displayFirst !== true;
  const isReply = segments.some(({ name }) => name === "MSA") && !isAwaitedDisplay;
  return isNever || isReply ? null : header.field(10);
}

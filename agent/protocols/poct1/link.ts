import { ActionQueue } from "../action-queue.ts";
import type { Link, LinkAction, LinkContext } from "../link.ts";
import { encodeMllp } from "../mllp.ts";
import { Dialogue } from "./dialogue.ts";
import { type DialogueState, HELLO_TIMEOUT_MS, type PendingReply } from "./dialogue-state.ts";
import { DocumentSplitter, type SplitterEvent } from "./xml/document-splitter.ts";
import { controlIdOf, decodeParts, encodeMessage, type ManagerMessage, readMessage } from "./message.ts";
import { CANNOT_STORE, Refusals } from "./replies.ts";
import type { OperatorBook } from "./topics.ts";

// Link of a POCT1-A device, one connection long: bytes in, actions out. The dialogue decides what is sent and delivered.

/** Max time that the device waits for an ACK; a shorter application_timeout in HELLO replaces it. */
const ANSWER_MS_MAX = 5_000;
/** Min documents of a session before it is split between two documents. */
export const IDLE_AFTER_DOCUMENTS = 64;
/** Control ids start again at 1 after this; some devices wrap at five digits. */
const CONTROL_ID_MAX = 99_999;
const GREATER = 0x3e;

export class Poct1Link implements Link {
  readonly #context: LinkContext;
  readonly #splitter = new DocumentSplitter();
  readonly #actions = new ActionQueue();
  readonly #dialogue: Dialogue;
  readonly silenceMs = HELLO_TIMEOUT_MS;
  /** Documents since the session started. */
  #documents = 0;
  /** Truncated documents in a row. Only the first is delivered. */
  #fragments = 0;
  #lastControlId = 0;
  /** Reason of the running timer; null without a timer. */
  #pending: PendingReply | null = null;

  /** @param refusals shared by the connections of a device; default of this connection alone */
  constructor(context: LinkContext, operators: OperatorBook = NO_OPERATORS, refusals = new Refusals()) {
    this.#context = context;
    this.#dialogue = new Dialogue(context, operators, this.#actions, (message) => this.#send(message), refusals);
  }

  get state(): DialogueState {
    return this.#dialogue.state;
  }

  get isIdle(): boolean {
    if (!this.#dialogue.hasReceived) return true;
    return this.#documents >= IDLE_AFTER_DOCUMENTS && this.memory !== null && this.#isBetweenDocuments;
  }

  get #isBetweenDocuments(): boolean {
    return this.#splitter.isBetweenDocuments && this.#fragments === 0;
  }

  /** The HELLO document: it names the device of all later documents. */
  get memory(): Uint8Array | null {
    return this.#dialogue.hasReceived ? this.#dialogue.helloDocument : null;
  }

  restore(memory: Uint8Array): void {
    this.#dialogue.restore(memory);
    this.#documents = 0;
  }

  get replyTimeoutMs(): number {
    return Math.min(this.#dialogue.applicationTimeoutMs ?? ANSWER_MS_MAX, ANSWER_MS_MAX);
  }

  /** Only `>` ends a document. */
  mayAccept(chunk: Uint8Array): boolean {
    return chunk.includes(GREATER);
  }

  receive(chunk: Uint8Array): LinkAction[] {
    this.#dialogue.noteReceived();
    for (const found of this.#splitter.receive(chunk)) this.#receiveFound(found);
    return this.#drainActions();
  }

  /** Refuses every document that this chunk completes. The chunk is not stored, so a replay does not see it. */
  refuse(chunk: Uint8Array): LinkAction[] {
    this.#dialogue.noteReceived();
    this.#actions.warn("cannot store: refused");
    for (const found of this.#splitter.receive(chunk)) {
      if (found.is === "document") this.#dialogue.refuse(readMessage(found.bytes));
    }
    // The rest of the started document is unknown after the gap.
    this.#dialogue.reply(controlIdOf(this.#splitter.partial), CANNOT_STORE);
    this.#splitter.gap();
    return this.#drainActions();
  }

  gap(): LinkAction[] {
    this.#dialogue.noteReceived();
    this.#splitter.gap();
    return this.#drainActions();
  }

  /**
   * Sends messages (encodeParts), one after the other, as soon as no other reply is awaited. "sent" follows the ACK of the
   * last. @throws while the messages of the last call are neither sent nor unsent
   */
  send(bytes: Uint8Array): LinkAction[] {
    if (this.#dialogue.isSending) throw new Error("a message is sent before the last one is sent or unsent");
    if (!this.#dialogue.isOpen) return [{ do: "unsent", reason: "the dialogue has ended" }];
    const parts = decodeParts(bytes);
    if (parts.length === 0) return [{ do: "unsent", reason: "no message in it" }];
    this.#dialogue.send(parts);
    return this.#drainActions();
  }

  timeout(): LinkAction[] {
    const pending = this.#pending ?? (this.#dialogue.state === "new" ? "hello" : null);
    this.#pending = null;
    this.#dialogue.timeout(pending);
    return this.#drainActions();
  }

  close(): LinkAction[] {
    for (const found of this.#splitter.close()) this.#receiveFound(found);
    this.#endFragments();
    this.#dialogue.close();
    return this.#drainActions();
  }

  #receiveFound(found: SplitterEvent): void {
    switch (found.is) {
      case "junk":
        this.#actions.push(found.warning);
        break;
      case "truncated":
        this.#documents += 1;
        this.#fragments += 1;
        if (this.#fragments === 1) this.#dialogue.receiveTruncated(found.bytes, `cut short by ${found.by}`);
        break;
      case "hopeless":
        this.#actions.warn(found.reason);
        this.#dialogue.end();
        break;
      case "document":
        this.#endFragments();
        this.#documents += 1;
        if (this.#pending === "idle") this.#dialogue.extendsTimer = true;
        this.#dialogue.receive(found.bytes, found.problem);
        break;
    }
  }

  /** Reports all fragments but the first in one warning. A peer may send a fragment every 3 bytes. */
  #endFragments(): void {
    const more = this.#fragments - 1;
    this.#fragments = 0;
    if (more > 0)
      this.#actions.warn(`${more} more documents in a row were cut short: only the first is kept as a message`);
  }

  /** @returns the control id of the message */
  #send(message: ManagerMessage): number {
    this.#lastControlId = (this.#lastControlId % CONTROL_ID_MAX) + 1;
    if (!this.#dialogue.isOpen) return this.#lastControlId;
    const document = encodeMessage(message, this.#lastControlId, this.#context.now(), this.#dialogue.dialect);
    this.#actions.reply(this.#splitter.framing === "mllp" ? encodeMllp(document) : document);
    return this.#lastControlId;
  }

  #drainActions(): LinkAction[] {
    const { pending, extendsTimer } = this.#dialogue;
    if (pending === null && this.#pending !== null) this.#actions.stopTimer();
    if (pending !== null && (pending !== this.#pending || extendsTimer)) {
      this.#actions.startTimer(this.#dialogue.timeoutMsOf(pending));
    }
    this.#pending = pending;
    this.#dialogue.extendsTimer = false;
    return this.#actions.drain();
  }
}

const NO_OPERATORS: OperatorBook = { current: () => null, acceptedBy: () => null, noteAccepted: () => undefined };

import type { DeviceReport } from "../../report/device-report.ts";
import type { ActionQueue } from "../action-queue.ts";
import { concat } from "../bytes.ts";
import type { LinkContext } from "../link.ts";
import { type Dialect, GENERIC } from "./dialect.ts";
import {
  type DialogueState,
  HELLO_TIMEOUT_MS,
  type PendingReply,
  pendingReply,
  RESPONSE_TIMEOUT_MS,
  timeoutMsOf,
} from "./dialogue-state.ts";
import { type Introduction, introductionOf, openingTopics, operatorTopic, statusContent } from "./introduction.ts";
import {
  controlIdOf,
  type Hello,
  type ManagerMessage,
  type Message,
  type Part,
  readMessage,
  type Status,
  type UnreadableDocument,
} from "./message.ts";
import { messageOf, OutgoingTopics, type PendingTopic, type TopicOutcome } from "./outgoing-topics.ts";
import {
  CANNOT_STORE,
  DocumentReplies,
  type DocumentReply,
  expectsReply,
  type Refusals,
  unsupported,
} from "./replies.ts";
import { DIRECTIVE, type OperatorBook } from "./topics.ts";
import { short } from "../file/layouts/xml-tree.ts";

// Dialogue with a POCT1-A device, document by document; dialogue-state.ts lists its states. The agent acknowledges every document
// immediately and sends its own topics one at a time. Deliveries depend on the device's documents alone, never on the agent's
// topics, so that a replay delivers the same.

export class Dialogue {
  readonly #context: LinkContext;
  readonly #operators: OperatorBook;
  readonly #actions: ActionQueue;
  /** Encodes and sends a message. @returns its control id */
  readonly #send: (message: ManagerMessage) => number;
  readonly #topics = new OutgoingTopics();
  readonly #replies: DocumentReplies;
  #state: DialogueState = "new";
  #introduction: Introduction | null = null;
  /** The last data restarts the timer, even if the reason of the timer stays. */
  extendsTimer = false;

  constructor(
    context: LinkContext,
    operators: OperatorBook,
    actions: ActionQueue,
    send: (message: ManagerMessage) => number,
    refusals: Refusals,
  ) {
    this.#context = context;
    this.#operators = operators;
    this.#actions = actions;
    this.#send = send;
    this.#replies = new DocumentReplies(refusals);
  }

  get state(): DialogueState {
    return this.#state;
  }

  /** Data was received, and the connection is open. */
  get hasReceived(): boolean {
    return this.#state !== "new" && this.#state !== "closed";
  }

  /** Documents may still be sent. */
  get isOpen(): boolean {
    return this.#state !== "ended" && this.#state !== "closed";
  }

  get isSending(): boolean {
    return this.#topics.has("message");
  }

  /** The HELLO document; null before it. */
  get helloDocument(): Uint8Array | null {
    return this.#introduction?.document ?? null;
  }

  /** The device's own timeout; null if HELLO reports none. */
  get applicationTimeoutMs(): number | null {
    return this.#introduction?.hello.applicationTimeoutMs ?? null;
  }

  get dialect(): Dialect {
    return this.#introduction?.dialect ?? GENERIC;
  }

  get pending(): PendingReply | null {
    return pendingReply(this.#state, this.#topics);
  }

  timeoutMsOf(pending: PendingReply): number {
    return timeoutMsOf(pending, this.applicationTimeoutMs ?? RESPONSE_TIMEOUT_MS);
  }

  noteReceived(): void {
    if (this.#state === "new") this.#state = "await-hello";
    if (this.#state === "closed") this.#state = "ended";
  }

  /** Restores the device's identity from its HELLO document. */
  restore(document: Uint8Array): void {
    const message = readMessage(document);
    if (message.is === "hello") this.#introduce(message.hello, document);
    this.noteReceived();
  }

  /** Sends messages of the caller before all other topics. */
  send(parts: readonly Part[]): void {
    this.#topics.prepend({ is: "message", all: parts, left: parts });
    if (parts[0]?.root !== DIRECTIVE) this.#topics.owesPatient = false;
    this.#advance();
  }

  /** Handles one document. @param overrun the limit that the document exceeds; null if none */
  receive(document: Uint8Array, overrun: string | null): void {
    this.#receiveDocument(document, overrun);
    this.#advance();
  }

  /** Delivers a document that was cut short. Without a HELLO nothing names its device, so it is discarded. */
  receiveTruncated(document: Uint8Array, problem: string): void {
    this.#actions.warn(`a document was ${problem}`);
    if (this.#introduction !== null) this.#deliver(document, problem);
  }

  /** Refuses a document that cannot be stored. */
  refuse(message: Message | UnreadableDocument): void {
    if (expectsReply(message, this.dialect)) this.reply(message.controlId, CANNOT_STORE);
  }

  timeout(pending: PendingReply | null): void {
    switch (pending) {
      case null:
        break;
      case "hello":
        this.#actions.warn(`no HELLO within ${HELLO_TIMEOUT_MS / 1000} s`);
        this.end();
        break;
      case "idle":
        if (!this.#offerOperators("")) this.#topics.append({ is: "keep alive" });
        break;
      case "observations":
        this.#topics.announced = 0;
        this.#topics.append({ is: "request", code: "ROBS" });
        break;
      case "patient":
        this.#topics.owesPatient = false;
        break;
      case "retry":
        this.#topics.retryPostponed();
        break;
      default:
        // Nothing is sent twice within a session: the device reconnects, and still has its results.
        this.#actions.warn(`the device is unresponsive: no ${pending}`);
        if (this.#topics.awaiting?.topic.is !== "end") this.#send({ is: "END", reason: "UNK" });
        this.end();
    }
    this.#advance();
  }

  close(): void {
    this.#dropTopics("the connection closed");
    this.#state = "closed";
  }

  /** @param overrun the limit that the document exceeds; null if none */
  #receiveDocument(document: Uint8Array, overrun: string | null): void {
    const message: Message | UnreadableDocument =
      overrun === null
        ? readMessage(document)
        : { is: "unreadable", problem: overrun, controlId: controlIdOf(document) };
    switch (message.is) {
      case "acknowledgement":
        this.#topicAnswered("ACK", message.of, this.#topics.acknowledge(message.of, message.accepted, message.note));
        break;
      case "escape": {
        const kind = `escape (${short(message.detail)})`;
        this.#topicAnswered(kind, message.of, this.#topics.escape(message.of, message.detail));
        break;
      }
      case "terminate":
        this.reply(message.controlId, { accepted: true });
        this.end();
        break;
      case "hello":
        this.#begin(message.hello, document);
        this.reply(message.controlId, { accepted: true });
        break;
      default:
        if (this.#introduction !== null) {
          this.#receiveIntroduced(this.#introduction, message, document, overrun);
        } else {
          this.#actions.warn("a message came before HELLO");
          this.reply(message.controlId, { accepted: false, note: "expected HEL" });
        }
    }
  }

  /** Handles a document after the HELLO. */
  #receiveIntroduced(
    introduction: Introduction,
    message: Message | UnreadableDocument,
    document: Uint8Array,
    overrun: string | null,
  ): void {
    switch (message.is) {
      case "status":
        this.#report("status", statusContent(message.status, this.#context.now()));
        this.#receiveStatus(introduction, message.status);
        break;
      case "observations":
        if (!this.#replies.isResend(document)) this.#deliver(document, null);
        this.#receiveData("ROBS");
        break;
      case "events":
        for (const event of message.events) this.#report("event", event);
        this.#receiveData("RDEV");
        break;
      case "query":
        this.#deliver(document, null);
        this.#topics.owesPatient = true;
        break;
      case "end of topic":
        this.#topics.endOfTopic(message.topic, message.requestId);
        break;
      case "unreadable":
        this.#actions.warn(`a document cannot be read: ${message.problem}`);
        if (!this.#replies.isResend(document)) this.#deliver(document, overrun);
        break;
      case "keep alive":
        break;
      default:
        this.#actions.warn(unsupported(message));
    }
    this.reply(message.controlId, this.#replies.replyTo(message, this.dialect, introduction.hello.name));
  }

  #begin(hello: Hello, document: Uint8Array): void {
    this.#dropTopics("the device sent HELLO again");
    if (this.isOpen) this.#state = "await-status";
    this.#introduce(hello, document);
    if (hello.name !== "") this.#actions.push({ do: "identify", name: hello.name });
  }

  #introduce(hello: Hello, document: Uint8Array): void {
    this.#introduction = introductionOf(hello, document);
    this.#replies.forgetDelivered();
  }

  #receiveStatus(introduction: Introduction, status: Status): void {
    this.#topics.announced = status.observations;
    switch (this.#state) {
      case "continuous":
        // The device sends its observations without a request.
        this.#offerOperators(status.operatorsAt);
        return;
      case "await-status":
        this.#state = "running";
        this.#offerOperators(status.operatorsAt);
        for (const topic of openingTopics(introduction, status, this.#context.now())) this.#topics.append(topic);
        break;
      default:
        break;
    }
    if (status.events > 0) this.#topics.request("RDEV");
    if (status.observations > 0) this.#topics.request("ROBS");
  }

  /** Queues the operator list for a device that supports it and has another one. @returns whether it was queued */
  #offerOperators(operatorsAt: string): boolean {
    if (this.#introduction === null || this.#topics.has("operators")) return false;
    const topic = operatorTopic(this.#introduction, operatorsAt, this.#operators, this.#context.now());
    if (topic !== null) this.#topics.append(topic);
    return topic !== null;
  }

  #receiveData(code: "ROBS" | "RDEV"): void {
    const { requestEach } = this.dialect;
    const isContinuous = this.#state === "continuous";
    if (this.#topics.receiveData(code, { requestEach, isContinuous })) this.extendsTimer = true;
  }

  /** Carries out the effect of an ACK or escape, which is never acknowledged itself. */
  #topicAnswered(kind: string, of: string, outcome: TopicOutcome): void {
    switch (outcome.is) {
      case "unexpected":
        this.#actions.warn(`an ${kind} of ${short(of)}, expected ${outcome.expected ?? "none"}`);
        break;
      case "open":
        break;
      case "accepted":
        this.#topicAccepted(outcome.topic);
        break;
      case "refused":
        this.#topicRefused(outcome.topic, outcome.reason);
        break;
    }
  }

  #topicAccepted(topic: PendingTopic): void {
    switch (topic.is) {
      case "message":
        this.#actions.push({ do: "sent" });
        break;
      case "operators":
        this.#operators.noteAccepted(this.#introduction?.hello.name ?? "", topic.list);
        this.#report("operators", topic.list);
        break;
      case "start continuous":
        this.#state = "continuous";
        break;
      case "end":
        this.end();
        break;
      case "request":
      case "set time":
      case "keep alive":
        break;
    }
  }

  #topicRefused(topic: PendingTopic, reason: string): void {
    if (topic.is === "keep alive") return; // A refusal proves that the device is alive.
    this.#actions.warn(`the device refused a message (${topic.is}): ${reason}`);
    if (topic.is === "start continuous") this.#topics.append({ is: "end" });
    if (topic.is === "message") this.#actions.push({ do: "unsent", reason });
    if (topic.is === "end") this.end();
  }

  /** Sends the next topic if no reply is awaited. Called after every document, so that chunk borders do not matter. */
  #advance(): void {
    if (this.#state !== "running" && this.#state !== "continuous") return;
    const topic = this.#topics.dequeue();
    if (topic === null) return;
    if (topic.is === "end") this.#state = "ending";
    this.#topics.await(topic, this.#send(messageOf(topic, this.#context.now())));
  }

  /** @param of control id; null or empty for a document without one, which is not acknowledged */
  reply(of: string | null, reply: DocumentReply | null): void {
    if (of !== null && reply !== null) this.#send({ is: "ACK", of, ...reply });
  }

  /** Delivers the HELLO, which names the device, and the document. */
  #deliver(document: Uint8Array, incomplete: string | null): void {
    const hello = this.#introduction?.document ?? new Uint8Array(0);
    this.#actions.deliver(concat([hello, document]), incomplete);
  }

  #report(topic: DeviceReport["topic"], content: object): void {
    const device = this.#introduction?.hello.name ?? "";
    this.#actions.push({ do: "report", report: { device, topic, content: JSON.stringify(content) } });
  }

  end(): void {
    if (!this.isOpen) return;
    this.#dropTopics("the dialogue ended");
    this.#state = this.hasReceived ? "ended" : "closed";
    this.#actions.push({ do: "close" });
  }

  #dropTopics(reason: string): void {
    if (this.#topics.has("message")) this.#actions.push({ do: "unsent", reason });
    this.#topics.clear();
  }
}

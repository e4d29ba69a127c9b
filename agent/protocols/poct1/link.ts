import type { News } from "../../report/device-report.ts";
import type { Link, LinkAction, LinkContext } from "../link.ts";
import { GENERIC, type Habits, habitsOf } from "./dialect.ts";
import { DOCUMENT_BYTES_MAX, DocumentSplitter, type Found } from "./document-splitter.ts";
import { DIRECTIVE, type Operator, type OperatorBook, operatorParts } from "./topics.ts";
import {
  controlIdOf,
  decodeParts,
  encodeMessage,
  type Hello,
  type ManagerMessage,
  type Message,
  type Part,
  readMessage,
  short,
  type Status,
  type Unreadable,
} from "./message.ts";

// The data manager's side of a POCT1-A conversation, one connection long. The device may speak at any moment and is answered
// at once; of what we have to say one message is outstanding at a time, the rest waits.
// What is delivered depends on the device's documents alone, never on how far our own side got: so a replay, whose replies
// go nowhere, delivers the same.

/** A device that connects says HELLO within this. */
export const HELLO_TIMEOUT_MS = 60_000;
/** The device waits for an answer of ours as long as it says in HELLO, and no longer than this. */
export const ANSWER_MS_MAX = 5_000;
/** Where HELLO names no application_timeout. */
export const RESPONSE_TIMEOUT_MS = 60_000;
/** After so long without a word in continuous mode the device is asked whether it is there. */
export const IDLE_TIMEOUT_MS = 600_000;
/** A device that was busy is asked again after this. */
export const BUSY_MS = 30_000;
export const BUSY_TRIES_MAX = 5;
/** A document that cannot be read is refused so often; then it is accepted, being kept, so that those behind it get through. */
export const REFUSALS_MAX = 3;
const CLOCK_SKEW_MAX_MS = 60_000;
/** Documents after which the record of a connection that may last for weeks is cut, as soon as the device is between two. */
export const REST_AFTER_DOCUMENTS = 64;
const [LESS, GREATER] = [0x3c, 0x3e] as const;
/** Some wrap at five digits. */
const CONTROL_ID_MAX = 99_999;

type State = "await-hello" | "await-status" | "running" | "continuous" | "ending" | "closed";

/** What we have to say. */
type Intention =
  | { readonly is: "request"; readonly code: "ROBS" | "RDEV" }
  | { readonly is: "set time" }
  | { readonly is: "start continuous" }
  /** Messages from outside, one after the other; `all` again where the device is too busy for one of them. */
  | { readonly is: "message"; readonly all: readonly Part[]; readonly left: readonly Part[] }
  | {
      readonly is: "operators";
      readonly all: readonly Part[];
      readonly left: readonly Part[];
      readonly list: readonly Operator[];
    }
  | { readonly is: "keep alive" }
  | { readonly is: "end" };

interface Outstanding {
  readonly intention: Intention;
  readonly controlId: number;
  /** A request that the device took: by its ACK or, as some never send one, by the first of its data. */
  accepted: boolean;
}

/** What the bytes of a chunk come to if they are one document. */
interface Foreseen {
  readonly document: Uint8Array;
  readonly message: Message | Unreadable;
  /** It is all of the chunk. */
  readonly isChunk: boolean;
}

/** What the timer runs for: it starts anew when this changes, or where a word of the device gives it more time. */
type Waiting =
  | "hello"
  | "status"
  | "our answer"
  | `response to ${number}`
  | `data of ${number}`
  | "retry"
  | "observations"
  | "idle";

/** The topics whose end satisfies a request. */
const TOPICS = { ROBS: ["OBS"], RDEV: ["EVS", "D_EV"] } as const satisfies Record<string, readonly string[]>;

export class Conversation implements Link {
  readonly #context: LinkContext;
  readonly #operators: OperatorBook;
  readonly #splitter = new DocumentSplitter();
  #actions: LinkAction[] = [];
  readonly silenceMs = HELLO_TIMEOUT_MS;
  #state: State = "await-hello";
  #hasHeard = false;
  /** Documents since the record began. */
  #taken = 0;

  #hello: Hello | null = null;
  #helloDocument: Uint8Array = new Uint8Array(0);
  #habits: Habits = GENERIC;

  /** By the chunks that are on their way to the disk. */
  readonly #prepared = new Map<Uint8Array, Foreseen>();
  /** Of the chunk that is being received. */
  #foreseen: Foreseen | null = null;

  #lastControlId = 0;
  #outstanding: Outstanding | null = null;
  #queue: Intention[] = [];
  /** What a busy device is asked once more when the time has come, and how often it was busy. */
  #postponed: Intention[] = [];
  #busyTries = 0;
  /** New observations that the device told of and that have not come. */
  #announced = 0;

  /** The device asked who a patient is, and the answer has not been given to send(): the end of the turn waits for it. */
  #isAsked = false;

  #waiting: Waiting | null = null;
  #hasMoreTime = false;

  /** The last document that was delivered: sent again, it is answered again, and not delivered. Not beyond a rest. */
  #lastKept: Uint8Array | null = null;
  #refusals = 0;
  /** Documents in a row that were cut short. Only the first is delivered. */
  #fragments = 0;

  constructor(context: LinkContext, operators: OperatorBook = NO_OPERATORS) {
    this.#context = context;
    this.#operators = operators;
  }

  get state(): State {
    return this.#state;
  }

  get atRest(): boolean {
    return !this.#hasHeard || (this.#taken >= REST_AFTER_DOCUMENTS && this.memory !== null && this.#isBetweenDocuments);
  }

  get #isBetweenDocuments(): boolean {
    return this.#splitter.atRest && this.#fragments === 0;
  }

  /** HELLO: without it nobody knows whose the documents behind it are. */
  get memory(): Uint8Array | null {
    return this.#hasHeard && this.#hello !== null ? this.#helloDocument : null;
  }

  resume(memory: Uint8Array): void {
    const message = readMessage(memory);
    if (message.is === "hello") this.#introduce(message.hello, memory);
    this.#hasHeard = true;
    this.#taken = 0;
  }

  get answerMs(): number {
    return Math.min(this.#hello?.applicationTimeoutMs ?? ANSWER_MS_MAX, ANSWER_MS_MAX);
  }

  /** Only a `>` ends a document. */
  mayAccept(chunk: Uint8Array): boolean {
    return chunk.includes(GREATER);
  }

  /** Most chunks are one document. Where that is not so, what was read is of no use. */
  prepare(chunk: Uint8Array): void {
    const [from, to] = [chunk.indexOf(LESS), chunk.lastIndexOf(GREATER) + 1];
    if (from < 0 || to <= from || to - from > DOCUMENT_BYTES_MAX) return;
    const document = chunk.subarray(from, to);
    const message = readMessage(document);
    this.#prepared.set(chunk, { document, message, isChunk: to - from === chunk.length && isOne(document, message) });
  }

  receive(chunk: Uint8Array): LinkAction[] {
    this.#hasHeard = true;
    this.#foreseen = this.#prepared.get(chunk) ?? null;
    this.#prepared.delete(chunk);
    const whole = this.#foreseen?.isChunk === true ? this.#splitter.receiveDocument(chunk) : null;
    for (const found of whole ?? this.#splitter.receive(chunk)) this.#take(found);
    this.#foreseen = null;
    return this.#settle();
  }

  /** What these bytes complete is refused and has no other effect: a replay will not know of it. */
  refuse(chunk: Uint8Array): LinkAction[] {
    this.#hasHeard = true;
    this.#prepared.delete(chunk);
    this.#warn("cannot store: refused");
    for (const found of this.#splitter.receive(chunk)) {
      if (found.is === "document") this.#refuseDocument(readMessage(found.bytes));
    }
    // Of the one that has begun the rest will not be known behind the gap.
    this.#answer(controlIdOf(this.#splitter.partial), false, CANNOT_STORE);
    this.#splitter.gap();
    return this.#settle();
  }

  gap(): LinkAction[] {
    this.#hasHeard = true;
    this.#splitter.gap();
    return this.#settle();
  }

  /**
   * Gives the device messages (encodeParts) as soon as nothing else is outstanding, one after the other; "sent" when it
   * accepted the last. @throws when those before are neither sent nor unsent yet
   */
  send(parts: Uint8Array): LinkAction[] {
    if (this.#intends("message")) throw new Error("the message before this one is not settled");
    if (this.#state === "closed") return [{ do: "unsent", reason: "the conversation has ended" }];
    const all = decodeParts(parts);
    if (all.length === 0) return [{ do: "unsent", reason: "it holds no message" }];
    this.#queue.unshift({ is: "message", all, left: all });
    if (all[0]?.root !== DIRECTIVE) this.#isAsked = false;
    this.#advance();
    return this.#settle();
  }

  timeout(): LinkAction[] {
    const waiting = this.#waiting ?? (this.#hasHeard ? null : "hello");
    this.#waiting = null;
    switch (waiting) {
      case null:
        break;
      case "hello":
        this.#warn(`no HELLO within ${HELLO_TIMEOUT_MS / 1000} s`);
        this.#hangUp();
        break;
      case "idle":
        if (!this.#offerOperators("")) this.#queue.push({ is: "keep alive" });
        break;
      case "observations":
        this.#announced = 0;
        this.#queue.push({ is: "request", code: "ROBS" });
        break;
      case "our answer":
        this.#isAsked = false;
        break;
      case "retry":
        this.#queue.unshift(...this.#postponed);
        this.#postponed = [];
        break;
      default:
        // No source sends a message twice within a session: the device reconnects, and has its results still.
        this.#warn(`the device is unresponsive: no ${waiting}`);
        if (this.#outstanding?.intention.is !== "end") this.#say({ is: "END", reason: "UNK" });
        this.#hangUp();
    }
    this.#advance();
    return this.#settle();
  }

  close(): LinkAction[] {
    for (const found of this.#splitter.close()) this.#take(found);
    this.#endFragments();
    this.#forget("the connection closed");
    this.#state = "closed";
    this.#hasHeard = false;
    return this.#settle();
  }

  #take(found: Found): void {
    if (found.is === "document" || found.is === "truncated") this.#taken += 1;
    switch (found.is) {
      case "junk":
        this.#actions.push(found.warning);
        break;
      case "truncated": {
        this.#fragments += 1;
        if (this.#fragments > 1) break;
        const problem = `cut short by ${found.by}`;
        this.#warn(`a document was ${problem}`);
        if (this.#hello !== null) this.#deliver(found.bytes, problem);
        break;
      }
      case "hopeless":
        this.#warn(found.reason);
        this.#hangUp();
        break;
      case "document":
        this.#endFragments();
        this.#hasMoreTime ||= this.#waiting === "idle";
        this.#takeDocument(found.bytes, found.problem);
        this.#advance();
        break;
    }
  }

  /** Reports the fragments behind the first one in one warning. A peer may send a fragment every 3 bytes. */
  #endFragments(): void {
    const more = this.#fragments - 1;
    this.#fragments = 0;
    if (more > 0) this.#warn(`${more} more documents in a row were cut short: only the first is kept as a message`);
  }

  #takeDocument(document: Uint8Array, overrun: string | null): void {
    const message: Message | Unreadable =
      overrun === null
        ? this.#read(document)
        : { is: "unreadable", problem: overrun, controlId: controlIdOf(document) };
    switch (message.is) {
      case "acknowledgement":
        this.#acknowledged(message.of, message.accepted, message.note);
        break;
      case "escape":
        this.#escaped(message.of, message.detail);
        break;
      case "terminate":
        this.#answer(message.controlId, true);
        this.#hangUp();
        break;
      case "hello":
        this.#begin(message.hello, document);
        this.#answer(message.controlId, true);
        break;
      default:
        if (this.#hello !== null) {
          this.#converse(message, document, overrun);
        } else {
          this.#warn("a message came before HELLO");
          this.#answer(message.controlId, false, "expected HEL");
        }
    }
  }

  #read(document: Uint8Array): Message | Unreadable {
    const foreseen = this.#foreseen;
    if (foreseen !== null && Buffer.compare(foreseen.document, document) === 0) return foreseen.message;
    return readMessage(document);
  }

  #converse(message: Message | Unreadable, document: Uint8Array, overrun: string | null): void {
    switch (message.is) {
      case "status":
        this.#answer(message.controlId, true);
        this.#tellStatus(message.status);
        this.#heardStatus(message.status);
        break;
      case "observations":
        this.#keep(document, null);
        this.#refusals = 0;
        this.#answer(message.controlId, true);
        this.#heardData("ROBS");
        break;
      case "events":
        for (const event of message.events) this.#tell("event", event);
        this.#answer(message.controlId, true);
        this.#heardData("RDEV");
        break;
      case "query":
        this.#deliver(document, null);
        this.#answer(message.controlId, true);
        this.#isAsked = true;
        break;
      case "end of topic":
        if (this.#habits.ackEndOfTopic) this.#answer(message.controlId, true);
        this.#heardEndOfTopic(message.topic, message.requestId);
        break;
      case "keep alive":
        this.#answer(message.controlId, true);
        break;
      case "unreadable":
        this.#warn(`a document cannot be read: ${message.problem}`);
        this.#keep(document, overrun);
        this.#refusals += 1;
        this.#answer(message.controlId, this.#refusals > REFUSALS_MAX, message.problem);
        break;
      default: {
        const problem = `unsupported ${short(message.root.name)}`;
        this.#warn(problem);
        this.#answer(message.controlId, false, problem);
      }
    }
  }

  #begin(hello: Hello, document: Uint8Array): void {
    this.#forget("the device said HELLO again");
    if (this.#state !== "closed") this.#state = "await-status";
    this.#introduce(hello, document);
    this.#refusals = 0;
    if (hello.name !== "") this.#actions.push({ do: "identify", name: hello.name });
  }

  #introduce(hello: Hello, document: Uint8Array): void {
    this.#hello = hello;
    this.#helloDocument = document;
    this.#habits = habitsOf(hello);
    this.#lastKept = null;
  }

  #heardStatus({ createdAt, observations, events, operatorsAt }: Status): void {
    this.#announced = observations;
    if (this.#state === "continuous") {
      this.#offerOperators(operatorsAt);
      return; // the observations come by themselves
    }
    if (this.#state === "await-status") {
      this.#state = "running";
      this.#offerOperators(operatorsAt);
      const offers = (directive: string) => this.#hello?.directives.includes(directive) === true;
      if (offers("SET_TIME") && Math.abs(this.#skewMs(createdAt)) > CLOCK_SKEW_MAX_MS)
        this.#queue.push({ is: "set time" });
      this.#queue.push({ is: offers("START_CONTINUOUS") ? "start continuous" : "end" });
    }
    if (events > 0) this.#request("RDEV");
    if (observations > 0) this.#request("ROBS");
  }

  /** Says who may use the device, where it takes such a list and has another; answers whether it will. */
  #offerOperators(operatorsAt: string): boolean {
    const hello = this.#hello;
    const current = this.#operators.current();
    if (hello === null || current === null || this.#intends("operators")) return false;
    // This is how some say that they have none, or were reset.
    const known = operatorsAt.startsWith("2000-01-01") ? null : this.#operators.takenBy(hello.name);
    const offer = {
      full: hello.topics.includes("OP_LST"),
      incremental: hello.topics.includes("OP_LST_I"),
      bytesMax: hello.bytesMax,
    };
    const all = operatorParts(current, known, offer, this.#context.now());
    if (all.length === 0) return false;
    this.#queue.push({ is: "operators", all, left: all, list: current });
    return true;
  }

  #tookOperators(list: readonly Operator[]): void {
    this.#operators.took(this.#hello?.name ?? "", list);
    this.#tell("operators", list);
  }

  #tellStatus({ createdAt, condition, observations, events }: Status): void {
    const skewMs = this.#skewMs(createdAt);
    const clock_skew_s = Number.isNaN(skewMs) ? null : Math.round(skewMs / 1000);
    this.#tell("status", { condition, new_observations: observations, new_events: events, clock_skew_s });
  }

  #tell(topic: News["topic"], content: object): void {
    const device = this.#hello?.name ?? "";
    this.#actions.push({ do: "news", news: { device, topic, content: JSON.stringify(content) } });
  }

  /** Before all else that waits; not twice. */
  #request(code: "ROBS" | "RDEV"): void {
    const intentions = [...this.#queue, ...this.#postponed, this.#outstanding?.intention];
    if (intentions.some((intention) => intention?.is === "request" && intention.code === code)) return;
    this.#queue.unshift({ is: "request", code });
  }

  #heardData(code: "ROBS" | "RDEV"): void {
    if (code === "ROBS") this.#announced = this.#state === "continuous" ? 0 : Math.max(0, this.#announced - 1);
    const outstanding = this.#outstanding;
    if (outstanding?.intention.is !== "request" || outstanding.intention.code !== code) return;
    outstanding.accepted = true;
    this.#hasMoreTime = true;
    if (!this.#habits.requestEach || code !== "ROBS") return;
    this.#outstanding = null;
    if (this.#announced > 0) this.#request(code);
  }

  #heardEndOfTopic(topic: string, requestId: string): void {
    const outstanding = this.#outstanding;
    if (outstanding?.intention.is !== "request") return;
    const topics: readonly string[] = TOPICS[outstanding.intention.code];
    if (!topics.includes(topic) && !isId(requestId, outstanding.controlId)) return;
    if (outstanding.intention.code === "ROBS") this.#announced = 0;
    this.#outstanding = null;
  }

  /** Never answered. */
  #acknowledged(of: string, accepted: boolean, note: string): void {
    const outstanding = this.#outstanding;
    if (outstanding === null || !isId(of, outstanding.controlId)) {
      this.#warn(`an ACK of ${short(of)}, expected ${outstanding?.controlId ?? "none"}`);
      return;
    }
    if (!accepted) {
      this.#refused(outstanding.intention, note === "" ? "AE" : short(note));
      return;
    }
    this.#busyTries = 0;
    if (outstanding.intention.is === "request") {
      outstanding.accepted = true; // its end of topic satisfies it
      return;
    }
    this.#outstanding = null;
    this.#accepted(outstanding.intention);
  }

  #accepted(intention: Intention): void {
    switch (intention.is) {
      case "message":
      case "operators": {
        const left = intention.left.slice(1);
        if (left.length > 0) this.#queue.unshift({ ...intention, left });
        else if (intention.is === "message") this.#actions.push({ do: "sent" });
        else this.#tookOperators(intention.list);
        break;
      }
      case "start continuous":
        this.#state = "continuous";
        break;
      case "end":
        this.#hangUp();
        break;
      case "request":
      case "set time":
      case "keep alive":
        break;
    }
  }

  /** Never answered. */
  #escaped(of: string, detail: string): void {
    const outstanding = this.#outstanding;
    if (outstanding === null || !isId(of, outstanding.controlId)) {
      this.#warn(`an escape (${short(detail)}) of ${short(of)}, expected ${outstanding?.controlId ?? "none"}`);
      return;
    }
    const { intention } = outstanding;
    const mayWait = ["request", "message", "operators", "set time"].includes(intention.is);
    if (detail === "CNC" && mayWait && this.#busyTries < BUSY_TRIES_MAX) {
      this.#busyTries += 1;
      this.#outstanding = null;
      this.#postponed.push("all" in intention ? { ...intention, left: intention.all } : intention);
    } else {
      this.#refused(intention, `escape ${short(detail)}`);
    }
  }

  #refused(intention: Intention, reason: string): void {
    this.#outstanding = null;
    if (intention.is === "keep alive") return; // who refuses is alive
    this.#warn(`the device refused a message (${intention.is}): ${reason}`);
    if (intention.is === "start continuous") this.#queue.push({ is: "end" });
    if (intention.is === "message") this.#actions.push({ do: "unsent", reason });
    if (intention.is === "end") this.#hangUp();
  }

  /** Says what is next, when nothing is outstanding. After every document, wherever chunks end. */
  #advance(): void {
    if (this.#outstanding !== null || (this.#state !== "running" && this.#state !== "continuous")) return;
    const [next] = this.#queue;
    if (next === undefined) return;
    const closesTurn = next.is === "end" || next.is === "start continuous";
    if (closesTurn && (this.#postponed.length > 0 || this.#isAsked)) return;
    this.#queue.shift();
    if (next.is === "end") this.#state = "ending";
    this.#outstanding = { intention: next, controlId: this.#say(this.#wordsOf(next)), accepted: false };
  }

  #wordsOf(intention: Intention): ManagerMessage {
    switch (intention.is) {
      case "request":
        return { is: "REQ", code: intention.code };
      case "set time":
        return { is: "DTV", command: "SET_TIME", time: this.#context.now() };
      case "start continuous":
        return { is: "DTV", command: "START_CONTINUOUS" };
      case "message":
      case "operators":
        return { is: "part", ...intention.left[0]! };
      case "keep alive":
        return { is: "KPA" };
      case "end":
        return { is: "END", reason: "NRM" };
    }
  }

  /** null: the document did not say which it is. */
  #answer(of: string | null, accepted: boolean, note?: string): void {
    if (of !== null) this.#say({ is: "ACK", accepted, of, ...(note === undefined ? {} : { note }) });
  }

  #refuseDocument(message: Message | Unreadable): void {
    if (message.is === "acknowledgement" || message.is === "escape") return;
    if (message.is === "end of topic" && !this.#habits.ackEndOfTopic) return;
    this.#answer(message.controlId, false, CANNOT_STORE);
  }

  /** Answers the control id it went out with. */
  #say(message: ManagerMessage): number {
    this.#lastControlId = (this.#lastControlId % CONTROL_ID_MAX) + 1;
    if (this.#state === "closed") return this.#lastControlId;
    const document = encodeMessage(message, this.#lastControlId, this.#context.now(), this.#habits);
    this.#actions.push({ do: "reply", bytes: this.#splitter.framing === "mllp" ? mllp(document) : document });
    return this.#lastControlId;
  }

  /** Delivers a document; one that was just sent again is known by its bytes, control id and all. */
  #keep(document: Uint8Array, problem: string | null): void {
    if (this.#lastKept !== null && isSame(this.#lastKept, document)) return;
    this.#lastKept = document;
    this.#deliver(document, problem);
  }

  /** HELLO stands before it: only that says which device it is. */
  #deliver(document: Uint8Array, incomplete: string | null): void {
    const message = new Uint8Array(this.#helloDocument.length + document.length);
    message.set(this.#helloDocument);
    message.set(document, this.#helloDocument.length);
    this.#actions.push({ do: "deliver", message, incomplete });
  }

  #warn(reason: string): void {
    this.#actions.push({ do: "warn", reason });
  }

  #hangUp(): void {
    if (this.#state === "closed") return;
    this.#forget("the conversation ended");
    this.#state = "closed";
    this.#actions.push({ do: "hang up" });
  }

  /** All that we had to say. */
  #forget(reason: string): void {
    if (this.#intends("message")) this.#actions.push({ do: "unsent", reason });
    this.#outstanding = null;
    this.#queue = [];
    this.#postponed = [];
    this.#busyTries = 0;
    this.#announced = 0;
    this.#isAsked = false;
  }

  #intends(kind: Intention["is"]): boolean {
    const intentions = [...this.#queue, ...this.#postponed, this.#outstanding?.intention];
    return intentions.some((intention) => intention?.is === kind);
  }

  /** By how much the device's clock is ahead; NaN where it shows no time. One without offset is taken to be of our zone. */
  #skewMs(createdAt: string): number {
    const now = this.#context.now();
    const theirs = /(?:Z|[+-]\d\d:\d\d)$/.test(createdAt) ? createdAt : createdAt + now.slice(-"+00:00".length);
    return Date.parse(theirs) - Date.parse(now);
  }

  #settle(): LinkAction[] {
    const waiting = this.#waitsFor();
    if (waiting !== this.#waiting || this.#hasMoreTime) {
      this.#actions.push({ do: "timer", ms: waiting === null ? null : this.#timeoutOf(waiting) });
    }
    this.#waiting = waiting;
    this.#hasMoreTime = false;
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  #waitsFor(): Waiting | null {
    switch (this.#state) {
      case "closed":
        return null;
      case "await-hello":
        return this.#hasHeard ? "hello" : null;
      case "await-status":
        return "status";
      default:
        if (this.#outstanding !== null) {
          const { accepted, controlId } = this.#outstanding;
          return accepted ? `data of ${controlId}` : `response to ${controlId}`;
        }
        if (this.#isAsked) return "our answer";
        if (this.#postponed.length > 0) return "retry";
        return this.#announced > 0 ? "observations" : "idle";
    }
  }

  #timeoutOf(waiting: Waiting): number {
    const responseMs = this.#hello?.applicationTimeoutMs ?? RESPONSE_TIMEOUT_MS;
    switch (waiting) {
      case "hello":
        return HELLO_TIMEOUT_MS;
      case "retry":
        return BUSY_MS;
      case "idle":
        return IDLE_TIMEOUT_MS;
      default:
        // Between the data of a topic the device may be idle for twice as long.
        return waiting.startsWith("data") ? 2 * responseMs : responseMs;
    }
  }
}

const NO_OPERATORS: OperatorBook = { current: () => null, takenBy: () => null, took: () => undefined };
const CANNOT_STORE = "cannot store";
const VT = 0x0b;
const FS = 0x1c;
const CR = 0x0d;

export function mllp(document: Uint8Array): Uint8Array {
  return Uint8Array.of(VT, ...document, FS, CR);
}

/** As numbers too: `00001` acknowledges 1. */
function isId(text: string, controlId: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) === controlId;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Whether what was read as one document is found as one: it ends with its root, and no other begins within it. */
function isOne(document: Uint8Array, message: Message | Unreadable): boolean {
  if (message.is === "unreadable") return false;
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.length);
  const end = `</${message.root.name}>`;
  return bytes.subarray(-end.length).toString("latin1") === end && bytes.indexOf("<?xml", 1) < 0;
}

import { encodeMllp } from "../mllp.ts";
import { type Dialect, dialectOf, GENERIC } from "./dialect.ts";
import { DocumentSplitter } from "./xml/document-splitter.ts";
import { type Message, readMessage } from "./message.ts";
import { element, type Element, field, find, value } from "./xml/xml.ts";

// Device side of a POCT1-A dialogue, for the simulator. It plays a recording, sends each document when a data manager
// requests it, and acknowledges in its own dialect. A strict device escapes everything that real devices were seen to
// refuse.

export interface DeviceDialect extends Dialect {
  /** Acknowledges a request before its data; many devices send the data immediately. */
  readonly ackRequest: boolean;
  /** Replies to a fault of the data manager with an escape and ends. */
  readonly strict: boolean;
}

/** Max sends of a refused document; then the dialogue fails. */
const TRIES_MAX = 6;
/** Control ids that no recording has. */
const FIRST_OWN_ID = 90_001;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)$/;

interface RecordedDocument {
  readonly message: Message;
  readonly document: Uint8Array;
}

export class Poct1Device {
  readonly #dialect: DeviceDialect;
  readonly #framing: "none" | "mllp";
  readonly #createdAt: string;
  readonly #bytesMax: number;
  /** HELLO and status. */
  readonly #introduction: RecordedDocument[];
  /** Documents that are sent on request, by request code. */
  readonly #stored: Record<"ROBS" | "RDEV", RecordedDocument[]>;
  /** Documents that are sent unsolicited in continuous mode. */
  readonly #later: RecordedDocument[];

  readonly #splitter = new DocumentSplitter();
  #output: Uint8Array[] = [];
  #ownId = FIRST_OWN_ID;
  #managerId = 0;
  /** Documents to send, each after the ACK of the last. */
  #queue: Uint8Array[] = [];
  /** Control id of the awaited ACK; null if none. */
  #awaited: string | null = null;
  #tries = 0;
  /** Request whose data have not ended. */
  #request: { readonly code: "ROBS" | "RDEV"; readonly id: string } | null = null;
  #isContinuous = false;
  /** Root of the awaited reply to the device's own query. */
  #awaitedRoot: string | null = null;
  /** Number of acknowledged documents. */
  acknowledged = 0;
  /** undefined while the dialogue runs, null after a complete one, else the fault. */
  outcome: string | null | undefined;

  /** @throws when the recording holds no HELLO */
  constructor(recording: Uint8Array, dialect: Partial<DeviceDialect> = {}) {
    const splitter = new DocumentSplitter();
    const lines = splitter.receive(recording).flatMap((found): RecordedDocument[] => {
      const message = found.is === "document" && found.problem === null ? readMessage(found.bytes) : null;
      return message === null || message.is === "unreadable" || !("bytes" in found)
        ? []
        : [{ message, document: found.bytes }];
    });
    const hello = lines.find(({ message }) => message.is === "hello");
    if (hello?.message.is !== "hello") throw new Error("the recording holds no HELLO");
    const status = lines.find(({ message }) => message.is === "status");
    const announced = status?.message.is === "status" ? status.message.status : { observations: 0, events: 0 };
    const observations = lines.filter(({ message }) => message.is === "observations");
    const events = lines.filter(({ message }) => message.is === "events");
    this.#framing = splitter.framing;
    this.#createdAt = value(hello.message.root, "HDR.creation_dttm");
    this.#bytesMax = Number(value(hello.message.root, "DSC.max_message_sz")) || Number.POSITIVE_INFINITY;
    const own = dialectOf(hello.message.hello);
    this.#dialect = { ...GENERIC, ...own, ackRequest: own.ackEndOfTopic, strict: false, ...dialect };
    this.#introduction = status === undefined ? [hello] : [hello, status];
    this.#stored = {
      ROBS: observations.slice(0, announced.observations),
      RDEV: events.slice(0, announced.events),
    };
    const stored = [...this.#stored.ROBS, ...this.#stored.RDEV];
    this.#later = lines.filter(
      (line) => ["observations", "events", "query", "other"].includes(line.message.is) && !stored.includes(line),
    );
  }

  begin(): Uint8Array[] {
    this.#enqueue(this.#introduction.map(({ document }) => document));
    return this.#drain();
  }

  /** Handles a chunk of the data manager. @returns the replies */
  receive(chunk: Uint8Array): Uint8Array[] {
    for (const found of this.#splitter.receive(chunk)) {
      if (this.outcome !== undefined) break;
      if (found.is === "document") this.#receiveDocument(found.bytes);
      else this.outcome = `the data manager sent an invalid document: ${found.is}`;
    }
    return this.#drain();
  }

  #drain(): Uint8Array[] {
    const output = this.#output;
    this.#output = [];
    return output;
  }

  #send(document: Uint8Array): void {
    this.#output.push(this.#framing === "mllp" ? encodeMllp(document) : document);
  }

  /** Encodes a message of the simulator's own. @returns it with its control id */
  #message(root: string, ...body: readonly string[]): { readonly id: string; readonly document: Uint8Array } {
    const id = String(this.#ownId++);
    const fields = [
      field("HDR.control_id", id),
      field("HDR.version_id", "POCT1"),
      field("HDR.creation_dttm", this.#createdAt),
    ];
    return { id, document: new TextEncoder().encode(element(root, element("HDR", ...fields), ...body)) };
  }

  #acknowledge(id: string): void {
    const acknowledgement = element("ACK", field("ACK.type_cd", "AA"), field(this.#dialect.ackField, id));
    this.#send(this.#message("ACK.R01", acknowledgement).document);
  }

  #enqueue(documents: readonly Uint8Array[]): void {
    this.#queue.push(...documents);
    if (this.#awaited === null) this.#sendNext();
  }

  #sendNext(): void {
    const [next] = this.#queue;
    if (next === undefined) return;
    const message = readMessage(next);
    const isUnacknowledged = message.is === "end of topic" && !this.#dialect.ackEndOfTopic;
    this.#awaited = isUnacknowledged ? null : message.controlId;
    this.#send(next);
    if (isUnacknowledged) this.#endDocument();
  }

  /** Handles the end of the last document. */
  #endDocument(): void {
    const sent = this.#queue.shift();
    const message = sent === undefined ? null : readMessage(sent);
    this.#awaited = null;
    this.#tries = 0;
    if (message?.is === "query") {
      this.#awaitedRoot = message.answer;
      return;
    }
    if (message?.is === "end of topic" || (message?.is === "observations" && this.#dialect.requestEach)) {
      this.#request = null;
    }
    if (message?.is === "terminate") this.#end();
    else if (this.#queue.length > 0) this.#sendNext();
    else if (this.#isContinuous && this.#request === null && message?.is !== "status") this.#sendRest();
  }

  /** Sends all remaining documents, then END. */
  #sendRest(): void {
    const rest = this.#later.splice(0).map(({ document }) => document);
    this.#enqueue([...rest, this.#message("END.R01", element("TRM", field("TRM.reason_cd", "NRM"))).document]);
  }

  #end(): void {
    const left = this.#stored.ROBS.length + this.#stored.RDEV.length + this.#later.length + this.#queue.length;
    this.outcome ??= left === 0 ? null : `the dialogue ended with ${left} unsent documents`;
  }

  #receiveDocument(document: Uint8Array): void {
    const message = readMessage(document);
    if (message.is === "unreadable") {
      this.outcome = `the data manager sent an unreadable document: ${message.problem}`;
      return;
    }
    const fault = this.#dialect.strict ? this.#faultOf(message, document) : null;
    this.#managerId = Number(message.controlId);
    if (fault !== null) {
      const fields = [field("ESC.esc_control_id", message.controlId), field("ESC.detail_cd", "OTH")];
      this.#send(this.#message("ESC.R01", element("ESC", ...fields)).document);
      this.outcome = fault;
      return;
    }
    switch (message.is) {
      case "acknowledgement":
        this.#receiveAcknowledgement(message);
        break;
      case "escape":
        this.outcome = `the data manager escaped: ${message.detail}`;
        break;
      case "terminate":
        this.#acknowledge(message.controlId);
        this.#end();
        break;
      default:
        this.#receiveOther(message);
    }
  }

  #receiveAcknowledgement(message: Message & { readonly is: "acknowledgement" }): void {
    if (this.#awaited === null || Number(message.of) !== Number(this.#awaited)) return;
    if (message.accepted) {
      this.acknowledged += 1;
      this.#endDocument();
      return;
    }
    this.#tries += 1;
    if (this.#tries >= TRIES_MAX) this.outcome = `refused ${this.#tries} times: ${message.note}`;
    else this.#sendNext();
  }

  #receiveOther({ root, controlId }: Message): void {
    const code = value(root, "REQ.request_cd");
    if (code === "ROBS" || code === "RDEV") {
      if (this.#dialect.ackRequest) this.#acknowledge(controlId);
      this.#request = { code, id: controlId };
      const count = this.#dialect.requestEach && code === "ROBS" ? 1 : this.#stored[code].length;
      const documents = this.#stored[code].splice(0, count).map(({ document }) => document);
      const isEnded = !this.#dialect.requestEach || code !== "ROBS" || documents.length === 0;
      this.#enqueue(isEnded ? [...documents, this.#endOfTopic(code, controlId)] : documents);
      return;
    }
    this.#acknowledge(controlId);
    if (root.name === this.#awaitedRoot) {
      this.#awaitedRoot = null;
      this.#sendNext();
    } else if (value(root, "DTV.command_cd") === "START_CONTINUOUS") {
      this.#isContinuous = true;
      if (this.#queue.length === 0) this.#sendRest();
    }
  }

  #endOfTopic(code: "ROBS" | "RDEV", of: string): Uint8Array {
    const topic = field("EOT.topic_cd", code === "ROBS" ? "OBS" : "EVS");
    return this.#message("EOT.R01", element("EOT", topic, field("EOT.eot_control_id", of))).document;
  }

  /** Returns the fault that a real device was seen to escape, or not to understand; null if none. */
  #faultOf(message: Message, document: Uint8Array): string | null {
    const { root, controlId } = message;
    const [version, time] = [value(root, "HDR.version_id"), value(root, "HDR.creation_dttm")];
    if (!/^\d+$/.test(controlId)) return `control id "${controlId}" is not a number`;
    if (Number(controlId) <= this.#managerId) return `control id ${controlId} after ${this.#managerId}`;
    if (version !== "POCT1") return `version "${version}", expected POCT1`;
    if (!TIME.test(time)) return `time "${time}", expected two digits a part and an offset`;
    if (this.#splitter.framing !== this.#framing) return `framing ${this.#splitter.framing}, expected ${this.#framing}`;
    if (document.length > this.#bytesMax) return `${document.length} bytes, at most ${this.#bytesMax}`;
    if (!this.#dialect.xmlDeclaration && document[1] === 0x3f) return "an XML declaration, which is taken for the root";
    if (message.is === "acknowledgement") return this.#acknowledgementFault(message);
    if (message.is === "terminate" && !isIn(root, "TRM", "TRM.reason_cd")) return "END without TRM.reason_cd in TRM";
    if (message.is === "terminate" || message.is === "escape") return null;
    if (this.#request !== null) return `${root.name} while REQ ${this.#request.code} is outstanding`;
    const isTime = value(root, "DTV.command_cd") === "SET_TIME";
    return isTime && !isIn(root, "TM", "TM.dttm") ? "SET_TIME without TM.dttm in a TM of its own" : null;
  }

  #acknowledgementFault({ root }: Message): string | null {
    const [type, of] = [value(root, "ACK.type_cd"), value(root, this.#dialect.ackField)];
    if (type !== "AA" && type !== "AE") return `ACK.type_cd "${type}", expected AA or AE`;
    if (of === "") return `an ACK without ${this.#dialect.ackField}`;
    return of === this.#awaited ? null : `an ACK of ${of}, expected ${this.#awaited ?? "none"}`;
  }
}

/** Returns whether the message has this field in this object directly under the root. */
function isIn(root: Element, object: string, name: string): boolean {
  const own = root.children.find((child) => child.name === object);
  return own !== undefined && find(own, name) !== null;
}

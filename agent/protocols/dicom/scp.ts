import { type AgreedContext, type Agreement, Association, type AssociationAction } from "./association.ts";
import { concat } from "../bytes.ts";
import { DatasetWalker, type Encoding, encodingOf } from "./dataset.ts";
import {
  ATTRIBUTES_BYTES_MAX,
  COMMAND,
  type Command,
  COMMAND_BYTES_MAX,
  encodeRequest,
  encodeResponse,
  isUid,
  readCommand,
  type Request,
  RESPONSE,
  STATUS,
} from "./dimse.ts";
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from "./part10.ts";
import {
  type NegotiatedContext,
  type AssociateAccept,
  type AssociateReject,
  type AssociateRequest,
  DATA_PDU_BYTES_MAX,
  type DataFragment,
  type ProposedContext,
} from "./pdu.ts";
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  MODALITY_WORKLIST,
  MODALITY_PERFORMED_PROCEDURE_STEP,
  STORAGE_COMMITMENT,
  VERIFICATION,
} from "./uids.ts";

// Services of the agent on one association: bytes in, actions out. C-ECHO gets its response here. An instance to store
// is passed on in received pieces, other datasets whole. The caller reports the outcome.

export type ScpAction =
  | Extract<AssociationAction, { readonly do: "write" | "timer" | "close" | "open" | "over" }>
  /** An instance begins. "keep" or "discard" ends it before the next one begins. */
  | { readonly do: "begin"; readonly instance: IncomingInstance }
  | { readonly do: "bytes"; readonly bytes: Uint8Array }
  /** The instance is whole. The caller stores it and calls respond(). */
  | { readonly do: "keep"; readonly identity: Identity }
  /** The instance is incomplete or refused. */
  | { readonly do: "discard" }
  /** A request of another service with its whole dataset. The caller calls pending() and respond(). */
  | { readonly do: "serve"; readonly request: ServiceRequest }
  /** The peer has cancelled the request with this id. */
  | { readonly do: "cancel"; readonly messageId: number }
  /** Response of the peer to a request of the agent. */
  | { readonly do: "answered"; readonly command: Command };

export interface ServiceRequest {
  readonly contextId: number;
  readonly command: Command;
  readonly encoding: Encoding;
  readonly dataset: Uint8Array;
  readonly callingAe: string;
}

export interface IncomingInstance {
  readonly messageId: number;
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly callingAe: string;
}

/** Identity in the dataset. `study` is null for a deflated one, which the caller has to parse. */
export interface Identity {
  readonly study: string | null;
  /** Bytes of the dataset before its pixels. */
  readonly headerBytes: number;
}

export interface ScpOptions {
  readonly aeTitle: string;
  /** Allowed calling AE titles; empty for any. */
  readonly callingAeTitles: readonly string[];
  /** Returns whether another association of this peer is admitted. */
  readonly admits: (callingAe: string) => boolean;
}

/** Exclusive bound of the bytes of an instance: its length has 32 bits. */
const INSTANCE_BYTES_MAX = 4 * 1024 ** 3;

const REJECT_CALLING_AE: AssociateReject = { result: 1, source: 1, reason: 3 };
const REJECT_CALLED_AE: AssociateReject = { result: 1, source: 1, reason: 7 };
const REJECT_LOCAL_LIMIT: AssociateReject = { result: 2, source: 3, reason: 2 };

/** Operations of services whose datasets are read whole. */
const OPERATIONS: Readonly<Record<string, readonly number[]>> = {
  [MODALITY_WORKLIST]: [COMMAND.cFindRequest],
  [MODALITY_PERFORMED_PROCEDURE_STEP]: [COMMAND.nCreateRequest, COMMAND.nSetRequest],
  [STORAGE_COMMITMENT]: [COMMAND.nActionRequest],
};
/** The standard's storage classes, except some with other prefixes. */
const STORAGE = /^1\.2\.840\.10008\.5\.1\.4\.(1\.1\.|34\.7$|38\.1$|39\.1$|43\.1$|44\.1$|45\.1$)/;
/** Root of the standard's UIDs. A private SOP class that a peer proposes is taken for a storage class. */
const STANDARD = "1.2.840.10008.";
/** Instance whose dataset is being received. */
interface Receiving {
  readonly contextId: number;
  readonly command: Command;
  readonly context: AgreedContext;
  /** null for a deflated dataset. */
  readonly walker: DatasetWalker | null;
  /** Refusal decided before the dataset: the dataset is skipped, then the response follows. */
  readonly refusal: Refusal | null;
  bytes: number;
}

/** Request of another service whose dataset is being received. */
interface Gathering {
  readonly contextId: number;
  readonly command: Command;
  readonly encoding: Encoding;
  readonly parts: Uint8Array[];
  length: number;
}

interface Refusal {
  readonly status: number;
  readonly comment: string;
}

export class Scp {
  readonly #association: Association;
  #agreement: Agreement | null = null;
  #command: { readonly context: number; readonly parts: Uint8Array[]; length: number } | null = null;
  #receiving: Receiving | null = null;
  #gathering: Gathering | null = null;
  /** Requests that wait for respond(), by message id. */
  readonly #unanswered = new Map<number, { readonly contextId: number; readonly command: Command }>();
  #actions: ScpAction[] = [];

  constructor(options: ScpOptions) {
    this.#association = Association.acceptor((request) => answerTo(request, options));
  }

  /** Number of instances that are being stored. */
  get unanswered(): number {
    return this.#unanswered.size;
  }

  start(): ScpAction[] {
    this.#apply(this.#association.start());
    return this.#take();
  }

  receive(chunk: Uint8Array): ScpAction[] {
    this.#apply(this.#association.receive(chunk));
    return this.#take();
  }

  timeout(): ScpAction[] {
    // The peer waits for the agent.
    if (this.#unanswered.size > 0) this.#actions.push({ do: "timer", ms: UNANSWERED_MS });
    else this.#apply(this.#association.timeout());
    return this.#take();
  }

  closed(): ScpAction[] {
    this.#apply(this.#association.closed());
    return this.#take();
  }

  /** Aborts the association. */
  abort(reason: string): ScpAction[] {
    this.#apply(this.#association.abort(reason));
    return this.#take();
  }

  /** Responds to a request. A comment explains a failure or warning. `sopInstance`: UID of a created instance. */
  respond(messageId: number, status: number, comment: string | null, sopInstance?: string): ScpAction[] {
    const request = this.#unanswered.get(messageId);
    this.#unanswered.delete(messageId);
    if (request === undefined) return this.#take();
    const named = sopInstance === undefined ? {} : { affectedSopInstance: sopInstance };
    this.#respond(request.contextId, { ...request.command, ...named }, status, comment);
    return this.#take();
  }

  /** Sends one of several responses; respond() sends the last. */
  pending(messageId: number, status: number, dataset: Uint8Array): ScpAction[] {
    const request = this.#unanswered.get(messageId);
    if (request === undefined) return this.#take();
    const { contextId: context, command } = request;
    const bytes = encodeResponse(command, status, null, true);
    this.#apply(this.#association.send({ context, part: "command", bytes, last: true }));
    this.#apply(this.#association.send({ context, part: "dataset", bytes: dataset, last: true }));
    return this.#take();
  }

  /** Sends a request to the peer, such as an event report, on a context that the peer proposed. */
  request(context: number, request: Request, dataset: Uint8Array): ScpAction[] {
    this.#apply(this.#association.send({ context, part: "command", bytes: encodeRequest(request), last: true }));
    this.#apply(this.#association.send({ context, part: "dataset", bytes: dataset, last: true }));
    return this.#take();
  }

  #apply(actions: readonly AssociationAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "data":
          this.#data(action);
          break;
        case "open":
          this.#agreement = action.agreement;
          this.#actions.push(action);
          break;
        case "over":
          if (this.#receiving?.refusal === null) this.#actions.push({ do: "discard" });
          this.#receiving = null;
          this.#gathering = null;
          this.#unanswered.clear();
          this.#actions.push(action);
          break;
        case "write":
        case "timer":
        case "close":
          this.#actions.push(action);
          break;
      }
    }
  }

  #data({ context, part, bytes, last }: DataFragment): void {
    if (!this.#association.isOpen) return; // an earlier PDU of the same chunk ended it
    if (part === "dataset") return this.#datasetPart(context, bytes, last);
    if (this.#receiving !== null || this.#gathering !== null) return this.#fail("a command came within a dataset");
    this.#command ??= { context, parts: [], length: 0 };
    const command = this.#command;
    if (command.context !== context) return this.#fail("a command changed its presentation context");
    if (bytes.length > 0) command.parts.push(bytes.slice());
    command.length += bytes.length;
    if (command.length > COMMAND_BYTES_MAX) return this.#fail(`a command of more than ${COMMAND_BYTES_MAX} bytes`);
    if (!last) return;
    this.#command = null;
    const read = readCommand(concat(command.parts));
    if (typeof read === "string") this.#fail(read);
    else this.#commanded(context, read);
  }

  #commanded(contextId: number, command: Command): void {
    const context = this.#agreement?.contexts.get(contextId);
    if (context === undefined)
      return this.#fail(`a command on the presentation context ${contextId}, which was not accepted`);
    switch (command.field) {
      case COMMAND.cEchoRequest:
        if (command.hasDataset) return this.#fail("a C-ECHO with a dataset");
        return this.#respond(contextId, command, STATUS.success, null);
      case COMMAND.cStoreRequest: {
        if (!command.hasDataset) return this.#respond(contextId, command, STATUS.cannotUnderstand, "no dataset");
        if (this.#unanswered.has(command.messageId)) return this.#fail(`message ${command.messageId} came twice`);
        const refusal = refusalOf(command, context);
        const encoding = encodingOf(context.transferSyntax);
        const walker = encoding === null ? null : new DatasetWalker(encoding);
        this.#receiving = { contextId, command, context, walker, refusal, bytes: 0 };
        if (refusal === null) this.#begin(command, context);
        return;
      }
      case COMMAND.cCancelRequest:
        // The cancel may cross the last response, and the id may be reused later.
        if (this.#unanswered.has(command.messageIdRespondedTo))
          this.#actions.push({ do: "cancel", messageId: command.messageIdRespondedTo });
        return;
      case COMMAND.nEventReportRequest | RESPONSE:
        this.#actions.push({ do: "answered", command });
        return;
      default: {
        const encoding = encodingOf(context.transferSyntax);
        const isServed = OPERATIONS[context.abstractSyntax]?.includes(command.field) === true;
        if (isServed && encoding !== null && command.affectedSopClass === context.abstractSyntax) {
          if (this.#unanswered.has(command.messageId)) return this.#fail(`message ${command.messageId} came twice`);
          this.#gathering = { contextId, command, encoding, parts: [], length: 0 };
          if (!command.hasDataset) this.#serve(this.#gathering);
          return;
        }
        // The meaning of a dataset behind the command is unknown.
        if (command.hasDataset) return this.#fail(`a request of type ${command.field} with a dataset`);
        return this.#respond(contextId, command, STATUS.unrecognizedOperation, "no such operation here");
      }
    }
  }

  #serve({ contextId, command, encoding, parts }: Gathering): void {
    this.#gathering = null;
    this.#unanswered.set(command.messageId, { contextId, command });
    const callingAe = this.#agreement?.callingAe ?? "";
    this.#actions.push({ do: "serve", request: { contextId, command, encoding, dataset: concat(parts), callingAe } });
  }

  #begin({ messageId, affectedSopClass, affectedSopInstance }: Command, { transferSyntax }: AgreedContext): void {
    const callingAe = this.#agreement?.callingAe ?? "";
    const [sopClass, sopInstance] = [affectedSopClass, affectedSopInstance];
    this.#actions.push({ do: "begin", instance: { messageId, sopClass, sopInstance, transferSyntax, callingAe } });
  }

  #datasetPart(context: number, bytes: Uint8Array, last: boolean): void {
    if (this.#gathering !== null) return this.#gather(this.#gathering, context, bytes, last);
    const receiving = this.#receiving;
    if (receiving === null) return this.#fail("a dataset without its command");
    if (receiving.contextId !== context) return this.#fail("a dataset changed its presentation context");
    receiving.bytes += bytes.length;
    if (receiving.bytes > INSTANCE_BYTES_MAX) return this.#fail(`an instance of more than ${INSTANCE_BYTES_MAX} bytes`);
    if (receiving.refusal === null && bytes.length > 0) {
      receiving.walker?.receive(bytes);
      this.#actions.push({ do: "bytes", bytes });
    }
    if (last) this.#endDataset(receiving);
  }

  #gather(gathering: Gathering, context: number, bytes: Uint8Array, last: boolean): void {
    if (gathering.contextId !== context) return this.#fail("a dataset changed its presentation context");
    gathering.length += bytes.length;
    if (gathering.length > ATTRIBUTES_BYTES_MAX) {
      return this.#fail(`a dataset of more than ${ATTRIBUTES_BYTES_MAX} bytes with a request of this kind`);
    }
    gathering.parts.push(bytes.slice());
    if (last) this.#serve(gathering);
  }

  #endDataset({ contextId, command, walker, refusal, bytes }: Receiving): void {
    this.#receiving = null;
    const summary = walker?.end() ?? null;
    const fault = refusal ?? (summary === null ? null : faultOf(command, summary));
    if (fault !== null) {
      if (refusal === null) this.#actions.push({ do: "discard" });
      return this.#respond(contextId, command, fault.status, fault.comment);
    }
    this.#unanswered.set(command.messageId, { contextId, command });
    const identity = { study: summary?.study ?? null, headerBytes: summary?.headerBytes ?? bytes };
    this.#actions.push({ do: "keep", identity });
  }

  #respond(contextId: number, command: Command, status: number, comment: string | null): void {
    const bytes = encodeResponse(command, status, comment);
    this.#apply(this.#association.send({ context: contextId, part: "command", bytes, last: true }));
  }

  #fail(reason: string): void {
    this.#apply(this.#association.abort(reason));
  }

  #take(): ScpAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}

/** Interval at which an association that waits for the agent is checked. */
const UNANSWERED_MS = 60_000;

function answerTo(request: AssociateRequest, { aeTitle, callingAeTitles, admits }: ScpOptions) {
  const { calledAe, callingAe, contexts } = request;
  if (calledAe !== aeTitle) return REJECT_CALLED_AE;
  if (callingAeTitles.length > 0 && !callingAeTitles.includes(callingAe)) return REJECT_CALLING_AE;
  if (!admits(callingAe)) return REJECT_LOCAL_LIMIT;
  return {
    calledAe,
    callingAe,
    contexts: contexts.map(answerContext),
    maxPduLength: DATA_PDU_BYTES_MAX,
    implementationClassUid: IMPLEMENTATION_CLASS_UID,
    implementationVersion: IMPLEMENTATION_VERSION,
  } satisfies AssociateAccept;
}

const READ_WHOLE = [IMPLICIT_LITTLE_ENDIAN, EXPLICIT_LITTLE_ENDIAN];

/** Accepts the peer's preferred transfer syntax. Nothing is transcoded, so any syntax is acceptable. */
function answerContext({ id, abstractSyntax, transferSyntaxes }: ProposedContext): NegotiatedContext {
  const isStorage = STORAGE.test(abstractSyntax) || (isUid(abstractSyntax) && !abstractSyntax.startsWith(STANDARD));
  const isService = abstractSyntax in OPERATIONS;
  const [preferred] = transferSyntaxes.filter((syntax) => (isService ? READ_WHOLE.includes(syntax) : isUid(syntax)));
  if (abstractSyntax !== VERIFICATION && !isStorage && !isService) {
    return { id, result: "abstract-syntax", transferSyntax: IMPLICIT_LITTLE_ENDIAN };
  }
  if (preferred === undefined) return { id, result: "transfer-syntaxes", transferSyntax: IMPLICIT_LITTLE_ENDIAN };
  return { id, result: "acceptance", transferSyntax: preferred };
}

/** Returns why a C-STORE is refused before its dataset. */
function refusalOf(
  { affectedSopClass, affectedSopInstance }: Command,
  { abstractSyntax }: AgreedContext,
): Refusal | null {
  if (abstractSyntax === VERIFICATION || affectedSopClass !== abstractSyntax) {
    return { status: STATUS.sopClassNotSupported, comment: "not the SOP class of its presentation context" };
  }
  if (!isUid(affectedSopInstance)) return { status: STATUS.invalidInstance, comment: "invalid SOP Instance UID" };
  return null;
}

function faultOf(command: Command, summary: ReturnType<DatasetWalker["end"]>): Refusal | null {
  const { sopClass, sopInstance, study, problem } = summary;
  if (problem !== null) return { status: STATUS.cannotUnderstand, comment: problem };
  if (!isUid(study)) return { status: STATUS.cannotUnderstand, comment: "no Study Instance UID" };
  if (sopClass !== command.affectedSopClass || sopInstance !== command.affectedSopInstance) {
    return { status: STATUS.datasetMismatch, comment: "SOP class or instance differs from the command's" };
  }
  return null;
}

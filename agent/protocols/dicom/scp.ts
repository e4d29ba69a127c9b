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

// The services we give on one association. Pure: bytes in, actions out. Verification is answered here. An instance to store
// is handed on in the pieces in which it came, other datasets whole; whoever carries it out says what became of it.

export type ScpAction =
  | Extract<AssociationAction, { readonly do: "write" | "timer" | "close" | "open" | "over" }>
  /** An instance begins. It ends with "stored" or "discard" before another one begins. */
  | { readonly do: "begin"; readonly instance: IncomingInstance }
  | { readonly do: "bytes"; readonly bytes: Uint8Array }
  /** It is whole. Keep it and say so with answer(). */
  | { readonly do: "keep"; readonly identity: Identity }
  /** It will not be whole, or is not wanted. */
  | { readonly do: "discard" }
  /** A request of another service, with all of its dataset: say what came of it with pending() and answer(). */
  | { readonly do: "serve"; readonly request: ServiceRequest }
  /** The answer to a request of that id is not wanted any more. */
  | { readonly do: "cancel"; readonly messageId: number }
  /** What the peer says to a request of ours. */
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

/** What the dataset says of itself; `study` null: it is deflated, so that whoever keeps it has to look. */
export interface Identity {
  readonly study: string | null;
  /** Bytes of the dataset before its pixels. */
  readonly headerBytes: number;
}

export interface ScpOptions {
  readonly aeTitle: string;
  /** Who may call; empty: everyone. */
  readonly callingAeTitles: readonly string[];
  /** Whether there is room for one more association of that peer. */
  readonly admits: (callingAe: string) => boolean;
}

/** Longer ones have no even length of 32 bits: no dataset is. */
export const INSTANCE_BYTES_MAX = 4 * 1024 ** 3;

const REJECT_CALLING_AE: AssociateReject = { result: 1, source: 1, reason: 3 };
const REJECT_CALLED_AE: AssociateReject = { result: 1, source: 1, reason: 7 };
const REJECT_LOCAL_LIMIT: AssociateReject = { result: 2, source: 3, reason: 2 };

/** The operations of the services whose datasets are read whole. */
const OPERATIONS: Readonly<Record<string, readonly number[]>> = {
  [MODALITY_WORKLIST]: [COMMAND.findRequest],
  [MODALITY_PERFORMED_PROCEDURE_STEP]: [COMMAND.createRequest, COMMAND.setRequest],
  [STORAGE_COMMITMENT]: [COMMAND.actionRequest],
};
/** The standard's storage classes, but for some that stand elsewhere. */
const STORAGE = /^1\.2\.840\.10008\.5\.1\.4\.(1\.1\.|34\.7$|38\.1$|39\.1$|43\.1$|44\.1$|45\.1$)/;
/** Makers have storage classes of their own, and no other services that a peer would offer to a stranger. */
const STANDARD = "1.2.840.10008.";
/** An instance whose dataset is coming. */
interface Receiving {
  readonly contextId: number;
  readonly command: Command;
  readonly context: AgreedContext;
  /** null: deflated. */
  readonly walker: DatasetWalker | null;
  /** Decided before the dataset came: it is passed over, then answered with this. */
  readonly refusal: Refusal | null;
  bytes: number;
}

/** A request of another service whose dataset is coming. */
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
  /** Requests that wait for answer(), by message id. */
  readonly #unanswered = new Map<number, { readonly contextId: number; readonly command: Command }>();
  #actions: ScpAction[] = [];

  constructor(options: ScpOptions) {
    this.#association = Association.acceptor((request) => answerTo(request, options));
  }

  /** Instances that are being kept. */
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
    // The peer waits for us.
    if (this.#unanswered.size > 0) this.#actions.push({ do: "timer", ms: UNANSWERED_MS });
    else this.#apply(this.#association.timeout());
    return this.#take();
  }

  closed(): ScpAction[] {
    this.#apply(this.#association.closed());
    return this.#take();
  }

  /** Ends the association from our side. */
  abort(reason: string): ScpAction[] {
    this.#apply(this.#association.abort(reason));
    return this.#take();
  }

  /** What became of a request; a comment explains what is no success. `sopInstance`: the name we gave to what it made. */
  respond(messageId: number, status: number, comment: string | null, sopInstance?: string): ScpAction[] {
    const request = this.#unanswered.get(messageId);
    this.#unanswered.delete(messageId);
    if (request === undefined) return this.#take();
    const named = sopInstance === undefined ? {} : { affectedSopInstance: sopInstance };
    this.#respond(request.contextId, { ...request.command, ...named }, status, comment);
    return this.#take();
  }

  /** One of several answers to a request; the last is answer(). */
  pending(messageId: number, status: number, dataset: Uint8Array): ScpAction[] {
    const request = this.#unanswered.get(messageId);
    if (request === undefined) return this.#take();
    const { contextId: context, command } = request;
    const bytes = encodeResponse(command, status, null, true);
    this.#apply(this.#association.send({ context, part: "command", bytes, last: true }));
    this.#apply(this.#association.send({ context, part: "dataset", bytes: dataset, last: true }));
    return this.#take();
  }

  /** A request of ours, on a context that the peer proposed: it is told of an event. */
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
    if (!this.#association.isOpen) return; // ended by what stood before it in the same chunk
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
      case COMMAND.echoRequest:
        if (command.hasDataset) return this.#fail("a C-ECHO with a dataset");
        return this.#respond(contextId, command, STATUS.success, null);
      case COMMAND.storeRequest: {
        if (!command.hasDataset) return this.#respond(contextId, command, STATUS.cannotUnderstand, "no dataset");
        if (this.#unanswered.has(command.messageId)) return this.#fail(`message ${command.messageId} came twice`);
        const refusal = refusalOf(command, context);
        const encoding = encodingOf(context.transferSyntax);
        const walker = encoding === null ? null : new DatasetWalker(encoding);
        this.#receiving = { contextId, command, context, walker, refusal, bytes: 0 };
        if (refusal === null) this.#begin(command, context);
        return;
      }
      case COMMAND.cancelRequest:
        // It may have crossed the last answer; the id can be another request's tomorrow.
        if (this.#unanswered.has(command.messageIdRespondedTo))
          this.#actions.push({ do: "cancel", messageId: command.messageIdRespondedTo });
        return;
      case COMMAND.eventReportRequest | RESPONSE:
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
        // A dataset may follow: what it means nobody here knows.
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

/** How soon an association that waits for us is looked at again. */
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

/** Nothing is ever transcoded, so any transfer syntax will do: the one the peer likes best. */
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

/** What a C-STORE is refused for before its dataset is seen. */
function refusalOf(
  { affectedSopClass, affectedSopInstance }: Command,
  { abstractSyntax }: AgreedContext,
): Refusal | null {
  if (abstractSyntax === VERIFICATION || affectedSopClass !== abstractSyntax) {
    return { status: STATUS.sopClassNotSupported, comment: "not the SOP class of its presentation context" };
  }
  if (!isUid(affectedSopInstance)) return { status: STATUS.invalidInstance, comment: "the SOP Instance UID is no UID" };
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

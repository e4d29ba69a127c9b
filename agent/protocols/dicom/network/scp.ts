import { concat } from "../../bytes.ts";
import { type AcceptedContext, type Agreement, Association, type AssociationAction } from "./association.ts";
import { DatasetWalker, type Encoding, encodingOf } from "../dataset.ts";
import {
  ATTRIBUTES_BYTES_MAX,
  COMMAND,
  type Command,
  COMMAND_BYTES_MAX,
  type DimseOutcome,
  type DimseRequest,
  encodeRequest,
  encodeResponse,
  readCommand,
  RESPONSE,
  STATUS,
} from "../dimse.ts";
import { explainRejection, negotiate, OPERATIONS, type ScpOptions } from "./negotiation.ts";
import type { DataFragment } from "./pdu.ts";
import { commandProblem, datasetProblem } from "./store-problems.ts";

// Services of the agent on one association: bytes in, actions out. C-ECHO gets its response here. An instance to store is passed
// on in received pieces, another dataset in one. The caller reports the outcome.

export type ScpAction =
  | Extract<AssociationAction, { readonly do: "write" | "timer" | "close" | "open" | "over" }>
  /** An instance starts. "store" or "discard" ends it before the next one starts. */
  | { readonly do: "begin"; readonly instance: IncomingInstance }
  | { readonly do: "bytes"; readonly bytes: Uint8Array }
  /** The instance is complete. The caller stores it and calls respond(). */
  | { readonly do: "store"; readonly identity: InstanceIdentity }
  /** The instance is incomplete or refused. */
  | { readonly do: "discard" }
  /** A request of another service with its complete dataset. The caller calls pending() and respond(). */
  | { readonly do: "request"; readonly request: ServiceRequest }
  /** The peer has cancelled the request with this id. */
  | { readonly do: "cancel"; readonly messageId: number }
  /** Response of the peer to a request of the agent. */
  | { readonly do: "response"; readonly command: Command };

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
export interface InstanceIdentity {
  readonly study: string | null;
  /** Bytes of the dataset before its pixels. */
  readonly headerBytes: number;
}

/** Exclusive bound of an instance's bytes: its length has 32 bits. */
const INSTANCE_BYTES_MAX = 4 * 1024 ** 3;
/** Interval in milliseconds at which an association that waits for the agent is checked. */
const PENDING_CHECK_MS = 60_000;

/** Instance whose dataset is being received. */
interface InstanceInProgress {
  readonly contextId: number;
  readonly command: Command;
  /** null for a deflated dataset. */
  readonly walker: DatasetWalker | null;
  /** Refusal decided before the dataset: the dataset is skipped, then the response follows. */
  readonly refusal: DimseOutcome | null;
  bytes: number;
}

/** Request of another service whose dataset is being received. */
interface RequestInProgress {
  readonly contextId: number;
  readonly command: Command;
  readonly encoding: Encoding;
  readonly parts: Uint8Array[];
  length: number;
}

export class Scp {
  readonly #association: Association;
  #agreement: Agreement | null = null;
  #isAborted = false;
  #command: { readonly context: number; readonly parts: Uint8Array[]; length: number } | null = null;
  #instance: InstanceInProgress | null = null;
  #request: RequestInProgress | null = null;
  /** Requests that wait for respond(), by message id. */
  readonly #pending = new Map<number, { readonly contextId: number; readonly command: Command }>();

  constructor(options: ScpOptions) {
    this.#association = Association.acceptor(
      (request) => negotiate(request, options),
      (request, reject) => explainRejection(request, reject, options),
    );
  }

  /** Number of requests that wait for respond(). */
  get pendingRequests(): number {
    return this.#pending.size;
  }

  start(): ScpAction[] {
    return this.#apply(this.#association.start());
  }

  receive(chunk: Uint8Array): ScpAction[] {
    return this.#apply(this.#association.receive(chunk));
  }

  timeout(): ScpAction[] {
    // The peer waits for the agent.
    if (this.#pending.size > 0) return [{ do: "timer", ms: PENDING_CHECK_MS }];
    return this.#apply(this.#association.timeout());
  }

  closed(): ScpAction[] {
    return this.#apply(this.#association.closed());
  }

  abort(reason: string): ScpAction[] {
    this.#isAborted = true;
    return this.#apply(this.#association.abort(reason));
  }

  /** Responds to a request. A comment explains a failure or warning. `sopInstance`: UID of a created instance. */
  respond(messageId: number, status: number, comment: string | null, sopInstance?: string): ScpAction[] {
    const request = this.#pending.get(messageId);
    this.#pending.delete(messageId);
    if (request === undefined) return [];
    const named = sopInstance === undefined ? {} : { affectedSopInstance: sopInstance };
    return this.#respond(request.contextId, { ...request.command, ...named }, { status, comment });
  }

  /** Sends one of several responses; respond() sends the last. */
  pending(messageId: number, status: number, dataset: Uint8Array): ScpAction[] {
    const request = this.#pending.get(messageId);
    if (request === undefined) return [];
    return this.#send(request.contextId, encodeResponse(request.command, status, null, true), dataset);
  }

  /** Sends a request to the peer, such as an event report, on a context that the peer proposed. */
  request(context: number, request: DimseRequest, dataset: Uint8Array): ScpAction[] {
    return this.#send(context, encodeRequest(request), dataset);
  }

  #apply(actions: readonly AssociationAction[]): ScpAction[] {
    return actions.flatMap((action): ScpAction[] => {
      switch (action.do) {
        case "data":
          return this.#receiveFragment(action);
        case "open":
          this.#agreement = action.agreement;
          return [action];
        case "over": {
          const discarded = this.#instance?.refusal === null;
          this.#instance = null;
          this.#request = null;
          this.#pending.clear();
          return discarded ? [{ do: "discard" }, action] : [action];
        }
        case "write":
        case "timer":
        case "close":
          return [action];
      }
    });
  }

  #receiveFragment({ context, part, bytes, last }: DataFragment): ScpAction[] {
    // An earlier PDU of the same chunk was a fault. A later one may be a release: what came before it counts.
    if (this.#isAborted) return [];
    if (part === "dataset") return this.#receiveDataset(context, bytes, last);
    if (this.#instance !== null || this.#request !== null) return this.abort("a command came within a dataset");
    this.#command ??= { context, parts: [], length: 0 };
    const command = this.#command;
    if (command.context !== context) return this.abort("a command changed its presentation context");
    if (bytes.length > 0) command.parts.push(bytes.slice());
    command.length += bytes.length;
    if (command.length > COMMAND_BYTES_MAX) return this.abort(`a command of more than ${COMMAND_BYTES_MAX} bytes`);
    if (!last) return [];
    this.#command = null;
    const read = readCommand(concat(command.parts));
    return typeof read === "string" ? this.abort(read) : this.#handleCommand(context, read);
  }

  #handleCommand(contextId: number, command: Command): ScpAction[] {
    const context = this.#agreement?.contexts.get(contextId);
    if (context === undefined) {
      return this.abort(`a command on the presentation context ${contextId}, which was not accepted`);
    }
    switch (command.field) {
      case COMMAND.cEchoRequest:
        if (command.hasDataset) return this.abort("a C-ECHO with a dataset");
        return this.#respond(contextId, command, { status: STATUS.success, comment: null });
      case COMMAND.cStoreRequest:
        return this.#beginInstance(contextId, command, context);
      case COMMAND.cCancelRequest: {
        // The cancel may cross the last response, and the id may be reused later.
        const messageId = command.messageIdRespondedTo;
        return this.#pending.has(messageId) ? [{ do: "cancel", messageId }] : [];
      }
      case COMMAND.nEventReportRequest | RESPONSE:
        return [{ do: "response", command }];
      default:
        return this.#beginRequest(contextId, command, context);
    }
  }

  #beginInstance(contextId: number, command: Command, context: AcceptedContext): ScpAction[] {
    const { messageId, affectedSopClass: sopClass, affectedSopInstance: sopInstance } = command;
    if (!command.hasDataset) {
      return this.#respond(contextId, command, { status: STATUS.cannotUnderstand, comment: "no dataset" });
    }
    if (this.#pending.has(messageId)) return this.abort(`message ${messageId} came twice`);
    const refusal = commandProblem(command, context);
    const encoding = encodingOf(context.transferSyntax);
    const walker = encoding === null ? null : new DatasetWalker(encoding);
    this.#instance = { contextId, command, walker, refusal, bytes: 0 };
    if (refusal !== null) return [];
    const { transferSyntax } = context;
    return [
      { do: "begin", instance: { messageId, sopClass, sopInstance, transferSyntax, callingAe: this.#callingAe } },
    ];
  }

  #beginRequest(contextId: number, command: Command, context: AcceptedContext): ScpAction[] {
    const encoding = encodingOf(context.transferSyntax);
    const isSupported = OPERATIONS[context.abstractSyntax]?.includes(command.field) === true;
    if (isSupported && encoding !== null && command.affectedSopClass === context.abstractSyntax) {
      if (this.#pending.has(command.messageId)) return this.abort(`message ${command.messageId} came twice`);
      this.#request = { contextId, command, encoding, parts: [], length: 0 };
      return command.hasDataset ? [] : this.#endRequest(this.#request);
    }
    // The meaning of a dataset after the command is unknown.
    if (command.hasDataset) return this.abort(`a request of type ${command.field} with a dataset`);
    return this.#respond(contextId, command, {
      status: STATUS.unrecognizedOperation,
      comment: "unsupported operation",
    });
  }

  #receiveDataset(context: number, bytes: Uint8Array, last: boolean): ScpAction[] {
    const receiving = this.#request ?? this.#instance;
    if (receiving === null) return this.abort("a dataset without its command");
    if (receiving.contextId !== context) return this.abort("a dataset changed its presentation context");
    return "parts" in receiving
      ? this.#receiveRequest(receiving, bytes, last)
      : this.#receiveInstance(receiving, bytes, last);
  }

  #receiveRequest(request: RequestInProgress, bytes: Uint8Array, last: boolean): ScpAction[] {
    request.length += bytes.length;
    if (request.length > ATTRIBUTES_BYTES_MAX) {
      return this.abort(`a dataset of more than ${ATTRIBUTES_BYTES_MAX} bytes with a request of this kind`);
    }
    request.parts.push(bytes.slice());
    return last ? this.#endRequest(request) : [];
  }

  #endRequest({ contextId, command, encoding, parts }: RequestInProgress): ScpAction[] {
    this.#request = null;
    this.#pending.set(command.messageId, { contextId, command });
    const request = { contextId, command, encoding, dataset: concat(parts), callingAe: this.#callingAe };
    return [{ do: "request", request }];
  }

  #receiveInstance(instance: InstanceInProgress, bytes: Uint8Array, last: boolean): ScpAction[] {
    instance.bytes += bytes.length;
    if (instance.bytes > INSTANCE_BYTES_MAX) return this.abort(`an instance of more than ${INSTANCE_BYTES_MAX} bytes`);
    const actions: ScpAction[] = [];
    if (instance.refusal === null && bytes.length > 0) {
      instance.walker?.receive(bytes);
      actions.push({ do: "bytes", bytes });
    }
    if (last) actions.push(...this.#endInstance(instance));
    return actions;
  }

  #endInstance({ contextId, command, walker, refusal, bytes }: InstanceInProgress): ScpAction[] {
    this.#instance = null;
    if (refusal !== null) return this.#respond(contextId, command, refusal);
    const summary = walker?.end() ?? null;
    const problem = summary === null ? null : datasetProblem(command, summary);
    if (problem !== null) return [{ do: "discard" }, ...this.#respond(contextId, command, problem)];
    this.#pending.set(command.messageId, { contextId, command });
    const identity = { study: summary?.study ?? null, headerBytes: summary?.headerBytes ?? bytes };
    return [{ do: "store", identity }];
  }

  #respond(context: number, request: Command, { status, comment }: DimseOutcome): ScpAction[] {
    const bytes = encodeResponse(request, status, comment);
    return this.#apply(this.#association.send({ context, part: "command", bytes, last: true }));
  }

  #send(context: number, command: Uint8Array, dataset: Uint8Array): ScpAction[] {
    return this.#apply([
      ...this.#association.send({ context, part: "command", bytes: command, last: true }),
      ...this.#association.send({ context, part: "dataset", bytes: dataset, last: true }),
    ]);
  }

  get #callingAe(): string {
    return this.#agreement?.callingAe ?? "";
  }
}

import {
  encodeAbort,
  encodeAssociateAccept,
  encodeAssociateReject,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
} from "./pdu-encoder.ts";
import { PduReader } from "./pdu-reader.ts";
import {
  ABORT_REASON,
  type AssociateAccept,
  type AssociateReject,
  type AssociateRequest,
  type DataFragment,
  type PduEvent,
} from "./pdu.ts";
import { APPLICATION_CONTEXT } from "../uids.ts";

// State machine of an association (PS3.8 §9.2), as acceptor and as requestor, without a socket or a clock. The local user responds
// immediately, so the states that wait for it (Sta3, Sta8, Sta9, Sta12) do not occur.

export type AssociationAction =
  | { readonly do: "write"; readonly bytes: Uint8Array }
  /** Restarts the timer: timeout() is due after `ms` milliseconds. `null` stops it. */
  | { readonly do: "timer"; readonly ms: number | null }
  /** Closes the connection after everything is written. */
  | { readonly do: "close" }
  | { readonly do: "open"; readonly agreement: Agreement }
  | ({ readonly do: "data" } & DataFragment)
  /** Ends the data. `reason` is null after an orderly release. `rejected`: the peer would reject every request. */
  | { readonly do: "over"; readonly reason: string | null; readonly rejected?: true };

export interface Agreement {
  readonly callingAe: string;
  readonly contexts: ReadonlyMap<number, AcceptedContext>;
}

export interface AcceptedContext {
  readonly abstractSyntax: string;
  readonly transferSyntax: string;
}

/** Negotiates an association request. The association itself checks protocol version and application context. */
export type Negotiate = (request: AssociateRequest) => AssociateAccept | AssociateReject;

/** Describes what a rejected request had, and what was expected; null if nothing differs. */
export type ExplainRejection = (request: AssociateRequest, reject: AssociateReject) => string | null;

type AssociationState =
  /** Sta2. */
  | { readonly at: "awaiting-request" }
  /** Sta5. */
  | { readonly at: "awaiting-response" }
  /** Sta6. */
  | { readonly at: "open" }
  /** Sta7; Sta11 if both sides requested a release. */
  | { readonly at: "awaiting-release" }
  /** Sta13, then Sta1. */
  | { readonly at: "awaiting-close" };

type Role =
  | { readonly is: "acceptor"; readonly negotiate: Negotiate; readonly explain: ExplainRejection }
  | { readonly is: "requestor"; readonly request: AssociateRequest };

/** Max wait for the peer's request, its response, or its close (ARTIM timer of PS3.8). */
export const ARTIM_MS = 30_000;
/** Max pause between two PDUs; then the association is aborted. */
export const IDLE_MS = 60_000;

const REJECTED_PERMANENT = 1;
const BY_PROVIDER_ACSE = 2;
const REJECT_APPLICATION_CONTEXT: AssociateReject = { result: REJECTED_PERMANENT, source: 1, reason: 2 };
const REJECT_PROTOCOL_VERSION: AssociateReject = { result: REJECTED_PERMANENT, source: BY_PROVIDER_ACSE, reason: 2 };

const BY_USER = 0;
const BY_PROVIDER = 2;

export class Association {
  readonly #reader = new PduReader();
  readonly #role: Role;
  #state: AssociationState;
  /** Max length of the peer's P-DATA-TF. */
  #maxPduLength = 0;
  #wholePdus = 0;

  /** Association of an incoming connection. */
  static acceptor(negotiate: Negotiate, explain: ExplainRejection = () => null): Association {
    return new Association({ is: "acceptor", negotiate, explain }, { at: "awaiting-request" });
  }

  /** Association of an outgoing connection. */
  static requestor(request: AssociateRequest): Association {
    return new Association({ is: "requestor", request }, { at: "awaiting-response" });
  }

  private constructor(role: Role, state: AssociationState) {
    this.#role = role;
    this.#state = state;
  }

  get isOpen(): boolean {
    return this.#state.at === "open";
  }

  /** Starts the association; the connection is open. */
  start(): AssociationAction[] {
    const request = this.#role.is === "requestor" ? [write(encodeAssociateRequest(this.#role.request))] : [];
    return [...request, timer(ARTIM_MS)];
  }

  receive(chunk: Uint8Array): AssociationAction[] {
    const actions = this.#reader.receive(chunk).flatMap((event) => this.#step(event));
    // Only complete PDUs restart the timer, so that a peer cannot hold its place with single bytes.
    if (this.isOpen && this.#reader.wholePdus > this.#wholePdus) actions.push(timer(IDLE_MS));
    this.#wholePdus = this.#reader.wholePdus;
    return actions;
  }

  send(fragment: DataFragment): AssociationAction[] {
    return this.isOpen ? [write(encodeData(fragment, this.#maxPduLength))] : [];
  }

  release(): AssociationAction[] {
    if (!this.isOpen) return [];
    this.#state = { at: "awaiting-release" };
    return [write(encodeReleaseRequest()), timer(ARTIM_MS)];
  }

  /** Aborts an association that cannot continue. */
  abort(reason: string): AssociationAction[] {
    return this.#state.at === "awaiting-close" ? [] : this.#abort(BY_USER, ABORT_REASON.notSpecified, reason);
  }

  timeout(): AssociationAction[] {
    switch (this.#state.at) {
      case "awaiting-request":
        return this.#close(`no association request within ${ARTIM_MS / 1000} s`);
      case "awaiting-response":
      case "awaiting-release":
        return this.#abort(BY_PROVIDER, ABORT_REASON.notSpecified, `no response within ${ARTIM_MS / 1000} s`);
      case "open":
        return this.#abort(BY_PROVIDER, ABORT_REASON.notSpecified, `no PDU within ${IDLE_MS / 1000} s`);
      case "awaiting-close":
        return [{ do: "close" }];
    }
  }

  /** Ends the association; the connection is closed. */
  closed(): AssociationAction[] {
    const isOver = this.#state.at === "awaiting-close";
    return [timer(null), ...(isOver ? [] : [over("the connection closed without a release")])];
  }

  #step(event: PduEvent): AssociationAction[] {
    switch (this.#state.at) {
      case "awaiting-request":
        return event.is === "associate-request" ? this.#negotiate(event.request) : this.#refuse(event, BY_USER);
      case "awaiting-response":
        if (event.is === "associate-accept") return this.#accepted(event.accept);
        if (event.is === "associate-reject") return this.#rejected(event.reject);
        return this.#refuse(event, BY_PROVIDER);
      case "open":
        if (event.is === "data") {
          const { is, ...fragment } = event;
          return [{ do: is, ...fragment }];
        }
        if (event.is === "release-request") return [write(encodeReleaseResponse()), ...this.#awaitClose(null)];
        return this.#refuse(event, BY_PROVIDER);
      case "awaiting-release":
        if (event.is === "release-response") return this.#close(null);
        // Release collision: the peer's request is confirmed, the agent's own still waits (AR-8, AR-9).
        if (event.is === "release-request") return [write(encodeReleaseResponse())];
        return event.is === "data" ? [] : this.#refuse(event, BY_PROVIDER);
      case "awaiting-close":
        return event.is === "abort" ? [{ do: "close" }] : [];
    }
  }

  /** Ends the association on an abort. Responds to any other unexpected PDU with an abort (AA-1, AA-8). */
  #refuse(event: PduEvent, source: number): AssociationAction[] {
    if (event.is === "abort") return this.#close(`the peer aborted (source ${event.source}, reason ${event.reason})`);
    if (event.is === "invalid") return this.#abort(source, event.reason, event.problem);
    return this.#abort(source, ABORT_REASON.unexpectedPdu, `unexpected PDU ${event.is}`);
  }

  #negotiate(request: AssociateRequest): AssociationAction[] {
    if (this.#role.is === "requestor") throw new Error("request PDU at a requestor: expected a response");
    // Bit 0 is the protocol version of the agent; the others are reserved for later versions (PS3.8 §9.3.2).
    const response =
      request.protocolVersion % 2 === 0
        ? REJECT_PROTOCOL_VERSION
        : request.applicationContext !== APPLICATION_CONTEXT
          ? REJECT_APPLICATION_CONTEXT
          : this.#role.negotiate(request);
    if ("result" in response) {
      const why = this.#role.explain(request, response);
      const peer = request.callingAe || "a peer without AE title";
      const reason = `${peer} was rejected: ${rejectionText(response)}${why === null ? "" : `: ${why}`}`;
      return [write(encodeAssociateReject(response)), ...this.#awaitClose(reason)];
    }
    this.#maxPduLength = request.maxPduLength;
    return [write(encodeAssociateAccept(response)), this.#open(request, response)];
  }

  #accepted(accept: AssociateAccept): AssociationAction[] {
    if (this.#role.is === "acceptor") throw new Error("response PDU at an acceptor: expected a request");
    this.#maxPduLength = accept.maxPduLength;
    return [this.#open(this.#role.request, accept)];
  }

  #rejected(reject: AssociateReject): AssociationAction[] {
    const lasting = reject.result === REJECTED_PERMANENT ? ({ rejected: true } as const) : {};
    this.#state = { at: "awaiting-close" };
    return [{ do: "over", reason: rejectionText(reject), ...lasting }, timer(null), { do: "close" }];
  }

  #open(request: AssociateRequest, { contexts: negotiated }: AssociateAccept): AssociationAction {
    const contexts = new Map<number, AcceptedContext>();
    for (const { id, abstractSyntax } of request.contexts) {
      const context = negotiated.find((candidate) => candidate.id === id);
      if (context?.result !== "acceptance") continue;
      contexts.set(id, { abstractSyntax, transferSyntax: context.transferSyntax });
    }
    this.#state = { at: "open" };
    return { do: "open", agreement: { callingAe: request.callingAe, contexts } };
  }

  #abort(source: number, reason: number, problem: string): AssociationAction[] {
    // Only an abort by the Upper Layer has a reason (PS3.8 §9.3.8).
    const bytes = encodeAbort(source, source === BY_USER ? ABORT_REASON.notSpecified : reason);
    return [write(bytes), ...this.#awaitClose(problem)];
  }

  /** Waits for the peer to read the last PDU and to close the connection. */
  #awaitClose(reason: string | null): AssociationAction[] {
    this.#state = { at: "awaiting-close" };
    return [over(reason), timer(ARTIM_MS)];
  }

  #close(reason: string | null): AssociationAction[] {
    this.#state = { at: "awaiting-close" };
    return [over(reason), timer(null), { do: "close" }];
  }
}

function over(reason: string | null): AssociationAction {
  return { do: "over", reason };
}

function write(bytes: Uint8Array): AssociationAction {
  return { do: "write", bytes };
}

function timer(ms: number | null): AssociationAction {
  return { do: "timer", ms };
}

function rejectionText({ result, source, reason }: AssociateReject): string {
  const known = REJECTIONS.find((entry) => entry.source === source && entry.reason === reason);
  return known?.text ?? `rejected (result ${result}, source ${source}, reason ${reason})`;
}

/** PS3.8 table 9-21, the reasons in use. */
const REJECTIONS = [
  { source: 1, reason: 2, text: "application context not supported" },
  { source: 1, reason: 3, text: "calling AE title not recognized" },
  { source: 1, reason: 7, text: "called AE title not recognized" },
  { source: 2, reason: 2, text: "protocol version not supported" },
  { source: 3, reason: 1, text: "temporary congestion" },
  { source: 3, reason: 2, text: "local limit exceeded" },
] as const;

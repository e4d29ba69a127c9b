import {
  ABORT_REASON,
  type AssociateAccept,
  type AssociateReject,
  type AssociateRequest,
  type DataFragment,
  encodeAbort,
  encodeAssociateAccept,
  encodeAssociateReject,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
  type PduEvent,
  PduReader,
} from "./pdu.ts";
import { APPLICATION_CONTEXT } from "./uids.ts";

// State machine of an association (PS3.8 §9.2), as acceptor and as requestor. It knows neither a socket nor a clock.
// The local user responds at once, so the states that wait for it (Sta3, Sta8, Sta9, Sta12) do not occur.

export type AssociationAction =
  | { readonly do: "write"; readonly bytes: Uint8Array }
  /** Calls timeout() after `ms` milliseconds unless another timer action comes first. `null` stops the timer. */
  | { readonly do: "timer"; readonly ms: number | null }
  /** Closes the connection after everything is written. */
  | { readonly do: "close" }
  | { readonly do: "open"; readonly agreement: Agreement }
  | ({ readonly do: "data" } & DataFragment)
  /**
   * No more data follows. `reason`: null after an orderly release. `rejected`: the peer would reject the next request
   * too.
   */
  | { readonly do: "over"; readonly reason: string | null; readonly rejected?: true };

export interface Agreement {
  readonly callingAe: string;
  readonly contexts: ReadonlyMap<number, AgreedContext>;
}

export interface AgreedContext {
  readonly abstractSyntax: string;
  readonly transferSyntax: string;
}

/** Negotiates an association request. The association itself checks protocol version and application context. */
export type Negotiate = (request: AssociateRequest) => AssociateAccept | AssociateReject;

type State =
  /** Sta2 and Sta5. */
  | { readonly at: "awaiting-request" }
  | { readonly at: "awaiting-answer" }
  /** Sta6. */
  | { readonly at: "open" }
  /** Sta7; Sta11 if both sides requested a release. */
  | { readonly at: "awaiting-release" }
  /** Sta13, then Sta1. */
  | { readonly at: "awaiting-close" };

type Role =
  | { readonly is: "acceptor"; readonly answer: Negotiate }
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
  #state: State;
  /** Max length of the peer's P-DATA-TF. */
  #maxPduLength = 0;
  #wholePdus = 0;
  #actions: AssociationAction[] = [];

  /** Association of an incoming connection. */
  static acceptor(answer: Negotiate): Association {
    return new Association({ is: "acceptor", answer }, { at: "awaiting-request" });
  }

  /** Association of an outgoing connection. */
  static requestor(request: AssociateRequest): Association {
    return new Association({ is: "requestor", request }, { at: "awaiting-answer" });
  }

  private constructor(role: Role, state: State) {
    this.#role = role;
    this.#state = state;
  }

  get isOpen(): boolean {
    return this.#state.at === "open";
  }

  /** Starts the association; the connection is open. */
  start(): AssociationAction[] {
    if (this.#role.is === "requestor") this.#write(encodeAssociateRequest(this.#role.request));
    this.#timer(ARTIM_MS);
    return this.#take();
  }

  receive(chunk: Uint8Array): AssociationAction[] {
    for (const event of this.#reader.receive(chunk)) this.#step(event);
    // Only whole PDUs restart the timer, so that a peer cannot hold its place with single bytes.
    if (this.#state.at === "open" && this.#reader.wholePdus > this.#wholePdus) this.#timer(IDLE_MS);
    this.#wholePdus = this.#reader.wholePdus;
    return this.#take();
  }

  send(fragment: DataFragment): AssociationAction[] {
    if (this.#state.at === "open") this.#write(encodeData(fragment, this.#maxPduLength));
    return this.#take();
  }

  release(): AssociationAction[] {
    if (this.#state.at === "open") {
      this.#write(encodeReleaseRequest());
      this.#timer(ARTIM_MS);
      this.#state = { at: "awaiting-release" };
    }
    return this.#take();
  }

  /** Aborts an association that cannot continue. */
  abort(reason: string): AssociationAction[] {
    if (this.#state.at !== "awaiting-close") this.#abort(BY_USER, ABORT_REASON.notSpecified, reason);
    return this.#take();
  }

  timeout(): AssociationAction[] {
    switch (this.#state.at) {
      case "awaiting-request":
        this.#hangUp(`no association request within ${ARTIM_MS / 1000} s`);
        break;
      case "awaiting-answer":
      case "awaiting-release":
        this.#abort(BY_PROVIDER, ABORT_REASON.notSpecified, `no answer within ${ARTIM_MS / 1000} s`);
        break;
      case "open":
        this.#abort(BY_PROVIDER, ABORT_REASON.notSpecified, `nothing came for ${IDLE_MS / 1000} s`);
        break;
      case "awaiting-close":
        this.#actions.push({ do: "close" });
        break;
    }
    return this.#take();
  }

  /** Ends the association; the connection is closed. */
  closed(): AssociationAction[] {
    this.#timer(null);
    if (this.#state.at !== "awaiting-close") this.#over("the connection closed without a release");
    return this.#take();
  }

  #step(event: PduEvent): void {
    switch (this.#state.at) {
      case "awaiting-request":
        if (event.is === "associate-request") this.#answer(event.request);
        else this.#refuse(event, BY_USER);
        break;
      case "awaiting-answer":
        if (event.is === "associate-accept") this.#agree(event.accept);
        else if (event.is === "associate-reject") this.#reject(event.reject);
        else this.#refuse(event, BY_PROVIDER);
        break;
      case "open":
        if (event.is === "data") {
          const { is, ...fragment } = event;
          this.#actions.push({ do: is, ...fragment });
        } else if (event.is === "release-request") {
          this.#write(encodeReleaseResponse());
          this.#awaitClose(null);
        } else {
          this.#refuse(event, BY_PROVIDER);
        }
        break;
      case "awaiting-release":
        if (event.is === "release-response") this.#hangUp(null);
        // Release collision: the peer's request is confirmed, the agent's own still waits (AR-8, AR-9).
        else if (event.is === "release-request") this.#write(encodeReleaseResponse());
        else if (event.is !== "data") this.#refuse(event, BY_PROVIDER);
        break;
      case "awaiting-close":
        if (event.is === "abort") this.#actions.push({ do: "close" });
        break;
    }
  }

  /** Ends the association on an abort. Responds to any other unexpected PDU with an abort (AA-1, AA-8). */
  #refuse(event: PduEvent, source: number): void {
    if (event.is === "abort") this.#hangUp(`the peer aborted (source ${event.source}, reason ${event.reason})`);
    else if (event.is === "invalid") this.#abort(source, event.reason, event.problem);
    else this.#abort(source, ABORT_REASON.unexpectedPdu, `${event.is} came out of its turn`);
  }

  #answer(request: AssociateRequest): void {
    if (this.#role.is === "requestor") throw new Error("a requestor awaits no request");
    // Bit 0 is the protocol version of the agent; the others are reserved for later versions (PS3.8 §9.3.2).
    const answer =
      request.protocolVersion % 2 === 0
        ? REJECT_PROTOCOL_VERSION
        : request.applicationContext !== APPLICATION_CONTEXT
          ? REJECT_APPLICATION_CONTEXT
          : this.#role.answer(request);
    if ("result" in answer) {
      this.#write(encodeAssociateReject(answer));
      this.#awaitClose(`${request.callingAe || "a peer without AE title"} was turned away: ${rejectionText(answer)}`);
      return;
    }
    this.#write(encodeAssociateAccept(answer));
    this.#maxPduLength = request.maxPduLength;
    this.#open(request, answer);
  }

  #agree(accept: AssociateAccept): void {
    if (this.#role.is === "acceptor") throw new Error("an acceptor awaits no answer");
    this.#maxPduLength = accept.maxPduLength;
    this.#open(this.#role.request, accept);
  }

  #open(request: AssociateRequest, { contexts: answered }: AssociateAccept): void {
    const contexts = new Map<number, AgreedContext>();
    for (const { id, abstractSyntax } of request.contexts) {
      const context = answered.find((candidate) => candidate.id === id);
      if (context?.result !== "acceptance") continue;
      contexts.set(id, { abstractSyntax, transferSyntax: context.transferSyntax });
    }
    this.#state = { at: "open" };
    this.#actions.push({ do: "open", agreement: { callingAe: request.callingAe, contexts } });
  }

  #abort(source: number, reason: number, problem: string): void {
    // Only an abort by the Upper Layer has a reason (PS3.8 §9.3.8).
    this.#write(encodeAbort(source, source === BY_USER ? ABORT_REASON.notSpecified : reason));
    this.#awaitClose(problem);
  }

  /** Waits for the peer to read the last PDU and to close the connection. */
  #awaitClose(reason: string | null): void {
    this.#over(reason);
    this.#state = { at: "awaiting-close" };
    this.#timer(ARTIM_MS);
  }

  #hangUp(reason: string | null): void {
    this.#over(reason);
    this.#awaitHangUp();
  }

  #awaitHangUp(): void {
    this.#state = { at: "awaiting-close" };
    this.#timer(null);
    this.#actions.push({ do: "close" });
  }

  #reject(reject: AssociateReject): void {
    const lasting = reject.result === REJECTED_PERMANENT ? ({ rejected: true } as const) : {};
    this.#actions.push({ do: "over", reason: rejectionText(reject), ...lasting });
    this.#awaitHangUp();
  }

  #over(reason: string | null): void {
    this.#actions.push({ do: "over", reason });
  }

  #write(bytes: Uint8Array): void {
    this.#actions.push({ do: "write", bytes });
  }

  #timer(ms: number | null): void {
    this.#actions.push({ do: "timer", ms });
  }

  #take(): AssociationAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
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

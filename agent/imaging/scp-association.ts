import type { ConnectionEvents } from "../connection/device/device-session.ts";
import type { Agreement } from "../protocols/dicom/network/association.ts";
import { type Encoding, encodingOf } from "../protocols/dicom/dataset.ts";
import { type DimseOutcome, type DimseRequest, STATUS } from "../protocols/dicom/dimse.ts";
import { type InstanceIdentity, Scp, type ScpAction, type ServiceRequest } from "../protocols/dicom/network/scp.ts";
import { STORAGE_COMMITMENT } from "../protocols/dicom/uids.ts";
import { UNREAD_BYTES_MAX, type Wire } from "../transport/transport.ts";
import type { DicomDevice } from "./contract.ts";
import type { ImageStore, IncomingFile } from "./instance-store.ts";
import type { PendingResponses } from "./services.ts";

// One connection of a modality: the imperative shell around the pure Scp, with its socket, its timer and its file.

/**
 * Channel for event reports on an open association. The caller encodes the dataset, because the tables of the character sets
 * would take 4 MB in the imaging thread.
 */
export interface ReportChannel {
  readonly callingAe: string;
  readonly encoding: Encoding;
  /** Sends an event report. @returns whether the device accepted it */
  report(request: Omit<DimseRequest, "messageId">, dataset: Uint8Array): Promise<boolean>;
}

/** Services that carry out the requests of a device. */
export interface ScpDependencies {
  readonly store: Pick<ImageStore, "begin">;
  /** Handles a request. Never rejects. */
  handleRequest(request: ServiceRequest, responses: PendingResponses): Promise<DimseOutcome>;
  readonly commitments: {
    /** Offers a channel for reports until leave(). */
    join(channel: ReportChannel): void;
    leave(channel: ReportChannel): void;
    /** Looks for due reports. */
    wake(): void;
  };
}

export interface DicomEvents extends ConnectionEvents {
  /** Reports an instance that is durable, just before its response. */
  stored(receivedAt: number): void;
  /** Reports an internal error. */
  fault(error: unknown): void;
}

interface ScpAssociationEvents extends Pick<DicomEvents, "warning" | "refusal" | "stored"> {
  /** Returns whether another association of this peer is admitted. */
  admits(callingAe: string): boolean;
  opened(callingAe: string): void;
  /** Reports the end of an opened association. */
  over(callingAe: string): void;
  /** Registers a task that close() has to wait for. */
  track(task: Promise<void>): void;
}

/** Max bytes read from one association in one turn of the event loop, so that other associations are read too. */
const TURN_BYTES_MAX = 256 * 1024;
/** PDU type of an A-ASSOCIATE-RQ. */
const ASSOCIATE_REQUEST = 0x01;
/** First bytes of a connection that are kept to recognize another protocol. */
const HEAD_BYTES = 512;
/** Requests without a response at which the peer is paused. */
const PENDING_REQUESTS_MAX = 2;

export class ScpAssociation {
  readonly #device: DicomDevice;
  readonly #wire: Wire;
  readonly #dependencies: ScpDependencies;
  readonly #events: ScpAssociationEvents;
  readonly #scp: Scp;
  /** Calling AE title of the open association; null without one. */
  #callingAe: string | null = null;
  /** Channel for reports of storage commitment; null if the peer did not propose that service. */
  #channel: ReportChannel | null = null;
  /** Reports without a response, by message id. */
  readonly #pendingReports = new Map<number, (success: boolean) => void>();
  #lastReportId = 0;
  #incoming: IncomingFile | null = null;
  /** Message ids of cancelled requests. */
  readonly #cancelled = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  /** Duration of the running timer; null without one. */
  #timerMs: number | null = null;
  /** True from the timer's end until the next chunk. */
  #isOverdue = false;
  /** Bytes read in this turn of the event loop. */
  #turnBytes = 0;
  #paused = false;
  #closed = false;
  /** First bytes of the connection. */
  #head: Uint8Array = new Uint8Array(0);
  /** Bytes of the connection so far. */
  #bytes = 0;
  /** Written bytes that have not left the process. */
  #unreadBytes = 0;
  /** Pending responses that wait until the peer reads. */
  readonly #whenRead: (() => void)[] = [];

  constructor(device: DicomDevice, wire: Wire, dependencies: ScpDependencies, events: ScpAssociationEvents) {
    this.#device = device;
    this.#wire = wire;
    this.#dependencies = dependencies;
    this.#events = events;
    const { aeTitle, callingAeTitles } = device;
    this.#scp = new Scp({ aeTitle, callingAeTitles, admits: (callingAe) => events.admits(callingAe) });
    this.#carryOut(this.#scp.start());
  }

  chunk(bytes: Uint8Array): void {
    if (this.#turnBytes === 0) setImmediate(() => this.#endTurn());
    this.#turnBytes += bytes.length;
    if (this.#bytes === 0) this.#head = bytes.slice(0, HEAD_BYTES);
    this.#bytes += bytes.length;
    this.#carryOut(this.#scp.receive(bytes));
  }

  closed(): void {
    this.#closed = true;
    this.#carryOut(this.#scp.closed());
  }

  #carryOut(actions: readonly ScpAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "write":
          this.#write(action.bytes);
          break;
        case "timer":
          this.#startTimer(action.ms);
          break;
        case "close":
          this.#wire.close();
          break;
        case "open":
          this.#enter(action.agreement);
          break;
        case "over":
          this.#leave();
          if (action.reason !== null) this.#warnOfEnd(action.reason);
          break;
        case "begin":
          this.#incoming = this.#dependencies.store.begin(this.#device.id, this.#device.quietMs, action.instance);
          this.#incoming.onSynced = () => this.#pauseOrResume();
          break;
        case "bytes":
          this.#incoming?.write(action.bytes);
          break;
        case "store":
          if (this.#incoming !== null) this.#events.track(this.#store(this.#incoming, action.identity));
          this.#incoming = null;
          break;
        case "discard":
          if (this.#incoming !== null) this.#events.track(this.#incoming.discard());
          this.#incoming = null;
          break;
        case "request":
          this.#events.track(this.#handleRequest(action.request));
          break;
        case "cancel":
          this.#cancelled.add(action.messageId);
          break;
        case "response":
          this.#pendingReports.get(action.command.messageIdRespondedTo)?.(action.command.status === STATUS.success);
          break;
      }
    }
    this.#pauseOrResume();
  }

  #write(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#unreadBytes += bytes.length;
    this.#wire.write(bytes, () => {
      this.#unreadBytes -= bytes.length;
      if (this.#isUnread) return;
      for (const resolve of this.#whenRead.splice(0)) resolve();
      this.#pauseOrResume();
    });
  }

  get #isUnread(): boolean {
    return this.#unreadBytes > UNREAD_BYTES_MAX;
  }

  /** Reports the bytes as noise if the connection does not start with an association request (PS3.8 §9.3.2). */
  #warnOfEnd(reason: string): void {
    const [first = ASSOCIATE_REQUEST] = this.#head;
    if (first === ASSOCIATE_REQUEST) return this.#events.warning(reason);
    const noise = { bytes: this.#bytes, head: this.#head };
    this.#events.warning(`${noise.bytes} bytes outside an association: ${reason}`, noise, this.#wire.peer);
  }

  #enter(agreement: Agreement): void {
    this.#callingAe = agreement.callingAe;
    this.#wire.heardMessage?.();
    this.#events.opened(agreement.callingAe);
    this.#channel = this.#channelOf(agreement);
    if (this.#channel !== null) this.#dependencies.commitments.join(this.#channel);
  }

  #leave(): void {
    if (this.#callingAe === null) return;
    const callingAe = this.#callingAe;
    this.#callingAe = null;
    if (this.#channel !== null) this.#dependencies.commitments.leave(this.#channel);
    for (const resolve of this.#pendingReports.values()) resolve(false);
    this.#events.over(callingAe);
  }

  async #store(file: IncomingFile, identity: InstanceIdentity): Promise<void> {
    try {
      const { status, comment } = await file.store(identity);
      if (status === STATUS.success) this.#events.stored(Date.now());
      else this.#events.refusal(`an instance was refused: ${comment}`);
      this.#carryOut(this.#scp.respond(file.messageId, status, comment));
    } catch (error) {
      this.#carryOut(this.#scp.abort("internal error"));
      throw error;
    }
  }

  async #handleRequest(request: ServiceRequest): Promise<void> {
    const { messageId } = request.command;
    const responses: PendingResponses = {
      send: async (status, dataset) => {
        if (this.#closed || this.#cancelled.has(messageId)) return false;
        this.#carryOut(this.#scp.pending(messageId, status, dataset));
        await new Promise((resolve) => setImmediate(resolve)); // reads a C-CANCEL between two responses
        if (this.#isUnread) await new Promise<void>((resolve) => this.#whenRead.push(resolve));
        return true;
      },
    };
    const { status, comment, sopInstance } = await this.#dependencies.handleRequest(request, responses);
    this.#cancelled.delete(messageId);
    if (comment !== null) this.#events.refusal(`a request was refused: ${comment}`);
    this.#carryOut(this.#scp.respond(messageId, status, comment, sopInstance));
    if (request.command.affectedSopClass === STORAGE_COMMITMENT) this.#dependencies.commitments.wake();
  }

  #channelOf({ callingAe, contexts }: Agreement): ReportChannel | null {
    for (const [context, { abstractSyntax, transferSyntax }] of contexts) {
      const encoding = encodingOf(transferSyntax);
      if (abstractSyntax !== STORAGE_COMMITMENT || encoding === null) continue;
      return { callingAe, encoding, report: (request, dataset) => this.#report(context, request, dataset) };
    }
    return null;
  }

  #report(context: number, request: Omit<DimseRequest, "messageId">, dataset: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#callingAe === null) return resolve(false);
      const messageId = ++this.#lastReportId;
      this.#pendingReports.set(messageId, (success) => {
        this.#pendingReports.delete(messageId);
        resolve(success);
      });
      this.#carryOut(this.#scp.request(context, { ...request, messageId }, dataset));
    });
  }

  #endTurn(): void {
    this.#turnBytes = 0;
    this.#pauseOrResume();
  }

  /** Applies backpressure, so that unwritten bytes do not pile up in memory. */
  #pauseOrResume(): void {
    const isBusy =
      this.#turnBytes >= TURN_BYTES_MAX ||
      this.#isUnread ||
      this.#incoming?.isBehind === true ||
      this.#scp.pendingRequests >= PENDING_REQUESTS_MAX;
    if (isBusy === this.#paused || this.#closed) return;
    this.#paused = isBusy;
    if (isBusy) this.#wire.pause();
    else this.#wire.resume();
  }

  #startTimer(ms: number | null): void {
    this.#isOverdue = false;
    // Each chunk restarts the timer. A new timer costs ten times as much as a refreshed one.
    if (ms !== null && ms === this.#timerMs) return void this.#timer?.refresh();
    clearTimeout(this.#timer);
    this.#timerMs = this.#closed ? null : ms;
    if (this.#timerMs !== null) this.#timer = setTimeout(() => this.#timeout(), this.#timerMs);
  }

  /**
   * Times out neither a paused peer, unless it reads no response, nor a peer whose bytes are unread because a write blocked this
   * thread.
   */
  #timeout(): void {
    this.#isOverdue = true;
    // The event loop reads the sockets before this callback.
    setImmediate(() => {
      if (!this.#isOverdue) return;
      if (this.#isUnread) this.#giveUpUnread();
      else if (this.#paused) this.#startTimer(this.#timerMs);
      else this.#carryOut(this.#scp.timeout());
    });
  }

  #giveUpUnread(): void {
    this.#carryOut(this.#scp.abort("the peer does not read its responses"));
    this.#wire.close();
  }
}

import type { Agreement } from "../protocols/dicom/association.ts";
import { type Encoding, encodingOf } from "../protocols/dicom/dataset.ts";
import { type Request, STATUS } from "../protocols/dicom/dimse.ts";
import { type Identity, Scp, type ScpAction, type ServiceRequest } from "../protocols/dicom/scp.ts";
import { STORAGE_COMMITMENT } from "../protocols/dicom/uids.ts";
import type { Served, Talk } from "./services.ts";
import type { ImageStore, IncomingFile } from "./instance-store.ts";
import type { ConnectionEvents } from "../connection/device-session.ts";
import type { Transport, Wire, WireHandler } from "../transport/transport.ts";

// The imperative shell of one DICOM device: sockets, timers and files around the pure service provider.

export interface DicomDevice {
  readonly id: string;
  readonly aeTitle: string;
  /** Calling AE titles that are admitted; empty for any. */
  readonly callingAeTitles: readonly string[];
  /** A study is whole when nothing came of it for so long. */
  readonly quietMs: number;
}

/** Collaborators that carry out the requests of a device. */
export interface DicomParts {
  readonly store: Pick<ImageStore, "begin">;
  /** Never rejects. */
  serve(request: ServiceRequest, talk: Talk): Promise<Served>;
  readonly commitments: {
    /** The device may be told on this association until it is left. */
    join(line: ReportLine): void;
    leave(line: ReportLine): void;
    /** There may be something to report. */
    wake(): void;
  };
}

/**
 * An association on which the device may be told what we have of its images. The dataset comes encoded: the tables of character
 * sets would take 4 MB in this thread.
 */
export interface ReportLine {
  readonly callingAe: string;
  readonly encoding: Encoding;
  /** Tells it; whether it took it. */
  report(request: Omit<Request, "messageId">, dataset: Uint8Array): Promise<boolean>;
}

export interface DicomEvents extends ConnectionEvents {
  /** An instance is on disk and the device was told so. */
  kept(receivedAt: number): void;
  /** Our own fault. */
  fault(error: unknown): void;
}

const ASSOCIATIONS_MAX = 16;
const ASSOCIATIONS_OF_PEER_MAX = 4;
/** Read of one association before the other devices are heard again: it sends as fast as we read, they wait for an answer. */
const TURN_BYTES_MAX = 256 * 1024;
/** PDU type of an A-ASSOCIATE-RQ. */
const ASSOCIATE_REQUEST = 0x01;
/** Kept of the beginning of a connection: enough to recognise another protocol by. */
const HEAD_BYTES = 512;
/** A peer that sends on without waiting for its answers is held up. */
const UNANSWERED_MAX = 2;

export class DicomServer {
  readonly #device: DicomDevice;
  readonly #transport: Transport;
  readonly #parts: DicomParts;
  readonly #events: DicomEvents;
  /** Calling AE titles of the associations that are open. */
  readonly #open: string[] = [];
  readonly #working = new Set<Promise<void>>();

  constructor(device: DicomDevice, transport: Transport, parts: DicomParts, events: DicomEvents) {
    this.#device = device;
    this.#transport = transport;
    this.#parts = parts;
    this.#events = events;
  }

  get connected(): boolean {
    return this.#open.length > 0;
  }

  open(): void {
    this.#transport.open(
      (wire) => this.#serve(wire),
      (reason) => this.#events.warning(reason),
      (state) => this.#events.lineChanged(state),
    );
  }

  /** Hangs up, and waits for the instances that are on their way to the disk. */
  async close(): Promise<void> {
    await this.#transport.close();
    await Promise.all(this.#working);
  }

  #serve(wire: Wire): WireHandler {
    const conversation = new Conversation(this.#device, wire, this.#parts, {
      ...this.#events,
      admits: (callingAe) =>
        this.#open.length < ASSOCIATIONS_MAX &&
        this.#open.filter((title) => title === callingAe).length < ASSOCIATIONS_OF_PEER_MAX,
      opened: (callingAe) => {
        this.#open.push(callingAe);
        this.#events.connected(`${callingAe} at ${wire.peer}`);
      },
      over: (callingAe) => {
        this.#open.splice(this.#open.indexOf(callingAe), 1);
        this.#events.disconnected();
      },
      working: (work) => this.#track(work),
    });
    return {
      chunk: (bytes) => {
        this.#events.bytes(bytes.length);
        conversation.chunk(bytes);
      },
      closed: () => conversation.closed(),
    };
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#events.fault(error))
      .finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}

interface ConversationEvents extends Pick<DicomEvents, "warning" | "kept"> {
  /** Whether there is room for an association of that device. */
  admits(callingAe: string): boolean;
  opened(callingAe: string): void;
  /** An association that was opened is no more. */
  over(callingAe: string): void;
  /** Registers work that a stop must wait for. */
  working(work: Promise<void>): void;
}

/** One wire and its service provider. */
class Conversation {
  readonly #device: DicomDevice;
  readonly #wire: Wire;
  readonly #parts: DicomParts;
  readonly #events: ConversationEvents;
  readonly #scp: Scp;
  /** Calling AE title of the open association; null without one. */
  #callingAe: string | null = null;
  /** Where the device may be told what we have of its images; null: not on this association. */
  #line: ReportLine | null = null;
  /** Waiting for the device to say that it was told, by message id. */
  readonly #told = new Map<number, (success: boolean) => void>();
  #reports = 0;
  #incoming: IncomingFile | null = null;
  /** Message ids of requests whose answer is not wanted any more. */
  readonly #cancelled = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  /** Duration of the running timer; null without one. */
  #timerMs: number | null = null;
  /** It is over, and nothing was heard since. */
  #isOverdue = false;
  /** Bytes read since the others were heard. */
  #turnBytes = 0;
  #paused = false;
  #closed = false;
  /** The first bytes of the connection, and how many came in all. */
  #head: Uint8Array = new Uint8Array(0);
  #bytes = 0;

  constructor(device: DicomDevice, wire: Wire, parts: DicomParts, events: ConversationEvents) {
    this.#device = device;
    this.#wire = wire;
    this.#parts = parts;
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
          if (!this.#closed) this.#wire.write(action.bytes);
          break;
        case "timer":
          this.#arm(action.ms);
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
          this.#incoming = this.#parts.store.begin(this.#device.id, this.#device.quietMs, action.instance);
          this.#incoming.onSynced = () => this.#hold();
          break;
        case "bytes":
          this.#incoming?.write(action.bytes);
          break;
        case "keep":
          if (this.#incoming !== null) this.#events.working(this.#keep(this.#incoming, action.identity));
          this.#incoming = null;
          break;
        case "discard":
          if (this.#incoming !== null) this.#events.working(this.#incoming.discard());
          this.#incoming = null;
          break;
        case "serve":
          this.#events.working(this.#serve(action.request));
          break;
        case "cancel":
          this.#cancelled.add(action.messageId);
          break;
        case "answered":
          this.#told.get(action.command.messageIdRespondedTo)?.(action.command.status === STATUS.success);
          break;
      }
    }
    this.#hold();
  }

  /** A DICOM connection begins with an association request (PS3.8 §9.3.2). */
  #warnOfEnd(reason: string): void {
    const [first = ASSOCIATE_REQUEST] = this.#head;
    if (first === ASSOCIATE_REQUEST) return this.#events.warning(reason);
    const noise = { bytes: this.#bytes, head: this.#head };
    this.#events.warning(`${noise.bytes} bytes outside an association: ${reason}`, noise);
  }

  #enter(agreement: Agreement): void {
    this.#callingAe = agreement.callingAe;
    this.#wire.heardMessage?.();
    this.#events.opened(agreement.callingAe);
    this.#line = this.#lineOf(agreement);
    if (this.#line !== null) this.#parts.commitments.join(this.#line);
  }

  #leave(): void {
    if (this.#callingAe === null) return;
    const callingAe = this.#callingAe;
    this.#callingAe = null;
    if (this.#line !== null) this.#parts.commitments.leave(this.#line);
    for (const answer of this.#told.values()) answer(false);
    this.#events.over(callingAe);
  }

  async #keep(file: IncomingFile, identity: Identity): Promise<void> {
    try {
      const { status, comment } = await file.keep(identity);
      if (status === STATUS.success) this.#events.kept(Date.now());
      else this.#events.warning(`an instance was refused: ${comment}`);
      this.#carryOut(this.#scp.respond(file.messageId, status, comment));
    } catch (error) {
      this.#carryOut(this.#scp.abort("our own fault"));
      throw error;
    }
  }

  async #serve(request: ServiceRequest): Promise<void> {
    const { messageId } = request.command;
    const talk: Talk = {
      pending: async (status, dataset) => {
        if (this.#closed || this.#cancelled.has(messageId)) return false;
        this.#carryOut(this.#scp.pending(messageId, status, dataset));
        await new Promise((resolve) => setImmediate(resolve)); // a cancellation is heard between two answers
        return true;
      },
    };
    const { status, comment, sopInstance } = await this.#parts.serve(request, talk);
    this.#cancelled.delete(messageId);
    if (comment !== null) this.#events.warning(`a request was refused: ${comment}`);
    this.#carryOut(this.#scp.respond(messageId, status, comment, sopInstance));
    if (request.command.affectedSopClass === STORAGE_COMMITMENT) this.#parts.commitments.wake();
  }

  #lineOf({ callingAe, contexts }: Agreement): ReportLine | null {
    for (const [context, { abstractSyntax, transferSyntax }] of contexts) {
      const encoding = encodingOf(transferSyntax);
      if (abstractSyntax !== STORAGE_COMMITMENT || encoding === null) continue;
      return {
        ...{ callingAe, encoding },
        report: (request, dataset) =>
          new Promise((resolve) => {
            if (this.#callingAe === null) return resolve(false);
            const messageId = ++this.#reports;
            this.#told.set(messageId, (success) => {
              this.#told.delete(messageId);
              resolve(success);
            });
            this.#carryOut(this.#scp.request(context, { ...request, messageId }, dataset));
          }),
      };
    }
    return null;
  }

  #endTurn(): void {
    this.#turnBytes = 0;
    this.#hold();
  }

  /** Reads on, or does not: what the disk has not taken must not pile up in memory. */
  #hold(): void {
    const wait =
      this.#turnBytes >= TURN_BYTES_MAX || this.#incoming?.isBehind === true || this.#scp.unanswered >= UNANSWERED_MAX;
    if (wait === this.#paused || this.#closed) return;
    this.#paused = wait;
    if (wait) this.#wire.pause();
    else this.#wire.resume();
  }

  #arm(ms: number | null): void {
    this.#isOverdue = false;
    if (ms !== null && ms === this.#timerMs) return void this.#timer?.refresh(); // at every chunk: a new one costs ten times as much
    clearTimeout(this.#timer);
    this.#timerMs = this.#closed ? null : ms;
    if (this.#timerMs !== null) this.#timer = setTimeout(() => this.#overdue(), this.#timerMs);
  }

  /** A peer that is held up is not silent, nor is one whose words nobody has read since the disk let this thread go. */
  #overdue(): void {
    this.#isOverdue = true;
    // The sockets are read before that.
    setImmediate(() => {
      if (!this.#isOverdue) return;
      if (this.#paused) this.#arm(this.#timerMs);
      else this.#carryOut(this.#scp.timeout());
    });
  }
}

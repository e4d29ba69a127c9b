import { newUlid } from "../../shared/api/fp.ts";
import type { Link, LinkAction } from "../protocols/link.ts";
import type { Refusals } from "../protocols/poct1/replies.ts";
import type { SetTimer } from "../runtime/timer.ts";
import type { EventKind } from "../spool/queries/events/event-log.ts";
import type { StoredMessage } from "../spool/queries/messages/message-row.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/thread/storage-error.ts";
import { UNREAD_BYTES_MAX, type Wire } from "../transport/transport.ts";
import type { CommitShare } from "./commit-share.ts";
import { apply, createLink, linkContext } from "./create-link.ts";
import type { ConnectedDevice, ConnectionEvents, MessageHandler } from "./device/device-session.ts";
import { LinkTimer } from "./link-timer.ts";
import type { MemoryBudget, MemoryShare } from "./memory-budget.ts";
import { type OutgoingMessage, OutgoingQueue } from "./outgoing-queue.ts";
import { type Session, type SessionEvent, SessionRecorder } from "./session-recorder.ts";
import type { DeviceBound } from "./device/device-bound.ts";

// The imperative shell of one link: chunk to spool, spool to link, actions to wire and handlers.
//
// The link receives only committed events, in their stored order. A replay of the spool therefore takes the same path, and no
// reply leaves before the commit of the events that it acknowledges.

/** Bytes that the link has not received yet, committed or not. Beyond it the agent pauses the wire. */
const PENDING_BYTES_MAX = 256 * 1024;
/** Interval between attempts to store a timeout that the spool refuses. */
const TIMEOUT_RETRY_MS = 1_000;
const NO_BYTES = new Uint8Array(0);
const BUDGET_EXCEEDED = new StorageError("unfinished messages of all devices exceed the memory budget");

/** Dependencies of every wire of one device. */
export interface WireContext {
  readonly spool: Spool;
  readonly events: ConnectionEvents;
  readonly messages: MessageHandler;
  readonly setTimer: SetTimer;
  readonly now: () => number;
  readonly memory: MemoryBudget;
  readonly unfiled: DeviceBound;
  readonly share: CommitShare;
  readonly pending: DeviceBound;
  readonly refusals: Refusals;
}

type WireState =
  | "open"
  /** Backpressure: the agent reads no further chunk. */
  | "paused"
  /** The device has closed its sending side. The agent closes the wire after its last reply. */
  | "ended"
  | "closed";

export class WireSession {
  readonly #device: ConnectedDevice;
  readonly #wire: Wire;
  readonly #context: WireContext;
  readonly #identified: (name: string) => void;
  readonly #link: Link;
  readonly #recorder: SessionRecorder;
  readonly #outgoing: OutgoingQueue;
  readonly #timer: LinkTimer;
  readonly #memory: MemoryShare;
  #state: WireState = "open";
  /** The reply deadline has passed, so no reply leaves. No state of the wire: a late wire still reads, pauses and ends. */
  #isLate = false;
  /** Committed and refused events in stored order, each as the step that applies it to the link. */
  readonly #steps: (() => void)[] = [];
  /** Guards the loop over `#steps` against steps that call it again. Never true between two calls from outside. */
  #isRunningSteps = false;
  readonly #resume = () => this.#runSteps();
  readonly #regulateAgain = () => this.#regulate();
  #pendingBytes = 0;
  /** Bytes of replies that have not left the process. */
  #unreadBytes = 0;
  /** Messages whose commit or reply is under way. */
  #unansweredMessages = 0;

  /** `identified` is called whenever the device names itself. */
  constructor(device: ConnectedDevice, wire: Wire, context: WireContext, identified: (name: string) => void) {
    const { spool, events, setTimer, memory, refusals } = context;
    this.#device = device;
    this.#wire = wire;
    this.#context = context;
    this.#identified = identified;
    this.#link = createLink(device.profile, linkContext(device.timeZone), { ...device, refusals });
    this.#recorder = new SessionRecorder(device, spool);
    // A stored event like a chunk, so that a replay takes the same path.
    const offer = (bytes: Uint8Array) => this.#record("send", bytes);
    this.#outgoing = new OutgoingQueue(offer, (reason) => events.warning(reason), setTimer);
    this.#memory = memory.share();
    this.#timer = new LinkTimer(
      setTimer,
      // A pause or a commit may hold back bytes of the device, so the device is not known to be silent.
      () => this.#state === "paused" || this.#recorder.hasPendingEvents,
      () => this.#record("timeout", null),
    );
    this.#timer.set(this.#link.silenceMs ?? null);
    this.#regulate(); // the closed wires of this device may have left too much
  }

  /** From the first byte of a message until its last reply has left. */
  get isWithinMessage(): boolean {
    return !this.#isDone || this.#unreadBytes > 0;
  }

  chunk(bytes: Uint8Array): void {
    this.#record("chunk", bytes);
  }

  ended(): void {
    this.#state = "ended";
    if (this.#recorder.isRecording) this.#record("close", null);
    this.#closeIfDone();
  }

  closed(): void {
    this.#state = "closed";
    this.#timer.set(null);
    this.#outgoing.clear();
    if (this.#recorder.isRecording) this.#record("close", null);
    this.#runSteps(); // unread replies hold nothing back on a closed wire
  }

  close(): void {
    this.#wire.close();
  }

  send(message: OutgoingMessage): void {
    if (this.#state !== "closed") this.#outgoing.add(message);
  }

  #record(kind: EventKind, bytes: Uint8Array | null): void {
    const session = this.#recorder.currentSession();
    const { phase } = session;
    session.phase = "recording";
    if (phase === "gap") this.#append(session, "gap", null);
    // After a gap too, because the refused event may be the memory.
    const memory = phase === "recording" ? null : (this.#link.memory ?? null);
    if (memory !== null) this.#append(session, "resume", memory);
    this.#append(session, kind, bytes);
  }

  #append(session: Session, kind: EventKind, bytes: Uint8Array | null): void {
    const isAcceptable = kind === "chunk" && bytes !== null && (this.#link.mayAccept?.(bytes) ?? true);
    const durable = session.pendingEvents > 0 || bytes === null || isAcceptable;
    const event: SessionEvent = { session, kind, bytes, id: null };
    session.pendingEvents += 1;
    const { share, pending } = this.#context;
    const length = bytes?.length ?? 0;
    this.#pendingBytes += length;
    pending.add(length);
    this.#regulate();
    const cancelDeadline = isAcceptable ? this.#startReplyDeadline() : null;
    const done = (error: StorageError | null) => {
      share.remove(length);
      this.#steps.push(() => {
        cancelDeadline?.();
        this.#applyEvent(event, error);
      });
      this.#runSteps();
    };
    share.add(length, () => {
      if (kind === "chunk" && this.#memory.isExceeded()) {
        this.#recorder.appendGap(event, durable, (error) => done(error ?? BUDGET_EXCEEDED));
        return;
      }
      this.#recorder.append(event, durable, done);
    });
  }

  /** Closes the wire unless canceled within the link's limit. A chunk committed later is filed without a reply. */
  #startReplyDeadline(): (() => void) | null {
    const { replyTimeoutMs } = this.#link;
    if (replyTimeoutMs === undefined) return null;
    return this.#context.setTimer(replyTimeoutMs, () => {
      if (this.#state === "closed" || this.#isLate) return;
      this.#isLate = true;
      this.#warn(`chunk not stored within ${replyTimeoutMs / 1000} s: the agent closes the connection`);
      this.#wire.close();
    });
  }

  #runSteps(): void {
    if (this.#isRunningSteps) return;
    this.#isRunningSteps = true;
    while (this.#steps.length > 0 && !this.#isHeldBack) this.#steps.shift()?.();
    this.#isRunningSteps = false;
    this.#regulate();
  }

  /** Backpressure: the link receives no event, and the agent reads no chunk. */
  get #isHeldBack(): boolean {
    const isUnread = this.#unreadBytes > UNREAD_BYTES_MAX && this.#state !== "closed";
    return isUnread || this.#context.unfiled.isExceeded;
  }

  /** Pauses or resumes the wire. A paused wire resumes at half the bound, so that it does not flap. */
  #regulate(): void {
    const { unfiled, pending } = this.#context;
    if (unfiled.isExceeded) unfiled.whenWithin(this.#resume);
    const isHeldBack = this.#isHeldBack || pending.isExceeded;
    if (this.#state === "open" && (isHeldBack || this.#pendingBytes > PENDING_BYTES_MAX)) {
      this.#state = "paused";
      this.#wire.pause();
    } else if (this.#state === "paused" && !isHeldBack && this.#pendingBytes <= PENDING_BYTES_MAX / 2) {
      this.#state = "open";
      this.#wire.resume();
      this.#timer.restart();
    }
    if (this.#state === "paused" && pending.isExceeded) pending.whenWithin(this.#regulateAgain);
  }

  #applyEvent(event: SessionEvent, error: StorageError | null): void {
    const { session, kind, bytes } = event;
    session.pendingEvents -= 1;
    this.#pendingBytes -= bytes?.length ?? 0;
    this.#context.pending.remove(bytes?.length ?? 0);
    if (error === null && kind === "chunk") this.#recorder.noteChunk(event);
    if (error !== null) this.#noteRefusal(event, error);
    const actions = error === null || kind === "close" ? apply(this.#link, kind, bytes) : this.#refuse(kind, bytes);
    // The device waits for its replies, so they leave before any other action.
    this.#reply(actions);
    for (const action of actions) if (action.do !== "reply") this.#carryOut(action, session);
    this.#recorder.noteNoise(event, error === null, actions, this.#link.between ?? null);
    this.#memory.set(this.#link.heldBytes ?? 0);
    if (session.pendingEvents > 0) return;
    if (this.#state !== "paused" && this.#timer.clearDue()) {
      this.#record("timeout", null);
    } else if (this.#link.isIdle) {
      this.#recorder.idle(session);
      this.#closeIfDone();
    }
  }

  #noteRefusal({ session, kind }: SessionEvent, error: StorageError): void {
    session.phase = "gap";
    this.#context.events.refusal(`the spool refused a ${kind}: ${error.message}`);
    // A replay reads only stored events, so a timeout that is not stored must not reach the link.
    if (kind === "timeout") this.#timer.set(TIMEOUT_RETRY_MS);
  }

  #refuse(kind: EventKind, bytes: Uint8Array | null): LinkAction[] {
    if (kind === "send") return [{ do: "unsent", reason: "the spool refused it" }];
    if (kind === "resume") return []; // repeated after the gap
    const actions = this.#link.refuse(bytes ?? NO_BYTES);
    for (const action of actions) if (action.do === "warn") this.#context.events.refusal(action.reason);
    return actions.filter((action) => action.do !== "warn");
  }

  /** Writes all replies in one call, because each write costs a system call. */
  #reply(actions: readonly LinkAction[]): void {
    const replies: Uint8Array[] = [];
    for (const action of actions) if (action.do === "reply") replies.push(action.bytes);
    const [first, second] = replies;
    if (first === undefined || this.#state === "closed" || this.#isLate) return;
    const bytes = second === undefined ? first : Buffer.concat(replies);
    this.#unreadBytes += bytes.length;
    this.#wire.write(bytes, () => {
      this.#unreadBytes -= bytes.length;
      if (this.#state === "paused" || this.#steps.length > 0) this.#runSteps();
    });
  }

  #carryOut(action: Exclude<LinkAction, { do: "reply" }>, session: Session): void {
    switch (action.do) {
      case "deliver":
        if (action.incomplete === null) this.#wire.heardMessage?.();
        void this.#deliver(action, session);
        break;
      case "warn":
        this.#context.events.warning(action.reason, action.noise, this.#wire.peer);
        break;
      case "sent":
        this.#outgoing.sent();
        break;
      case "unsent":
        this.#outgoing.unsent(action.reason);
        break;
      case "timer":
        this.#timer.set(this.#state === "closed" ? null : action.ms);
        break;
      case "identify":
        this.#wire.heardMessage?.();
        if (this.#state !== "closed") this.#identified(action.name);
        break;
      case "report":
        this.#recorder.storeReport(action.report);
        break;
      case "close":
        this.#wire.close();
        break;
    }
  }

  async #deliver(delivery: Extract<LinkAction, { do: "deliver" }>, session: Session): Promise<void> {
    const { message: bytes, incomplete, from } = delivery;
    const { id: device, profile } = this.#device;
    const message = { id: newUlid(), device, profile: profile.id, receivedAt: this.#context.now(), bytes, incomplete };
    this.#context.unfiled.add(1);
    this.#unansweredMessages += 1;
    const id = await this.#recorder.storeMessage(session, message, from);
    const stored = id === null ? null : { ...message, id };
    void this.#file(stored);
    if (stored !== null) await this.#context.messages.message(stored, (reply, sent) => this.#sendReply(reply, sent));
    this.#unansweredMessages -= 1;
    this.#closeIfDone();
  }

  async #file(message: StoredMessage | null): Promise<void> {
    const { messages, unfiled } = this.#context;
    if (message !== null) await messages.file?.(message);
    unfiled.remove(1);
  }

  /** A reply that the queue gives up is lost, because the device repeats its query. */
  #sendReply(bytes: Uint8Array, sent: () => void): void {
    this.send({ bytes, sent, givenUp: () => undefined });
  }

  get #isDone(): boolean {
    return !this.#recorder.isRecording && this.#unansweredMessages === 0 && this.#outgoing.isEmpty;
  }

  #closeIfDone(): void {
    if (this.#state === "ended" && this.#isDone) this.#wire.close();
  }

  #warn(reason: string): void {
    this.#context.events.warning(reason);
  }
}

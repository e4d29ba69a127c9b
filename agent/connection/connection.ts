import { newUlid } from "../../shared/api/fp.ts";
import { apply, createLink } from "./create-link.ts";
import type { Profile } from "../devices/profile.ts";
import { fingerprint } from "../protocols/hl7/duplicate-key.ts";
import type { LineState } from "../states/line-state.ts";
import type { Link, LinkAction, LinkContext, NoiseRun } from "../protocols/link.ts";
import type { OperatorBook } from "../protocols/poct1/topics.ts";
import { NoiseFinder } from "../spool/queries/noise-events.ts";
import { type EventKind, RecentChunks } from "../spool/queries/event-log.ts";
import { ROW_BYTES } from "../spool/queries/room.ts";
import type { Spool } from "../spool/spool.ts";
import { messageRow, type NewMessage, type StoredMessage } from "../spool/queries/message-row.ts";
import { StorageError } from "../spool/storage-error.ts";
import { zonedTime } from "../report/device-time.ts";
import { realTimer, type SetTimer } from "../runtime/timer.ts";
import type { Transport, Wire, WireHandler } from "../transport/transport.ts";
import { Held } from "./memory-budget.ts";

// The imperative shell of one device: chunk to spool, to link, actions carried out. The link is fed only what the disk
// holds, in the order it holds it; so a replay of the disk takes the same path, and no reply is ever ahead of the disk. What a
// link prepares while bytes are on their way changes nothing of that.

export interface ConnectionEvents {
  connected(peer: string): void;
  disconnected(): void;
  /** Where the way to the device stands while no wire is open. */
  stands(state: LineState): void;
  /** Counts received bytes. */
  bytes(count: number): void;
  /** The device's fault, or the line's; `noise`: bytes that belong to no message. */
  warning(reason: string, noise?: NoiseRun): void;
  /** A message is on disk; `send` gives its device one back. Whoever does that gives a promise that settles once it has. */
  message(message: StoredMessage, send: Send): unknown;
  /** Files a message that is on disk. @returns a promise that settles once it is filed. Absent: nothing is filed */
  file?(message: StoredMessage): Promise<void>;
}

/**
 * Queues a message for the device, on the wire that it asked by: with the wire it is gone, and a device that still wants it
 * asks again. `sent` is called once the device has taken it whole.
 */
export type Send = (message: Uint8Array, sent: () => void) => void;

/** Bytes on their way to disk, and on disk but not taken by the link, beyond which the wire is not read. */
const UNTAKEN_BYTES_MAX = 256 * 1024;
/**
 * Messages of one device that are delivered and not filed yet. Beyond that none of its wires is read, and what they sent
 * before is not answered, until some are filed.
 */
export const UNFILED_MAX = 256;
/** Bytes of answers in memory that a device has not read. Beyond that its wire is not read until it reads them. */
export const UNREAD_BYTES_MAX = 64 * 1024;
const NO_BYTES = new Uint8Array(0);
/** A message of so many bytes is never refused for what others hold. */
const HELD_BYTES_MIN = 1024 * 1024;
/** How long until a timeout that the disk refused is offered to it again. */
const TIMEOUT_RETRY_MS = 1_000;
/** How long until a message that the disk refused is offered to it again. */
const SAVE_RETRY_MS = 1_000;
/** How often a message is offered to a device that does not take it, and how long after the last time. */
const SEND_TRIES_MAX = 3;
const SEND_RETRY_MS = 5_000;
/** A session of so many messages ends where the link rests: after a power cut it is replayed from its beginning. */
export const SESSION_MESSAGES_MAX = 64;
/** Messages of a replay that are stored at once. */
export const RECOVERED_AT_ONCE = 200;
/** Messages that wait for a device; it asks for more only when it has its answer. */
const OUTGOING_MAX = 20;

export interface ConnectedDevice {
  readonly id: string;
  readonly profile: Profile;
  /** IANA zone of its clock. */
  readonly timeZone: string;
  /** Who may use it, where somebody keeps that. */
  readonly operators?: OperatorBook;
}

/** What somebody has to say to the device, whenever it connects. */
export interface Announcement {
  readonly message: Uint8Array;
  /** The device has taken it. */
  readonly sent: () => void;
  readonly refused: (reason: string) => void;
}

export class Connection {
  readonly #device: ConnectedDevice;
  readonly #transport: Transport;
  readonly #spool: Spool;
  readonly #events: ConnectionEvents;
  readonly #setTimer: SetTimer;
  readonly #held: Held;
  /** By the device's own name, where it gave one: the wire on which it spoke last. */
  readonly #identified = new Map<string, Conversation>();
  readonly #unfiled = new Unfiled();
  #wires = 0;
  #announcement: Announcement | null = null;

  constructor(
    device: ConnectedDevice,
    transport: Transport,
    spool: Spool,
    events: ConnectionEvents,
    setTimer: SetTimer = realTimer,
    held = new Held(),
  ) {
    this.#device = device;
    this.#transport = transport;
    this.#spool = spool;
    this.#events = events;
    this.#setTimer = setTimer;
    this.#held = held;
  }

  get connected(): boolean {
    return this.#wires > 0;
  }

  open(): void {
    this.#transport.open(
      (wire) => this.#serve(wire),
      (reason) => this.#events.warning(reason),
      (state) => this.#events.stands(state),
    );
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** For each device that has said its name, and else for the one that says it next; in place of the one before. */
  announce(announcement: Announcement): void {
    this.#announcement = announcement;
    for (const conversation of this.#identified.values()) this.#tell(conversation);
  }

  #tell(conversation: Conversation): void {
    const announcement = this.#announcement;
    if (announcement === null) return;
    const { message, sent, refused } = announcement;
    const isOver = () => {
      if (this.#announcement === announcement) this.#announcement = null;
    };
    conversation.send(
      message,
      () => {
        isOver();
        sent();
      },
      (reason) => {
        isOver();
        refused(reason);
      },
    );
  }

  #serve(wire: Wire): WireHandler {
    const identified = (name: string) => this.#identify(name, conversation);
    const events = { ...this.#events, identified };
    const conversation = new Conversation(
      this.#device,
      wire,
      this.#spool,
      events,
      this.#setTimer,
      this.#held,
      this.#unfiled,
    );
    this.#wires += 1;
    this.#events.connected(wire.peer);
    return {
      chunk: (bytes) => {
        this.#events.bytes(bytes.length);
        conversation.chunk(bytes);
      },
      ended: () => conversation.ended(),
      closed: () => {
        conversation.closed();
        this.#wires -= 1;
        for (const [name, last] of this.#identified) if (last === conversation) this.#identified.delete(name);
        this.#events.disconnected();
      },
    };
  }

  #identify(name: string, conversation: Conversation): void {
    const last = this.#identified.get(name);
    this.#identified.set(name, conversation);
    if (last !== conversation) this.#tell(conversation);
    if (last === undefined || last === conversation) return;
    this.#events.warning("the device connected anew: its last connection is closed");
    last.hangUp();
  }
}

/** The unfiled messages of a device, counted over all its wires: a peer that connects anew does not begin at 0. */
class Unfiled {
  #count = 0;
  /** The wires that wait for the count to be within its bound again. */
  readonly #waiting = new Set<() => void>();

  get isTooMany(): boolean {
    return this.#count > UNFILED_MAX;
  }

  add(): void {
    this.#count += 1;
  }

  remove(): void {
    this.#count -= 1;
    // In turn: one that has to wait again is behind the others.
    for (const goOn of this.#waiting) {
      if (this.isTooMany) return;
      this.#waiting.delete(goOn);
      goOn();
    }
  }

  whenFew(goOn: () => void): void {
    this.#waiting.add(goOn);
  }
}

/** A span of the spool from one rest of the link to another. */
interface Session {
  readonly id: number;
  /** Events on their way to disk, and those on disk that the link has yet to take. */
  untaken: number;
  /** Messages delivered so far. */
  delivered: number;
  /** Messages on their way to disk. */
  unsaved: number;
  /** The link rests: nothing of the session is needed any more, and it may end or go on. */
  resting: boolean;
}

/** A message for the device. */
interface Outgoing {
  readonly bytes: Uint8Array;
  readonly sent: () => void;
  /** The device did not take it, however often it was offered. */
  readonly givenUp: (reason: string) => void;
  tries: number;
}

const TOO_MUCH = new StorageError("too many bytes of unfinished messages are held already");

interface ConversationEvents extends Pick<ConnectionEvents, "warning" | "message" | "file"> {
  /** The device said its own name. */
  identified(name: string): void;
}

/** One wire and its link. */
class Conversation {
  readonly #device: ConnectedDevice;
  readonly #wire: Wire;
  readonly #spool: Spool;
  readonly #events: ConversationEvents;
  readonly #setTimer: SetTimer;
  readonly #held: Held;
  readonly #unfiled: Unfiled;
  readonly #link: Link;
  readonly #chunks = new RecentChunks();
  readonly #noise = new NoiseFinder();
  #session: Session | null = null;
  /** Events that are settled by the spool and wait for the link, each as the step that gives it to the link. */
  readonly #settled: (() => void)[] = [];
  #isTaking = false;
  readonly #goOn = () => this.#takeSettled();
  /** Bytes on their way to disk, and those on disk that the link has yet to take. */
  #untakenBytes = 0;
  /** Answers that have not left the process. */
  #unreadBytes = 0;
  /** This link's part of `#held`. */
  #heldBytes = 0;
  /** Messages on their way to disk, or to their answer. */
  #unanswered = 0;
  #paused = false;
  #ended = false;
  #closed = false;
  /** The device has waited too long for its answer: it gets none any more, on this wire. */
  #late = false;
  /** An event was refused; the next one says so first. */
  #gap = false;
  #cancelTimer: (() => void) | null = null;
  /** The timer ran out while events were on their way: they decide first. */
  #timerRanOut = false;
  /** The first is the link's, or was given back by it. */
  readonly #outgoing: Outgoing[] = [];
  #cancelRetry: (() => void) | null = null;

  constructor(
    device: ConnectedDevice,
    wire: Wire,
    spool: Spool,
    events: ConversationEvents,
    setTimer: SetTimer,
    held: Held,
    unfiled: Unfiled,
  ) {
    this.#device = device;
    this.#wire = wire;
    this.#spool = spool;
    this.#events = events;
    this.#setTimer = setTimer;
    this.#held = held;
    this.#unfiled = unfiled;
    this.#link = createLink(device.profile, linkContext(device.timeZone), device.operators);
    this.#armTimer(this.#link.silenceMs ?? null);
  }

  chunk(bytes: Uint8Array): void {
    this.#store("chunk", bytes);
  }

  ended(): void {
    this.#ended = true;
    if (this.#isMoving) this.#store("close", null);
    this.#hangUpIfDone();
  }

  closed(): void {
    this.#closed = true;
    this.#armTimer(null);
    this.#cancelRetry?.();
    this.#outgoing.length = 0;
    if (this.#isMoving) this.#store("close", null);
    this.#takeSettled(); // nobody reads answers any more
  }

  hangUp(): void {
    this.#wire.close();
  }

  send(bytes: Uint8Array, sent: () => void, givenUp: Outgoing["givenUp"] = () => undefined): void {
    if (this.#closed) return;
    if (this.#outgoing.length === OUTGOING_MAX) {
      this.#events.warning(`${OUTGOING_MAX} messages wait for the device already: one more is not sent`);
      return;
    }
    this.#outgoing.push({ bytes, sent, givenUp, tries: 0 });
    if (this.#outgoing.length === 1) this.#offer();
  }

  /** Gives the link the message that is next: a row like a chunk, so that a replay takes the same path. */
  #offer(): void {
    const [next] = this.#outgoing;
    if (next === undefined) return;
    next.tries += 1;
    this.#store("send", next.bytes);
  }

  #unsent(reason: string): void {
    const [next] = this.#outgoing;
    if (next === undefined) return;
    this.#events.warning(`a message was not sent: ${reason}`);
    if (next.tries < SEND_TRIES_MAX) {
      this.#cancelRetry = this.#setTimer(SEND_RETRY_MS, () => this.#offer());
      return;
    }
    this.#events.warning(`a message is given up after ${SEND_TRIES_MAX} tries`);
    this.#outgoing.shift();
    next.givenUp(reason);
    this.#offer();
  }

  get #isMoving(): boolean {
    return this.#session !== null && !this.#session.resting;
  }

  #store(kind: EventKind, bytes: Uint8Array | null): void {
    const last = this.#resume();
    const begins = last === null || this.#gap;
    this.#session = last ?? {
      id: this.#spool.openSession(this.#device.id, this.#device.profile.id),
      untaken: 0,
      delivered: 0,
      unsaved: 0,
      resting: false,
    };
    const session = this.#session;
    if (this.#gap) {
      this.#gap = false;
      this.#append(session, "gap", null);
    }
    // Behind a gap too: the memory may be what the disk refused.
    const memory = begins ? (this.#link.memory ?? null) : null;
    if (memory !== null) this.#append(session, "resume", memory);
    this.#append(session, kind, bytes);
  }

  #append(session: Session, kind: EventKind, bytes: Uint8Array | null): void {
    const isPromise = bytes === null || (kind === "chunk" && (this.#link.mayAccept?.(bytes) ?? true));
    const durable = session.untaken > 0 || isPromise;
    session.untaken += 1;
    this.#untakenBytes += bytes?.length ?? 0;
    this.#regulate();
    const cancel = kind === "chunk" && isPromise ? this.#awaitAnswer() : null;
    const { id: device } = this.#device;
    if (kind === "chunk" && this.#holdsTooMuch()) {
      // To whoever reads the disk later, what is not taken is missing.
      this.#spool.append({ device, session: session.id, kind: "gap", bytes: null, durable }, (error) => {
        this.#whenFree(() => {
          cancel?.();
          this.#take(session, kind, null, bytes, error ?? TOO_MUCH);
        });
      });
      return;
    }
    const afterBatch = kind === "chunk" && isPromise && bytes !== null ? this.#preparation(bytes) : null;
    const id = this.#spool.append({ device, session: session.id, kind, bytes, durable, afterBatch }, (error) => {
      this.#whenFree(() => {
        cancel?.();
        if (error === null && kind === "chunk") this.#chunks.add(id, bytes?.length ?? 0);
        this.#take(session, kind, id, bytes, error);
      });
    });
  }

  /** Takes the step behind those before it, once the link may take more. */
  #whenFree(step: () => void): void {
    this.#settled.push(step);
    this.#takeSettled();
  }

  #takeSettled(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    while (this.#settled.length > 0 && !this.#isHeldBack) this.#settled.shift()?.();
    this.#isTaking = false;
    this.#regulate();
  }

  /** Neither the next chunk on disk nor the wire is read: backpressure to the device. */
  get #isHeldBack(): boolean {
    return this.#unfiled.isTooMany || (this.#unreadBytes > UNREAD_BYTES_MAX && !this.#closed);
  }

  /** Pauses or resumes the wire. */
  #regulate(): void {
    if (this.#unfiled.isTooMany) this.#unfiled.whenFew(this.#goOn);
    if (this.#closed) return;
    const bytesMax = this.#paused ? UNTAKEN_BYTES_MAX / 2 : UNTAKEN_BYTES_MAX;
    const isBehind = this.#isHeldBack || this.#untakenBytes > bytesMax;
    if (isBehind === this.#paused) return;
    this.#paused = isBehind;
    if (isBehind) this.#wire.pause();
    else this.#wire.resume();
  }

  #preparation(bytes: Uint8Array): (() => void) | null {
    return this.#link.prepare === undefined ? null : () => this.#link.prepare?.(bytes);
  }

  /** Hangs up unless that is cancelled in time. What the disk takes later is stored and filed, and was never accepted. */
  #awaitAnswer(): (() => void) | null {
    const { answerMs } = this.#link;
    if (answerMs === undefined) return null;
    return this.#setTimer(answerMs, () => {
      if (this.#closed || this.#late) return;
      this.#late = true;
      this.#events.warning(`what the device sent was not taken within ${answerMs / 1000} s: the connection is closed`);
      this.#wire.close();
    });
  }

  #holdsTooMuch(): boolean {
    return this.#held.bytes > this.#held.bytesMax && this.#heldBytes > HELD_BYTES_MIN;
  }

  /** `event`: its id; null where another event is stored in its place. */
  #take(
    session: Session,
    kind: EventKind,
    event: number | null,
    bytes: Uint8Array | null,
    error: StorageError | null,
  ): void {
    session.untaken -= 1;
    this.#untakenBytes -= bytes?.length ?? 0;
    if (error !== null) {
      this.#gap = true;
      this.#events.warning(`the spool refused a ${kind}: ${error.message}`);
      // A timeout that is not on disk has not happened yet, or a replay would know less than the device was told.
      if (kind === "timeout") this.#armTimer(TIMEOUT_RETRY_MS);
    }
    const actions = error === null || kind === "close" ? apply(this.#link, kind, bytes) : this.#refused(kind, bytes);
    // The device waits for its answer, and nobody for the rest.
    this.#reply(actions);
    for (const action of actions) if (action.do !== "reply") this.#carryOut(action, session);
    this.#noteNoise(session, kind, error === null ? event : null, bytes, actions);
    this.#held.bytes -= this.#heldBytes;
    this.#heldBytes = this.#link.heldBytes ?? 0;
    this.#held.bytes += this.#heldBytes;
    if (session.untaken > 0) return;
    if (this.#timerRanOut) {
      this.#timerRanOut = false;
      this.#store("timeout", null);
    } else if (this.#link.atRest) {
      this.#rest(session);
      this.#hangUpIfDone();
    }
  }

  /** Gives the spool the events that no message needs. Should the disk refuse that, they stay with the others. */
  #noteNoise(
    { id }: Session,
    kind: EventKind,
    event: number | null,
    bytes: Uint8Array | null,
    actions: readonly LinkAction[],
  ): void {
    const isOwn = kind === "send" || kind === "resume" || kind === "close";
    const size = (bytes?.length ?? 0) + ROW_BYTES.event;
    const isDelivered = actions.some((action) => action.do === "deliver");
    const noise =
      event === null || isOwn
        ? this.#noise.end()
        : this.#noise.add(id, event, size, isDelivered, this.#link.between ?? null);
    if (noise !== null) this.#spool.callLater("noteNoise", this.#device.id, noise);
  }

  /** Where devices are busy, one session holds many of their messages: to begin and to end one costs as much as a message. */
  #rest(session: Session): void {
    session.resting = true;
    if (this.#gap || session.delivered >= SESSION_MESSAGES_MAX) {
      this.#session = null;
      this.#gap = false; // what was missing ends with its session
    }
    this.#endLater(session);
  }

  /** A session that ends is not replayed: all its messages are on disk. */
  #endLater(session: Session): void {
    if (session.resting && session.unsaved === 0) this.#spool.finishLater(session.id);
  }

  /** The session that goes on; null: there is none. */
  #resume(): Session | null {
    const session = this.#session;
    if (session?.resting === true) {
      if (session.unsaved === 0 && !this.#spool.resumeSession(session.id)) return null;
      session.resting = false;
    }
    return session;
  }

  #hangUpIfDone(): void {
    const isDone = !this.#isMoving && this.#unanswered === 0 && this.#outgoing.length === 0;
    if (this.#ended && isDone) this.#wire.close();
  }

  #refused(kind: EventKind, bytes: Uint8Array | null): LinkAction[] {
    if (kind === "send") return [{ do: "unsent", reason: "it could not be stored" }];
    if (kind === "resume") return []; // said again behind the gap
    return this.#link.refuse(bytes ?? NO_BYTES);
  }

  /** Writes all replies in one go: each by itself costs the system as much as all of them. */
  #reply(actions: readonly LinkAction[]): void {
    const replies: Uint8Array[] = [];
    for (const action of actions) if (action.do === "reply") replies.push(action.bytes);
    const [first, second] = replies;
    if (first === undefined || this.#closed || this.#late) return;
    const bytes = second === undefined ? first : Buffer.concat(replies);
    this.#unreadBytes += bytes.length;
    this.#wire.write(bytes, () => {
      this.#unreadBytes -= bytes.length;
      if (this.#paused) this.#goOn();
    });
  }

  #carryOut(action: Exclude<LinkAction, { do: "reply" }>, session: Session): void {
    switch (action.do) {
      case "deliver": {
        const { id: device, profile } = this.#device;
        const { message: bytes, incomplete } = action;
        if (incomplete === null) this.#wire.heardMessage?.();
        const message = { id: newUlid(), device, profile: profile.id, receivedAt: Date.now(), bytes, incomplete };
        void this.#save(session, message, session.delivered++, action.from);
        break;
      }
      case "warn":
        this.#events.warning(action.reason, action.noise);
        break;
      case "sent":
        this.#outgoing.shift()?.sent();
        this.#offer();
        break;
      case "unsent":
        this.#unsent(action.reason);
        break;
      case "timer":
        this.#armTimer(this.#closed ? null : action.ms);
        break;
      case "identify":
        this.#wire.heardMessage?.();
        if (!this.#closed) this.#events.identified(action.name);
        break;
      case "news":
        // Should it get lost, the session is not finished either, and is replayed.
        this.#spool.callLater("noteNews", this.#device.id, action.news, Date.now());
        break;
      case "hang up":
        this.#wire.close();
        break;
    }
  }

  /** What it was made from is on disk and acknowledged, so it is offered until the disk takes it, or a restart replays it. */
  async #save(session: Session, message: StoredMessage, ordinal: number, from: number | undefined): Promise<void> {
    session.unsaved += 1;
    this.#unfiled.add();
    const make = () => {
      const row = rowOf(message, from, this.#chunks, session.id, ordinal);
      return messageRow(row, fingerprint(message, this.#device.profile));
    };
    let id: string | null;
    this.#unanswered += 1;
    for (;;) {
      try {
        id = await this.#spool.saveMessage(make);
        break;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        await new Promise<void>((resolve) => this.#setTimer(SAVE_RETRY_MS, resolve));
      }
    }
    session.unsaved -= 1;
    this.#endLater(session);
    const known = id === null ? null : { ...message, id };
    void this.#file(known);
    if (known !== null) await this.#events.message(known, (bytes, sent) => this.send(bytes, sent));
    this.#unanswered -= 1;
    this.#hangUpIfDone();
  }

  async #file(message: StoredMessage | null): Promise<void> {
    if (message !== null) await this.#events.file?.(message);
    this.#unfiled.remove();
  }

  #armTimer(ms: number | null): void {
    this.#cancelTimer?.();
    this.#timerRanOut = false;
    this.#cancelTimer = ms === null ? null : this.#setTimer(ms, () => this.#timerFired());
  }

  #timerFired(): void {
    this.#cancelTimer = null;
    if (this.#session !== null && this.#session.untaken > 0) this.#timerRanOut = true;
    else this.#store("timeout", null);
  }
}

/** The message as it is stored: without its bytes where the record holds them. */
export function rowOf(
  { id, device, profile, receivedAt, bytes, incomplete }: StoredMessage,
  from: number | undefined,
  chunks: RecentChunks,
  session: number,
  ordinal: number,
): NewMessage {
  const place = from === undefined ? null : chunks.find(from, bytes.length);
  const own = place === null ? bytes : NO_BYTES;
  return { id, session, ordinal, device, profile, receivedAt, incomplete, bytes: own, place };
}

export function linkContext(timeZone: string): LinkContext {
  return { now: () => zonedTime(Date.now(), timeZone), newId: newUlid };
}

import type { LinkAction } from "../protocols/link.ts";
import type { DeviceReport } from "../report/device-report.ts";
import { type EventKind, RecentChunks } from "../spool/queries/events/event-log.ts";
import { NoiseFinder } from "../spool/queries/events/noise-events.ts";
import type { StoredMessage } from "../spool/queries/messages/message-row.ts";
import { ROW_BYTES } from "../spool/queries/devices/stored-bytes.ts";
import type { Spool } from "../spool/spool.ts";
import type { StorageError } from "../spool/thread/storage-error.ts";
import type { ConnectedDevice } from "./device/device-session.ts";
import { messageRowAt } from "./message-row.ts";

// The spool's record of one wire, cut into sessions. A session starts and ends while the link is idle, so a replay can start with
// a fresh link.

/** Messages per session, after which the session ends at the next idle link. A restart replays it from its start. */
export const SESSION_MESSAGES_MAX = 64;

type SessionPhase =
  /** The session has no event yet. */
  | "opened"
  | "recording"
  /** The spool refused an event. The record needs a "gap" event before the next one. */
  | "gap"
  /** The link is idle. The session may end or continue. */
  | "idle";

export interface Session {
  readonly id: number;
  phase: SessionPhase;
  /** Events that the link has not received yet, committed or not. */
  pendingEvents: number;
  deliveredMessages: number;
  /** Delivered messages that are not committed yet. */
  unsavedMessages: number;
}

/** An event of a session on its way through the spool to the link. */
export interface SessionEvent {
  readonly session: Session;
  readonly kind: EventKind;
  readonly bytes: Uint8Array | null;
  /** Its id in the spool; null if the spool holds a "gap" event in its place. */
  id: number | null;
}

export class SessionRecorder {
  readonly #device: ConnectedDevice;
  readonly #spool: Spool;
  readonly #chunks = new RecentChunks();
  readonly #noise = new NoiseFinder();
  /** The session of the next event; null if that event opens one. */
  #session: Session | null = null;

  constructor(device: ConnectedDevice, spool: Spool) {
    this.#device = device;
    this.#spool = spool;
  }

  /** True from the first event of a session until the link is idle. */
  get isRecording(): boolean {
    return this.#session !== null && this.#session.phase !== "idle";
  }

  get hasPendingEvents(): boolean {
    return this.#session !== null && this.#session.pendingEvents > 0;
  }

  /** @returns the session of the next event: the current one, unless the spool has ended it */
  currentSession(): Session {
    if (this.#session?.phase === "idle" && !this.#continue(this.#session)) this.#session = null;
    this.#session ??= {
      id: this.#spool.openSession(this.#device.id, this.#device.profile.id),
      phase: "opened",
      pendingEvents: 0,
      deliveredMessages: 0,
      unsavedMessages: 0,
    };
    return this.#session;
  }

  #continue(session: Session): boolean {
    if (session.unsavedMessages === 0 && !this.#spool.resumeSession(session.id)) return false;
    session.phase = "recording";
    return true;
  }

  /** Stores an event and sets its id. `done` is called after the commit, or with the error of the refusal. */
  append(event: SessionEvent, durable: boolean, done: (error: StorageError | null) => void): void {
    const { session, kind, bytes } = event;
    event.id = this.#spool.append({ device: this.#device.id, session: session.id, kind, bytes, durable }, done);
  }

  /** Stores a "gap" in place of an event that the agent refuses, so that a replay finds the gap too. */
  appendGap({ session }: SessionEvent, durable: boolean, done: (error: StorageError | null) => void): void {
    this.#spool.append({ device: this.#device.id, session: session.id, kind: "gap", bytes: null, durable }, done);
  }

  /** Notes that the link receives a committed chunk next. */
  noteChunk({ id, bytes }: SessionEvent): void {
    if (id !== null) this.#chunks.add(id, bytes?.length ?? 0);
  }

  /** Reports runs of events without a message to the spool. If the spool refuses the report, it keeps those events. */
  noteNoise(event: SessionEvent, isStored: boolean, actions: readonly LinkAction[], between: string | null): void {
    const { session, kind, bytes, id } = event;
    const isOfAgent = kind === "send" || kind === "resume" || kind === "close";
    const size = (bytes?.length ?? 0) + ROW_BYTES.event;
    const isDelivered = actions.some((action) => action.do === "deliver");
    const noise =
      id === null || !isStored || isOfAgent
        ? this.#noise.end()
        : this.#noise.add(session.id, id, size, isDelivered, between);
    if (noise !== null) this.#spool.callLater("noteNoise", this.#device.id, noise);
  }

  /** Stores a report of the device. If the report is lost, its session is unfinished too, and a replay repeats it. */
  storeReport(report: DeviceReport): void {
    this.#spool.callLater("storeDeviceReport", this.#device.id, report, Date.now());
  }

  /**
   * Stores a delivered message. Its chunks are committed and acknowledged, so the spool tries until the disk accepts it. A
   * restart before that replays the session.
   * @returns the id to file the message under; null if the message is a resend that is filed already
   */
  async storeMessage(session: Session, message: StoredMessage, from: number | undefined): Promise<string | null> {
    const position = { session: session.id, ordinal: session.deliveredMessages++, from };
    session.unsavedMessages += 1;
    const row = () => messageRowAt(message, position, this.#chunks, this.#device.profile);
    const id = await this.#spool.saveMessage(row);
    // In the same microtask as the result: a closing spool ends the sessions of its last messages right after it.
    session.unsavedMessages -= 1;
    this.#endIfDone(session);
    return id;
  }

  /** Lets the session end, because the link is idle. A short session may continue: opening one costs as much as a message. */
  idle(session: Session): void {
    // After a gap or many messages the next bytes start a session of their own.
    if (session.phase === "gap" || session.deliveredMessages >= SESSION_MESSAGES_MAX) this.#session = null;
    session.phase = "idle";
    this.#endIfDone(session);
  }

  /** Ends an idle session once all its messages are committed. A restart does not replay it. */
  #endIfDone(session: Session): void {
    if (session.phase === "idle" && session.unsavedMessages === 0) this.#spool.finishLater(session.id);
  }
}

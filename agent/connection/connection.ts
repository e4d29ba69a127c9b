import { Refusals } from "../protocols/poct1/replies.ts";
import { realTimer, type SetTimer } from "../runtime/timer.ts";
import type { Spool } from "../spool/spool.ts";
import type { Transport, Wire, WireHandler } from "../transport/transport.ts";
import type { ConnectedDevice, ConnectionEvents, MessageHandler } from "./device/device-session.ts";
import { CommitShare } from "./commit-share.ts";
import { DEVICE_PENDING_BYTES_MAX, DeviceBound, UNFILED_MAX } from "./device/device-bound.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { type WireContext, WireSession } from "./wire-session.ts";

/** A message to the device from the agent's side, independent of any query. */
export interface Announcement {
  readonly message: Uint8Array;
  /** The device has accepted the message. */
  readonly sent: () => void;
  readonly refused: (reason: string) => void;
}

export interface ConnectionOptions {
  readonly spool: Spool;
  readonly events: ConnectionEvents;
  readonly messages: MessageHandler;
  readonly setTimer?: SetTimer;
  /** Time of receipt, in ms since 1970. */
  readonly now?: () => number;
  /** The budget shared by all devices. */
  readonly memory?: MemoryBudget;
}

/** The connection of one device: a session for each of its wires. */
export class Connection {
  readonly #device: ConnectedDevice;
  readonly #transport: Transport;
  readonly #context: WireContext;
  /** The last wire of each device that has named itself, by that name. */
  readonly #identified = new Map<string, WireSession>();
  readonly #sessions = new Set<WireSession>();
  #announcement: Announcement | null = null;

  constructor(device: ConnectedDevice, transport: Transport, options: ConnectionOptions) {
    const { spool, events, messages, setTimer = realTimer, now = Date.now, memory = new MemoryBudget() } = options;
    this.#device = device;
    this.#transport = transport;
    const unfiled = new DeviceBound(UNFILED_MAX);
    const [share, pending] = [new CommitShare(), new DeviceBound(DEVICE_PENDING_BYTES_MAX)];
    const bounds = { memory, unfiled, share, pending };
    this.#context = { spool, events, messages, setTimer, now, ...bounds, refusals: new Refusals() };
  }

  get connected(): boolean {
    return this.#sessions.size > 0;
  }

  get isWithinMessage(): boolean {
    return [...this.#sessions].some((session) => session.isWithinMessage);
  }

  open(): void {
    const { events } = this.#context;
    this.#transport.open(
      (wire) => this.#accept(wire),
      (reason) => events.warning(reason),
      (state) => events.lineChanged(state),
      (address) => events.refused(address),
    );
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /**
   * Sends a message to every device that has named itself, and to each that does later, until one has accepted or refused it.
   * Replaces the previous announcement.
   */
  announce(announcement: Announcement): void {
    this.#announcement = announcement;
    for (const session of this.#identified.values()) this.#sendAnnouncement(session);
  }

  #sendAnnouncement(session: WireSession): void {
    const announcement = this.#announcement;
    if (announcement === null) return;
    const finish = () => {
      if (this.#announcement === announcement) this.#announcement = null;
    };
    session.send({
      bytes: announcement.message,
      sent() {
        finish();
        announcement.sent();
      },
      givenUp(reason) {
        finish();
        announcement.refused(reason);
      },
    });
  }

  #accept(wire: Wire): WireHandler {
    const { events } = this.#context;
    const session: WireSession = new WireSession(this.#device, wire, this.#context, (name) =>
      this.#identify(name, session),
    );
    this.#sessions.add(session);
    events.connected(wire.peer);
    return {
      chunk(bytes) {
        events.bytes(bytes.length);
        session.chunk(bytes);
      },
      ended: () => session.ended(),
      closed: () => {
        session.closed();
        this.#sessions.delete(session);
        for (const [name, last] of this.#identified) if (last === session) this.#identified.delete(name);
        events.disconnected();
      },
    };
  }

  /** Closes the older wire of a device that has reconnected. */
  #identify(name: string, session: WireSession): void {
    const last = this.#identified.get(name);
    if (last === session) return;
    this.#identified.set(name, session);
    this.#sendAnnouncement(session);
    if (last === undefined) return;
    this.#context.events.warning("the device reconnected: the agent closes its older connection");
    last.close();
  }
}

import { type ConnectionEvents, realTimer, type SetTimer } from "./connection.ts";
import { STATUS } from "./dicom/dimse.ts";
import { type Identity, Scp, type ScpAction } from "./dicom/scp.ts";
import type { ImageStore, IncomingFile } from "./image-store.ts";
import type { Transport, Wire, WireHandler } from "./transport.ts";

// The imperative shell of one DICOM device: sockets, timers and files around the pure service provider.

export interface DicomDevice {
  readonly id: string;
  readonly aeTitle: string;
  /** Who may call; empty: everyone. */
  readonly callingAeTitles: readonly string[];
  /** A study is whole when nothing came of it for so long. */
  readonly quietMs: number;
}

export type DeviceEvents = Pick<ConnectionEvents, "connected" | "disconnected" | "warning">;

export interface DicomEvents extends DeviceEvents {
  /** An instance is on disk and the device was told so. */
  kept(receivedAt: number): void;
  /** Our own fault. */
  fault(error: unknown): void;
}

const ASSOCIATIONS_MAX = 16;
const ASSOCIATIONS_OF_PEER_MAX = 4;
/** Bytes of one association that wait for the disk, beyond which the device has to wait. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** A peer that sends on without waiting for its answers is held up. */
const UNANSWERED_MAX = 2;

export class DicomServer {
  readonly #device: DicomDevice;
  readonly #transport: Transport;
  readonly #store: ImageStore;
  readonly #events: DicomEvents;
  readonly #setTimer: SetTimer;
  /** Calling AE titles of the associations that are open. */
  readonly #open: string[] = [];
  readonly #keeping = new Set<Promise<void>>();

  constructor(
    device: DicomDevice,
    transport: Transport,
    store: ImageStore,
    events: DicomEvents,
    setTimer: SetTimer = realTimer,
  ) {
    this.#device = device;
    this.#transport = transport;
    this.#store = store;
    this.#events = events;
    this.#setTimer = setTimer;
  }

  get connected(): boolean {
    return this.#open.length > 0;
  }

  open(): void {
    this.#transport.open(
      (wire) => this.#serve(wire),
      (reason) => this.#events.warning(reason),
    );
  }

  /** Hangs up, and waits for the instances that are on their way to the disk. */
  async close(): Promise<void> {
    await this.#transport.close();
    await Promise.all(this.#keeping);
  }

  #serve(wire: Wire): WireHandler {
    const { aeTitle, callingAeTitles } = this.#device;
    const admits = (callingAe: string) =>
      this.#open.length < ASSOCIATIONS_MAX &&
      this.#open.filter((title) => title === callingAe).length < ASSOCIATIONS_OF_PEER_MAX;
    const scp = new Scp({ aeTitle, callingAeTitles, admits });
    let incoming: IncomingFile | null = null;
    let callingAe: string | null = null;
    let cancelTimer: (() => void) | null = null;
    let paused = false;
    let closed = false;

    const carryOut = (actions: readonly ScpAction[]) => {
      for (const action of actions) {
        switch (action.do) {
          case "write":
            if (!closed) wire.write(action.bytes);
            break;
          case "timer":
            arm(action.ms);
            break;
          case "close":
            wire.close();
            break;
          case "open":
            callingAe = action.agreement.callingAe;
            this.#open.push(callingAe);
            this.#events.connected(`${callingAe} at ${wire.peer}`);
            break;
          case "over":
            leave();
            if (action.reason !== null) this.#events.warning(action.reason);
            break;
          case "begin":
            incoming = this.#store.begin(this.#device.id, this.#device.quietMs, action.instance);
            incoming.onWritten = hold;
            break;
          case "bytes":
            incoming?.write(action.bytes);
            break;
          case "keep":
            if (incoming !== null) this.#track(keep(incoming, action.identity));
            incoming = null;
            break;
          case "discard":
            if (incoming !== null) this.#track(incoming.discard());
            incoming = null;
            break;
        }
      }
      hold();
    };
    const leave = () => {
      if (callingAe === null) return;
      this.#open.splice(this.#open.indexOf(callingAe), 1);
      callingAe = null;
      this.#events.disconnected();
    };
    const keep = async (file: IncomingFile, identity: Identity) => {
      try {
        const { status, comment } = await file.keep(identity);
        if (status === STATUS.success) this.#events.kept(Date.now());
        else this.#events.warning(`an instance was refused: ${comment}`);
        carryOut(scp.answer(file.messageId, status, comment));
      } catch (error) {
        carryOut(scp.abort("our own fault"));
        throw error;
      }
    };
    /** Reads on, or does not: what the disk has not taken must not pile up in memory. */
    const hold = () => {
      const wait = (incoming?.waitingBytes ?? 0) > WAITING_BYTES_MAX || scp.unanswered >= UNANSWERED_MAX;
      if (wait === paused || closed) return;
      paused = wait;
      if (wait) wire.pause();
      else wire.resume();
    };
    const arm = (ms: number | null) => {
      cancelTimer?.();
      cancelTimer =
        ms === null || closed ? null : this.#setTimer(ms, () => (paused ? arm(ms) : carryOut(scp.timeout())));
    };

    carryOut(scp.start());
    return {
      chunk: (bytes) => carryOut(scp.receive(bytes)),
      closed: () => {
        closed = true;
        carryOut(scp.closed());
      },
    };
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#events.fault(error))
      .finally(() => this.#keeping.delete(tracked));
    this.#keeping.add(tracked);
  }
}

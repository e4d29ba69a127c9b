import type { LineState } from "../states/line-state.ts";

// Where bytes come from: a serial port, a TCP listener, a TCP dialler. All three hand over wires and mend themselves.

/** One open connection to a device. */
export interface Wire {
  readonly peer: string;
  /**
   * Writes to the device; bytes for one that is gone are dropped. Calls `left` once the bytes have left the process or are
   * dropped: a device that does not read leaves them in our memory.
   */
  write(bytes: Uint8Array, left?: () => void): void;
  /** Hangs up once all that was written has left. */
  close(): void;
  /** No more chunks until resume(): the spool, the filing or the device lags behind. */
  pause(): void;
  resume(): void;
  /** The device has sent a whole message. The wire no longer gives way to wires that have sent none. Absent: it never does. */
  heardMessage?(): void;
}

export interface WireHandler {
  chunk(bytes: Uint8Array): void;
  /** The device will say no more, but hears what is still to be said to it; then close() the wire. Absent: it is hung up on. */
  ended?(): void;
  closed(): void;
}

export interface Transport {
  /**
   * Begins to open wires, and goes on for as long as it is not closed. `problem` is told what keeps it from it, once a change,
   * and what a device does wrong; `stands`, where it stands while no wire is open.
   */
  open(
    accept: (wire: Wire) => WireHandler,
    problem: (reason: string) => void,
    stands?: (state: LineState) => void,
  ): void;
  close(): Promise<void>;
}

/** What was written before has left by then, or will not. */
export const CLOSE_MS = 1_000;

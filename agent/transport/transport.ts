import type { LineState } from "../states/line-state.ts";

// The common interface of serial ports, TCP listeners and TCP diallers. Each opens wires, and reopens them after a failure.

/** One open connection to a device. */
export interface Wire {
  readonly peer: string;
  /**
   * Writes to the device; a closed wire discards the bytes. Calls `left` once the bytes have left the process or are discarded.
   * Until then they take memory, because the device does not read.
   */
  write(bytes: Uint8Array, left?: () => void): void;
  /** Closes the wire once all written bytes have left. */
  close(): void;
  /** Backpressure: no chunks until resume(). */
  pause(): void;
  resume(): void;
  /**
   * Reports that the device has sent a complete message. The wire no longer gives way to wires without a message. Undefined if
   * wires of this transport never give way.
   */
  heardMessage?(): void;
}

export interface WireHandler {
  chunk(bytes: Uint8Array): void;
  /** The device has closed its sending side and still reads; the handler closes the wire. Without it the transport does. */
  ended?(): void;
  closed(): void;
}

export interface Transport {
  /**
   * Opens wires until close(). `problem` reports faults of the line once per change, and faults of the device. `stateChanged`
   * reports the state of the line while no wire is open, and `refused` each address that the allow list lacks.
   */
  open(
    accept: (wire: Wire) => WireHandler,
    problem: (reason: string) => void,
    stateChanged?: (state: LineState) => void,
    refused?: (address: string) => void,
  ): void;
  close(): Promise<void>;
}

/** Time for written bytes to leave a wire that closes. The transport destroys the socket after it. */
export const CLOSE_MS = 1_000;

/** Written bytes that the device has not read. Beyond it the agent reads no further chunk until the device reads them. */
export const UNREAD_BYTES_MAX = 64 * 1024;

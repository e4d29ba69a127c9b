import type { GaveWay, LineState } from "./line-state.ts";
import type { NoiseState, RefusedCaller } from "./noise-state.ts";

// The state of one device, in the running agent and in the spool for `status`. Times are in ms since 1970.

export interface DeviceState {
  readonly id: string;
  readonly profile: string;
  readonly connected: boolean;
  readonly is: LineState["is"] | "connected";
  /** The problem with its remedy, or null. */
  readonly reason: string | null;
  /** The parts of a reason that comes from the line. */
  readonly fault?: string;
  readonly remedy?: string | null;
  /** Its code and the values of its words. */
  readonly code?: string;
  readonly values?: readonly string[];
  /** The problem may be a device that is switched off. */
  readonly mayBeOff: boolean;
  /** Start of the state. */
  readonly since: number;
  readonly lastMessageAt: number | null;
  readonly lastBytesAt: number | null;
  readonly lastWarning: { readonly at: number; readonly reason: string } | null;
  /** Undefined if no connection was closed for another one. */
  readonly gaveWay?: GaveWay;
  /** Undefined if every byte belonged to a message. */
  readonly noise?: NoiseState;
  /** The latest last. Undefined if every address was allowed. */
  readonly refused?: readonly RefusedCaller[];
  /** Counts since the start of the agent. */
  readonly counters: DeviceCounters;
}

interface DeviceCounters {
  readonly bytes: number;
  readonly messages: number;
  readonly warnings: number;
  /** Bytes outside any message. */
  readonly noiseBytes: number;
}

/** The part of the state that the spool stores as JSON. The rest has columns of its own. */
export type StoredDeviceState = Omit<DeviceState, "id" | "profile" | "connected" | "lastMessageAt" | "lastBytesAt">;

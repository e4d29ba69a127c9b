import type { GaveWay, LineState } from "./line-state.ts";

// The state of one device, as the running agent has it and as the spool keeps it for `status`. Times are milliseconds since 1970.

export interface DeviceState {
  readonly id: string;
  readonly profile: string;
  readonly connected: boolean;
  readonly is: LineState["is"] | "connected";
  /** Why it cannot be reached, and what to do; null if nothing is wrong. */
  readonly reason: string | null;
  /** The device may only be switched off. */
  readonly mayBeOff: boolean;
  /** Since when it is so. */
  readonly since: number;
  readonly lastMessageAt: number | null;
  readonly lastBytesAt: number | null;
  readonly lastWarning: { readonly at: number; readonly reason: string } | null;
  /** Absent as long as every connection found room. */
  readonly gaveWay?: GaveWay;
  /** Since the agent started. */
  readonly counters: DeviceCounters;
}

interface DeviceCounters {
  readonly bytes: number;
  readonly messages: number;
  readonly warnings: number;
  /** Bytes that belong to no message. */
  readonly noiseBytes: number;
}

/** A device's state without what has a column of its own in the spool. */
export type StoredDeviceState = Omit<DeviceState, "id" | "profile" | "connected" | "lastMessageAt" | "lastBytesAt">;

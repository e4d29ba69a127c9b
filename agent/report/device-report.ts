export interface DeviceReport {
  /** Name that the device gives itself. */
  readonly device: string;
  readonly topic: "status" | "event" | "operators";
  /** JSON. */
  readonly content: string;
}

export type Lock = "LOCK" | "UNLOCK";

import type Database from "better-sqlite3";

export interface DeviceTimes {
  readonly id: string;
  /** Milliseconds since 1970; null before the first message, and before the first byte. */
  readonly lastMessageAt: number | null;
  readonly lastBytesAt: number | null;
}

/** Returns when each device was last heard, also before the agent started. */
export function readDeviceTimes(db: Database.Database): DeviceTimes[] {
  return db
    .prepare("SELECT id, last_message_at AS lastMessageAt, last_bytes_at AS lastBytesAt FROM device")
    .all() as DeviceTimes[];
}

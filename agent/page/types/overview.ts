// The agent's page: `/local/v1/overview`.

export type LocalOverview = LocalStart | LocalRunning;

/** No configuration exists yet. */
interface LocalStart {
  readonly state: "not set up";
  readonly version: string;
  /** The path of the configuration file that the set-up will write. */
  readonly file: string;
}

export interface LocalRunning {
  readonly state: "running";
  readonly version: string;
  readonly file: string;
  /** An upgrade that is under way, or the last one if it failed and no later version runs. */
  readonly upgrade: {
    readonly to: string;
    /** preparing, trying, rolled back, refused */
    readonly state: string;
    readonly reason: string | null;
  } | null;
  readonly started_at: string;
  /** The content of /readyz. */
  readonly ready: {
    readonly ready: boolean;
    readonly problems: readonly LocalFinding[];
    readonly warnings: readonly LocalFinding[];
  };
  readonly server: { readonly url: string; readonly state: string; readonly reason: string | null };
  /** This machine's clock minus the server's; null before the first response. */
  readonly clock_offset_s: number | null;
  readonly outbox: { readonly depth: number; readonly oldest_at: string | null };
  /** Kept messages that could not be read or filed, and when the newest one came. */
  readonly quarantined: { readonly count: number; readonly last_at: string | null };
  readonly devices: readonly LocalDevice[];
}

interface LocalFinding {
  /** `spool`, `server` or the id of a device. */
  readonly what: string;
  readonly reason: string;
  readonly since: string | null;
}

export interface LocalDevice {
  readonly id: string;
  readonly profile: string;
  /** A newer revision of its own profile, which is not adopted; null without one. */
  readonly newer_profile: string | null;
  /** The protocol of the profile. A `dicom` device sends files. */
  readonly protocol: string;
  /** The port or address of the device. */
  readonly line: string;
  readonly way: "serial" | "listen" | "dial" | "folder";
  /** The state of the line: connected, listening, opening, connecting, cannot open, cannot listen, cannot connect. */
  readonly state: string;
  /** The problem, and what to do about it. */
  readonly reason: string | null;
  /** Its code and the values of its words. Absent without a fault of the line. */
  readonly code?: string;
  readonly values?: readonly string[];
  /** The problem may be a device that is switched off. */
  readonly may_be_off: boolean;
  readonly since: string;
  readonly last_bytes_at: string | null;
  readonly last_message_at: string | null;
  readonly last_warning: { readonly at: string; readonly reason: string } | null;
  /** Messages since midnight. */
  readonly today: {
    readonly received: number;
    readonly filed: number;
    readonly unmatched: number;
    readonly quarantined: number;
    readonly not_for_patients: number;
  };
  /** Bytes since the last message that belong to none, if they are worth a user's time. */
  readonly noise: { readonly bytes: number; readonly protocol: string | null; readonly hex: readonly string[] } | null;
  /** Addresses that `allow` lacks, the latest first. */
  readonly refused: readonly { readonly address: string; readonly count: number; readonly at: string }[];
  /** Silent connections were closed to make room: the sentence of the agent. */
  readonly gave_way: string | null;
}

/** The event `lines` of `/local/v1/devices/ID/bytes`. */
export interface LiveLine {
  readonly at: string;
  /** `line` reports the line itself: closed, silent, or a fault in the bytes before. */
  readonly from: "device" | "agent" | "line";
  readonly text: string;
}

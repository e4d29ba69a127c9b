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
  readonly started_at: string;
  /** The content of /readyz. */
  readonly ready: {
    readonly ready: boolean;
    readonly problems: readonly LocalFinding[];
    readonly warnings: readonly LocalFinding[];
  };
  readonly server: { readonly url: string; readonly state: string; readonly reason: string | null };
  /** This machine's clock minus the server's; null before the first answer. */
  readonly clock_offset_s: number | null;
  readonly outbox: { readonly depth: number; readonly oldest_at: string | null };
  readonly patients: number;
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
  /** The port or address of the device. */
  readonly line: string;
  /** The state of the line: connected, listening, opening, connecting, cannot open, cannot listen, cannot connect. */
  readonly state: string;
  /** The problem, and what to do about it. */
  readonly reason: string | null;
  readonly since: string | null;
  readonly last_bytes_at: string | null;
  readonly last_message_at: string | null;
  readonly last_warning: { readonly at: string; readonly reason: string } | null;
  /** Stored messages by state. */
  readonly counts: Readonly<Record<string, number>>;
  /** Bytes since the last message that belong to none. */
  readonly noise: { readonly bytes: number; readonly sample: string; readonly protocol: string | null } | null;
}

export interface ServerState {
  readonly is:
    | "not asked yet"
    | "reached"
    | "cannot be reached"
    | "wrong key"
    | "key lacks permission"
    | "does not work";
  /** The problem; null if there is none. */
  readonly reason: string | null;
  /** Only worklists go without: the key lacks the permission for appointments alone. */
  readonly isMinor: boolean;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export const NOT_ASKED_YET: Omit<ServerState, "since"> = { is: "not asked yet", reason: null, isMinor: false };

export interface ServerState {
  readonly is:
    | "not asked yet"
    | "reached"
    | "cannot be reached"
    | "wrong key"
    | "key lacks permission"
    | "does not work";
  readonly reason: string | null;
  /** The key lacks only the permission for appointments, so that only worklists and host queries are affected. */
  readonly isMinor: boolean;
  /** Start of the state in ms since 1970. */
  readonly since: number;
}

export const NOT_ASKED_YET: Omit<ServerState, "since"> = { is: "not asked yet", reason: null, isMinor: false };

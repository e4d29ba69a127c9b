import type Database from "better-sqlite3";

/** What the agent last found of its server, as `status` shows it. */
export interface ServerState {
  /** `problem`: why the server cannot be used; null when it can. */
  readonly server: { readonly problem: string | null };
  /** This machine's clock less the server's, in seconds; null until an answer with a Date came. */
  readonly clock: { readonly offset_s: number } | null;
}

/** The row of the spool's `meta` that holds it. */
export const SERVER_STATE = "server";

export function readServerState(db: Database.Database): ServerState {
  const stored = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(SERVER_STATE) as string | undefined;
  return stored === undefined ? { server: { problem: null }, clock: null } : (JSON.parse(stored) as ServerState);
}

/** The state as lines of `status`; none while nothing is wrong. */
export function serverStateLines({ server, clock }: ServerState): string[] {
  const offset = clock?.offset_s ?? 0;
  return [
    ...(server.problem === null ? [] : [server.problem]),
    ...(Math.abs(offset) > 60 ? [clockSentence(offset)] : []),
  ];
}

export function clockSentence(offsetS: number): string {
  const direction = offsetS > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${Math.abs(offsetS)} s ${direction} the server's, expected at most 60 s: set the one that is wrong`;
}

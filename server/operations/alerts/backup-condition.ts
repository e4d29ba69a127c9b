import type { Condition } from "./kinds.ts";

/** The last attempt to make a backup, as shared/platform/care/backup-state.ts records it. */
export interface LastBackup {
  /** ISO 8601. */
  readonly at: string;
  /** The failure, with its remedy; null if nothing failed. */
  readonly error: string | null;
}

/** `machine` is the name of the machine whose data folder the backup is of. */
export function backupCondition(last: LastBackup | null, machine: string, now: number): Condition[] {
  if (last === null || last.error === null) return [];
  const since = Date.parse(last.at) || now;
  return [{ key: "backup-failed", kind: "backup-failed", subject: machine, since, reason: last.error }];
}

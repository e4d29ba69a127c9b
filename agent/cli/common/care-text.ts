import type { BackupState } from "../../../shared/platform/care/backup-state.ts";
import { byteText, plural } from "../../../shared/platform/cli/output.ts";
import { localTime } from "../../../shared/runtime/local-time.ts";
import type { Retention } from "../../spool/queries/retention.ts";

// Writes the retention and the state of the backups in words.

export function retentionLines({ kept_days, bytes, settled, unsettled, next_removal_at }: Retention): string[] {
  const next = next_removal_at === null ? "" : `; the oldest is removed from ${localTime(next_removal_at)} on`;
  return [
    `messages stay ${kept_days} days: ${settled} settled, ${byteText(bytes)} in the spool${next}`,
    ...(unsettled === 0
      ? []
      : [`${plural(unsettled, "unmatched or quarantined message")} stay until they are settled`]),
  ];
}

/** `isScheduled` if agent.yaml has a backup schedule. */
export function backupLine(state: BackupState | null, isScheduled: boolean): string {
  if (!isScheduled) return "backups: none are scheduled, add backup: { folder: ... } to agent.yaml";
  if (state === null) return "backups: none yet, the first is made within minutes of the start";
  const { last, succeeded } = state;
  const good =
    succeeded === null
      ? "none was made so far"
      : `the last is of ${localTime(succeeded.at)}, ${byteText(succeeded.bytes ?? 0)}, ${succeeded.file}`;
  return last.error === null ? `backups: ${good}` : `BACKUP FAILED ${localTime(last.at)}: ${last.error}; ${good}`;
}

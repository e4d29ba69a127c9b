import { readBackupState } from "../../../shared/platform/care/backup-state.ts";
import { configCheck } from "../check/check.ts";
import { ok, skipped, warning } from "../check/finding.ts";

/** Backups are daily, so an older success means that the agent did not run or failed since. */
const AGE_MS_MAX = 3 * 86_400_000;

export const backups = configCheck("backup", "Backup", ({ backup, data }) => {
  if (backup === null) return [skipped("backup.none", "agent.yaml has no backup")];
  const state = readBackupState(data);
  if (state === null) return [ok("backup.first", "the first backup follows while the agent runs")];
  const { last, succeeded } = state;
  if (last.error !== null) {
    const remedy = "once that is mended, run agent backup FILE, or wait for the next night";
    return [warning("backup.failed", `the last backup failed: ${last.error}`, remedy)];
  }
  if (succeeded === null || Date.now() - Date.parse(succeeded.at) > AGE_MS_MAX) {
    const sentence = `the last backup is of ${(succeeded?.at ?? last.at).slice(0, 10)}`;
    return [warning("backup.old", sentence, "let the agent run through the day, or run agent backup FILE now")];
  }
  return [ok("backup.fresh", `the last backup is of ${succeeded.at.slice(0, 10)}`)];
});

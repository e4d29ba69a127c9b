import fs from "node:fs";
import path from "node:path";
import { readBackupState } from "./backup-state.ts";
import { isBackupName } from "./schedule.ts";

const TIME = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.backup$/;

/**
 * Returns the time of the oldest backup in the folder of the scheduled backups, as ISO 8601. @returns null if the data folder has no
 * record of a backup, or the folder cannot be read
 */
export function oldestBackup(data: string): string | null {
  const state = readBackupState(data);
  if (state === null) return null;
  try {
    const names = fs.readdirSync(path.dirname(state.last.file)).filter(isBackupName);
    const times = names.map((name) => name.replace(/^.*?(?=\d{4}-\d\d-\d\dT)/, "").replace(TIME, "$1T$2:$3:$4.000Z"));
    return times.toSorted()[0] ?? null;
  } catch {
    return null;
  }
}

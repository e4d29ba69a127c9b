import type { Logger } from "pino";
import type { BackupState } from "../shared/platform/care/backup-state.ts";
import { scheduleBackups } from "../shared/platform/care/scheduled-backup.ts";
import type { Config } from "./config/values/schema.ts";
import type { Metrics } from "./status/metrics.ts";
import { backupSource } from "./backup-source.ts";

// The daily backup of the running agent.

export interface DailyBackup {
  /** Null without backups in the configuration, and before the first one. */
  state(): BackupState | null;
  stop(): Promise<void>;
}

/** Starts the daily backups of agent.yaml. Each outcome goes to the log and the metrics. */
export function startDailyBackup(config: Config, metrics: Metrics, log: Logger): DailyBackup {
  const { backup } = config;
  if (backup === null) return { state: () => null, stop: () => Promise.resolve() };
  const source = () => backupSource(config, backup.images);
  const backups = scheduleBackups(backup, source, (attempt) => {
    const { file, bytes, seconds, error } = attempt;
    show();
    if (error === null) log.info({ stage: "backup", file, bytes, seconds }, "a backup was made");
    else log.error({ stage: "backup", reason: error }, "the backup failed");
  });

  function show(): void {
    const state = backups.state();
    if (state === null) return;
    metrics.backupFailed.set(state.last.error === null ? 0 : 1);
    if (state.succeeded === null) return;
    metrics.backupSucceeded.set(Date.parse(state.succeeded.at) / 1000);
    metrics.backupBytes.set(state.succeeded.bytes ?? 0);
    metrics.backupSeconds.set(state.succeeded.seconds);
  }

  show();
  return backups;
}

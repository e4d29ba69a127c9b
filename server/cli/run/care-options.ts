import path from "node:path";
import { InvalidArgumentError, Option } from "commander";
import type { Logger } from "pino";
import { DEFAULT_KEEP, DEFAULT_TIME, TIME_OF_DAY } from "../../../shared/platform/care/schedule.ts";
import { type ScheduledBackups, scheduleBackups } from "../../../shared/platform/care/scheduled-backup.ts";
import { parsePositiveInteger } from "../../../shared/platform/cli/options.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { DEFAULT_LOG, type LogFileOptions } from "../../../shared/log/log-file.ts";
import { damagedStudies } from "../common/damaged-studies.ts";
import { backupSource, SERVER_BACKUP } from "../common/backup-source.ts";
import type { DataOption } from "../common/options.ts";

// The options of `run` for daily backups and a log file.

export interface CareOptions {
  readonly backupDir?: string;
  readonly backupAt: string;
  readonly backupKeep: number;
  readonly logFile?: string;
}

export function careOptions(): Option[] {
  return [
    new Option("--backup-dir <dir>", "make a backup there each day, best on another disk"),
    new Option("--backup-at <time>", "time of the backup on this machine's clock")
      .argParser(parseTimeOfDay)
      .default(DEFAULT_TIME),
    new Option("--backup-keep <count>", "number of backups that stay")
      .argParser(parsePositiveInteger)
      .default(DEFAULT_KEEP),
    new Option("--log-file <file>", "write the log there too; six files of 10 MB at most"),
  ];
}

export function logFileOf({ logFile }: CareOptions): LogFileOptions | null {
  if (logFile === undefined) return null;
  return { file: path.resolve(logFile), bytesMax: DEFAULT_LOG.megabytes * 1e6, keep: DEFAULT_LOG.keep };
}

/** Starts the daily backups, if --backup-dir names a folder for them. @throws Error for PostgreSQL, with its tools */
export function startBackups(options: CareOptions & DataOption, logger: Logger): ScheduledBackups | undefined {
  const { data, backupDir, backupAt: at, backupKeep: keep } = options;
  if (backupDir === undefined) return undefined;
  const source = backupSource(data);
  return scheduleBackups(
    { folder: path.resolve(backupDir), at, keep },
    () => source,
    ({ file, bytes, seconds, error }) => {
      if (error === null) {
        logger.info({ file, bytes, seconds }, "a backup was made");
        void warnOfDamage(path.join(data, SERVER_BACKUP.database), logger);
      } else logger.error({ reason: error }, "the backup failed");
    },
  );
}

/** Names the studies that the backup holds as the disk changed them. */
async function warnOfDamage(file: string, logger: Logger): Promise<void> {
  try {
    const reason = await damagedStudies(file);
    if (reason !== null) logger.warn({ reason }, "the backup holds damaged studies");
  } catch (error) {
    logger.warn({ reason: errorMessage(error) }, "the stored studies were not checked for damage");
  }
}

function parseTimeOfDay(text: string): string {
  if (new RegExp(TIME_OF_DAY).test(text)) return text;
  throw new InvalidArgumentError("expected hours and minutes, such as 03:30");
}

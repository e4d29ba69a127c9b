import type { BackupState } from "./backup-state.ts";

// When a backup is due, and how backups are named. Pure.

/** A time of the day, `03:30`, in the time zone of this machine. */
export const TIME_OF_DAY = "^([01]\\d|2[0-3]):[0-5]\\d$";
/** Before most clinics open and after most have closed. */
export const DEFAULT_TIME = "03:30";
export const DEFAULT_KEEP = 7;
/** Time from a failure to the next attempt. */
const RETRY_MS = 60 * 60_000;
/** A later backup is of a clock that was wrong, and counts for nothing. Otherwise there were none until that time. */
const AHEAD_MS = 24 * 60 * 60_000;

/** The backups that a running program makes by itself. */
export interface BackupSchedule {
  readonly folder: string;
  /** A time of the day as in TIME_OF_DAY. */
  readonly at: string;
  /** Number of backups that stay. */
  readonly keep: number;
}

/**
 * Whether a backup is due: none succeeded since the last time of the day. A machine that is off at night makes it in the
 * morning.
 */
export function isDue(now: number, at: string, state: BackupState | null): boolean {
  if (state === null) return true;
  const { last, succeeded } = state;
  if (succeeded !== null && isBetween(succeeded.at, lastTime(now, at), now + AHEAD_MS)) return false;
  return last.error === null || !isBetween(last.at, now - RETRY_MS + 1, now + AHEAD_MS);
}

function isBetween(time: string, from: number, until: number): boolean {
  const ms = Date.parse(time);
  return from <= ms && ms < until;
}

/** @returns the latest instant before now with that time of the day */
function lastTime(now: number, at: string): number {
  const [hour = 0, minute = 0] = at.split(":").map(Number);
  const day = new Date(now);
  day.setHours(hour, minute, 0, 0);
  if (day.getTime() > now) day.setDate(day.getDate() - 1);
  return day.getTime();
}

/** `vetwire-agent-desk-2026-11-21T03-30-00Z.backup` */
export function backupName(program: string, host: string, now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(":", "-");
  return `vetwire-${program}-${host.replaceAll(/[^\w-]/g, "_").slice(0, 63)}-${time}Z.backup`;
}

const NAME = /^vetwire-(?:agent|server)-[\w-]+-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/;

/** Whether a file may be a backup that a program made by itself. */
export function isBackupName(name: string): boolean {
  return NAME.test(name);
}

import { wallTime } from "../../dashboard/types/wall-time.ts";
import type { AlertKind } from "./kinds.ts";

/** Hours in which no messages are sent. Times are those of clocks on the wall, such as `22:00`; `until` may be of the next day. */
export interface QuietHours {
  readonly from: string;
  readonly until: string;
  /** Critical values are notified immediately. */
  readonly exemptCritical: boolean;
}

export const WALL_TIME = "^([01]\\d|2[0-3]):[0-5]\\d$";

/** Whether a message about this kind waits. The clocks on the wall decide, so that summer time needs no rule. */
export function isQuiet(hours: QuietHours | null, kind: AlertKind, now: number, timeZone: string): boolean {
  if (hours === null || (hours.exemptCritical && kind === "critical-unseen")) return false;
  const { from, until } = hours;
  const { time } = wallTime(now, timeZone);
  return from <= until ? from <= time && time < until : from <= time || time < until;
}

import type { EventStatus } from "../../shared/api/calendar.ts";

// The moves of a calendar event and the stretch of time a request selects.

const next: Readonly<Record<EventStatus, EventStatus | null>> = {
  SCHEDULED: "CHECKED_IN",
  CHECKED_IN: "IN_PROGRESS",
  IN_PROGRESS: "PENDING_CHECKOUT",
  PENDING_CHECKOUT: "CLOSED",
  CLOSED: null,
  CANCELLED: null,
};

/** Why an event may not go from one status to another, null when it may: one step forward, or cancelled before its end. */
export function eventStatusProblem(from: EventStatus, to: EventStatus): string | null {
  const following = next[from];
  if (following === null) return `status is ${to}, expected no other status, ${from} is final`;
  if (to === following || to === "CANCELLED") return null;
  return `status is ${to}, expected ${following} or CANCELLED after ${from}`;
}

const DAY_MS = 86_400_000;
export const RANGE_DAYS_MAX = 90;
const RANGE_DAYS_DEFAULT = 30;

/** The instants between which events start: `start` inclusive, `end` exclusive, milliseconds. */
export interface TimeRange {
  start: number;
  end: number;
}

/** @returns the selected range; the reason if the end lies before the start, or more than 90 days after it */
export function selectRange(
  start: number | null,
  end: number | null,
  now: number,
): TimeRange | "reversed" | "too long" {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const from = start ?? today;
  const until = end ?? defaultEnd(from, today);
  if (until < from) return "reversed";
  return until - from > RANGE_DAYS_MAX * DAY_MS ? "too long" : { start: from, end: until };
}

// "30 days ahead of today", also for a start that is not today; a start behind that gets its own 30 days.
function defaultEnd(start: number, today: number): number {
  const end = today + RANGE_DAYS_DEFAULT * DAY_MS;
  return end > start ? end : start + RANGE_DAYS_DEFAULT * DAY_MS;
}

import { type EventStatus, eventStatuses } from "../../../shared/api/calendar.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// Status order of calendar events, and the time range of a request.

const next: Readonly<Record<EventStatus, EventStatus | null>> = {
  SCHEDULED: "CHECKED_IN",
  CHECKED_IN: "IN_PROGRESS",
  IN_PROGRESS: "PENDING_CHECKOUT",
  PENDING_CHECKOUT: "CLOSED",
  CLOSED: null,
  CANCELLED: null,
};

/** @returns the statuses that may follow: the next step and CANCELLED, or none after a final status */
export function nextEventStatuses(from: EventStatus): EventStatus[] {
  const following = next[from];
  return following === null ? [] : [following, "CANCELLED"];
}

/** Allows one step forward, or CANCELLED before a final status. @returns the reason of an illegal change, else null */
export function eventStatusProblem(from: EventStatus, to: EventStatus): Refusal | null {
  const following = next[from];
  if (following === null) return refusal("EVENT.FINAL", to, from);
  if (to === following || to === "CANCELLED") return null;
  return refusal("EVENT.STATUS", to, from, following);
}

/**
 * Finds the status to which an undo takes an event back. `cancelledFrom` is the status in which it was cancelled, null if nobody
 * noted it. @returns null for an event that no user moved
 */
export function previousEventStatus(status: EventStatus, cancelledFrom: EventStatus | null): EventStatus | null {
  if (status === "CANCELLED") return cancelledFrom ?? "SCHEDULED";
  return eventStatuses.find((before) => next[before] === status) ?? null;
}

const DAY_MS = 86_400_000;
export const RANGE_DAYS_MAX = 90;
const RANGE_DAYS_DEFAULT = 30;

/** Range of start times in milliseconds since 1970: `start` inclusive, `end` exclusive. */
export interface TimeRange {
  start: number;
  end: number;
}

/** @returns the range; the reason if the end is before the start, or more than 90 days after it */
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

// The default end is 30 days after today. A later start gets 30 days of its own.
function defaultEnd(start: number, today: number): number {
  const end = today + RANGE_DAYS_DEFAULT * DAY_MS;
  return end > start ? end : start + RANGE_DAYS_DEFAULT * DAY_MS;
}

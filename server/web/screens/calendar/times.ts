import { addDays, instantsOf, startOfWeek, wallTime } from "../../../dashboard/types/wall-time.ts";

// Times of the form of an event and the days of a month, in the clinic's time zone.

const LENGTH_MS = 30 * 60_000;

/** The texts of the form's fields, such as `2026-11-25T09:00`. */
export interface Times {
  readonly start: string;
  readonly end: string;
}

/** The instants of an event, in milliseconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function spanOf({ start_at, end_at }: { readonly start_at: string; readonly end_at: string }): Span {
  return { start: Date.parse(start_at), end: Date.parse(end_at) };
}

export function printTimes({ start, end }: Span, zone: string | undefined): Times {
  return { start: print(start, zone), end: print(end, zone) };
}

/**
 * Reads the fields. Clocks show the last hour of summer time twice: an unchanged time keeps its instant, a changed start is the
 * nearest one, and a changed end the first one after the start.
 * @returns null in place of a time that clocks skip
 */
export function readTimes(
  times: Times,
  zone: string | undefined,
  opened: Span | null,
): { readonly start: number | null; readonly end: number | null } {
  const start = startIn(times.start, zone, opened);
  const ends = read(times.end, zone);
  const after = start === null ? [] : ends.filter((end) => end > start);
  const isAsOpened = opened !== null && print(opened.end, zone) === times.end && opened.end > (start ?? 0);
  return { start, end: isAsOpened ? opened.end : (after[0] ?? ends[0] ?? null) };
}

/** @returns the times after a change of the start, which moves the end: the event keeps its length */
export function withStart(times: Times, start: string, zone: string | undefined, opened: Span | null): Times {
  const { start: from, end: to } = readTimes(times, zone, opened);
  const length = from !== null && to !== null && to > from ? to - from : LENGTH_MS;
  const next = readTimes({ ...times, start }, zone, opened).start;
  return { start, end: next === null ? times.end : print(next + length, zone) };
}

/** The part of an event on one day: the times at which it starts and ends there; null where it goes on beyond the day. */
export interface DayPart {
  readonly from: string | null;
  readonly to: string | null;
}

/** @returns null for a day that the event does not touch; one that ends at midnight has no part of the day after */
export function partOfDay({ start, end }: Span, day: string, zone: string | undefined): DayPart | null {
  const first = wallTime(start, zone);
  const last = wallTime(Math.max(start, end - 1), zone);
  if (day < first.date || day > last.date) return null;
  return {
    from: day === first.date ? first.time : null,
    to: day === last.date ? wallTime(end, zone).time : null,
  };
}

/** @returns the days of the weeks (ISO 8601) in which a day's month lies */
export function daysOfMonth(day: string): string[] {
  const first = startOfWeek(`${day.slice(0, 7)}-01`);
  const next = addMonths(day, 1);
  const days: string[] = [];
  for (let shown = first; shown < next || days.length % 7 !== 0; shown = addDays(shown, 1)) days.push(shown);
  return days;
}

/** @returns the first day of a later or earlier month */
export function addMonths(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 10);
}

function startIn(text: string, zone: string | undefined, opened: Span | null): number | null {
  const starts = read(text, zone);
  if (opened === null) return starts[0] ?? null;
  if (print(opened.start, zone) === text) return opened.start;
  const distance = (instant: number) => Math.abs(instant - opened.start);
  return starts.toSorted((one, other) => distance(one) - distance(other))[0] ?? null;
}

function read(local: string, zone: string | undefined): number[] {
  const [date = "", time = ""] = local.split("T");
  return instantsOf(date, time.slice(0, 5), zone);
}

function print(instant: number, zone: string | undefined): string {
  const { date, time } = wallTime(instant, zone);
  return `${date}T${time}`;
}

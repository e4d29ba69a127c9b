import { DateTime } from "luxon";
import { timestampProblem } from "../../shared/schema/timestamp.ts";
import { ACQUIRED_FROM } from "../../shared/clinical/study-checks.ts";

/**
 * Device times: `20261121`, `202611210930`, `20261121093015`, with or without an offset (LIS02-A2 §5.6.2, HL7 TS).
 * Bionote writes `20261121 09:30:15+0300`, a URIT-8030 `2026-11-21`. A URIT-5160 also writes years such as 0111.
 */
const DEVICE_TIME =
  /^((?:19|20)\d\d)-?(\d\d)-?(\d\d)(?:[ T]?(\d\d):?(\d\d)(?::?(\d\d))?)?(?:\.\d+)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/i;

/**
 * A date with its year first, such as `2026/11/2 9:05`, or last. Points alone put the day first in every country: `21.11.2026 09:05`.
 */
const SEPARATED =
  /^(?:(?<year>\d{4})(?<mark>[-/.])(?<month>\d\d?)\k<mark>(?<day>\d\d?)|(?<first>\d\d?)(?<lastMark>[-/.])(?<second>\d\d?)\k<lastMark>(?<yearLast>\d{4}))(?:(?: +|T)(?<hour>\d\d?)(?<rest>:.+))?$/;

/** Returns a time with separators in the order and the width of DEVICE_TIME; other text as it is. */
function ordered(text: string): string {
  const parts = SEPARATED.exec(text.trim())?.groups;
  if (parts === undefined) return text.trim();
  const { year, month, day, yearLast, first = "", lastMark = "", second = "", hour, rest = "" } = parts;
  const monthAndDay = year === undefined ? orderedDay(first, second, lastMark) : [month, day];
  if (monthAndDay === null) return text.trim();
  const date = [year ?? yearLast, ...monthAndDay].map((part = "") => part.padStart(2, "0"));
  return date.join("-") + (hour === undefined ? "" : ` ${hour.padStart(2, "0")}${rest}`);
}

/** Returns month and day of a date with its year last; null if either may be the day: 5/11/2026. No month is beyond 12. */
function orderedDay(first: string, second: string, mark: string): readonly [month: string, day: string] | null {
  if (mark === ".") return [second, first];
  if (Number(first) > 12 === Number(second) > 12) return null;
  return Number(first) > 12 ? [second, first] : [first, second];
}

/** Converted times. The rows of a message repeat a few times, and luxon's zone lookup dominates the reading time. */
const knownTimes = new Map<string, string | null>();
const KNOWN_MAX = 256;

/**
 * Converts a device time to UTC with milliseconds. Without an offset the time is in the device's zone. @returns null
 * for an invalid date
 */
export function readTime(text: string, timeZone: string): string | null {
  const match = DEVICE_TIME.exec(ordered(text));
  if (match === null) return null;
  const key = [...match.slice(1), timeZone].join(" ");
  let time = knownTimes.get(key);
  if (time === undefined) {
    time = utc(match, timeZone);
    if (knownTimes.size === KNOWN_MAX) knownTimes.clear();
    knownTimes.set(key, time);
  }
  return time;
}

/** Returns the zone of an offset: `Z`, `+0300` or `+03:00`. */
function zoneOf(offset: string): string {
  return offset.toUpperCase() === "Z" ? "UTC" : `UTC${offset.slice(0, 3)}:${offset.slice(-2)}`;
}

function utc(match: RegExpExecArray, timeZone: string): string | null {
  const [, year, month, day, hour = "0", minute = "0", second = "0", offset] = match;
  const zone = offset === undefined ? timeZone : zoneOf(offset);
  const time = DateTime.fromObject(
    {
      year: Number(year),
      month: Number(month),
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
    },
    { zone },
  );
  if (!time.isValid) return null;
  // luxon resolves a repeated hour by today's offset, so the same message would change in winter. The first offset is
  // stable.
  const first = Math.min(...time.getPossibleOffsets().map((possible) => possible.toMillis()));
  return new Date(first).toISOString();
}

const DAY_MS = 24 * 60 * 60_000;
/** A device may send results that it has kept. Beyond this time in ms its date was more likely never set. */
const BEHIND_MS_MAX = 365 * DAY_MS;

/**
 * Returns whether the server would refuse a time in UTC: it lies more than a day after the receipt (`receivedAt`, in ms since
 * 1970), or before ACQUIRED_FROM.
 */
export function isImpossible(time: string, receivedAt: number): boolean {
  return timestampProblem(time, receivedAt, ACQUIRED_FROM) !== null;
}

/** Returns whether the device's clock is suspect: its time is impossible, or more than a year before the receipt. */
export function isSuspect(time: string, receivedAt: number): boolean {
  return isImpossible(time, receivedAt) || Date.parse(time) < receivedAt - BEHIND_MS_MAX;
}

/** Formats a time as `YYYYMMDDHHMMSS` of the zone, the format of LIS02-A2. */
export function writeTime(ms: number, timeZone: string): string {
  return DateTime.fromMillis(ms, { zone: timeZone }).toFormat("yyyyMMddHHmmss");
}

/** Formats a time as the zone's local time with its offset: `2026-05-04T09:00:00+02:00`. */
export function zonedTime(ms: number, timeZone: string): string {
  const second = Math.floor(ms / 1000);
  const last = shown.get(timeZone);
  if (last?.second === second) return last.text;
  const offset = offsetOf(ms, timeZone);
  const clock = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const text = `${clock}${offset < 0 ? "-" : "+"}${pad(hours)}:${pad(minutes)}`;
  shown.set(timeZone, { second, text });
  return text;
}

/** Last local time of each zone; many calls per second need the same one. */
const shown = new Map<string, { readonly second: number; readonly text: string }>();

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

/** Offset of each zone in the last requested quarter of an hour. Acknowledgements wait for it. */
const offsets = new Map<string, { readonly quarter: number; readonly minutes: number }>();

/** Returns the offset in minutes. No zone has changed its offset within a quarter of an hour since 1973. */
function offsetOf(ms: number, timeZone: string): number {
  const quarter = Math.floor(ms / 900_000);
  const last = offsets.get(timeZone);
  if (last?.quarter === quarter) return last.minutes;
  const minutes = DateTime.fromMillis(ms, { zone: timeZone }).offset;
  offsets.set(timeZone, { quarter, minutes });
  return minutes;
}

/** Returns the first millisecond of the zone's day that contains the time, and that of the next day. */
export function dayOf(ms: number, timeZone: string): { readonly from: number; readonly to: number } {
  const start = DateTime.fromMillis(ms, { zone: timeZone }).startOf("day");
  return { from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() };
}

/** Returns whether a device time has hour and minute. */
export function hasClock(text: string): boolean {
  return /^\d{4}-?\d\d-?\d\d[ T]?\d\d:?\d\d/.test(ordered(text));
}

/** Returns the date as `YYYY-MM-DD`, null for an invalid one. */
export function readDate(text: string): string | null {
  const [day = ""] = /^\d{4}-?\d\d-?\d\d/.exec(ordered(text)) ?? [];
  const time = readTime(day, "UTC");
  return time === null ? null : time.slice(0, 10);
}

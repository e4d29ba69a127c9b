import { timeZone } from "../../../text.ts";

// Days of the clinic's time zone.

/** Returns the first instant of a day such as 2026-11-21, or of a later day. */
export function startOfDay(day: string, plusDays = 0): string {
  const midnight = new Date(`${day}T00:00:00Z`);
  midnight.setUTCDate(midnight.getUTCDate() + plusDays);
  // The local time at that instant gives the zone's offset from UTC.
  return new Date(midnight.getTime() * 2 - Date.parse(`${clock(midnight)}Z`)).toISOString();
}

/** Returns the day of an instant, or of one some days later. Empty for a text that is not an instant. */
export function dayOf(instant: string, plusDays = 0): string {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return "";
  time.setUTCDate(time.getUTCDate() + plusDays);
  return clock(time).slice(0, "2026-11-21".length);
}

/** The local date and time in the clinic's zone, such as 2026-11-21T09:30:00. */
function clock(time: Date): string {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  // The Swedish format equals ISO 8601.
  return time.toLocaleString("sv-SE", zone).replace(" ", "T");
}

import { timeZone } from "../../../text.ts";

// Days of the clinic's time zone.

/** Returns the first instant of a day such as 2026-11-21, or of a day some days later. */
export function startOfDay(day: string, plusDays = 0): string {
  const midnight = new Date(`${day}T00:00:00Z`);
  midnight.setUTCDate(midnight.getUTCDate() + plusDays);
  // The zone's clock at that instant gives its distance from UTC.
  return new Date(midnight.getTime() * 2 - Date.parse(`${clock(midnight)}Z`)).toISOString();
}

/** Returns the day of an instant, or of one some days later. Empty for a text that is not an instant. */
export function dayOf(instant: string, plusDays = 0): string {
  const time = new Date(instant);
  if (Number.isNaN(time.getTime())) return "";
  time.setUTCDate(time.getUTCDate() + plusDays);
  return clock(time).slice(0, "2026-11-21".length);
}

/** The date and time that the clinic's clocks show, such as 2026-11-21T09:30:00. */
function clock(time: Date): string {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  // Swedish prints dates as ISO 8601 does.
  return time.toLocaleString("sv-SE", zone).replace(" ", "T");
}

// Times as text. The patterns of the schemas check the form of a time, and these functions whether it exists.

/**
 * Reads a date-time of RFC 3339 §5.6, to milliseconds since 1970. A date alone is the first instant of that day in UTC. A
 * time without an offset is UTC. Seconds may be absent, and an offset may lack its colon (ISO 8601). Fractions below a
 * millisecond are cut off. A leap second is the first second of the next day.
 * @returns null for any other text, and for a day or a time that does not exist
 */
export function readInstant(text: string): number | null {
  const {
    date,
    hour,
    minute,
    second = "00",
    fraction = "",
    sign,
    hours = "00",
    minutes = "00",
  } = RFC_3339.exec(text)?.groups ?? {};
  if (date === undefined || !isRealDate(date)) return null;
  if (hour === undefined) return Date.parse(date);
  const isLeap = second === "60";
  const time = `${hour}:${minute}:${isLeap ? "59" : second}.${fraction.padEnd(3, "0").slice(0, 3)}`;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const instant = Date.parse(`${date}T${time}Z`) - (sign === "-" ? -offsetMs : offsetMs);
  if (Number.isNaN(instant)) return null;
  if (!isLeap) return instant;
  return isEndOfMonth(instant) ? instant + 1000 : null;
}

const RFC_3339 =
  /^(?<date>\d{4}-\d\d-\d\d)(?:T(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d+))?)?(?:Z|(?<sign>[+-])(?<hours>[01]\d|2[0-3]):?(?<minutes>[0-5]\d))?)?$/i;

// A leap second is inserted at the end of a month in UTC (ITU-R TF.460-6 §2.1).
function isEndOfMonth(instant: number): boolean {
  const next = new Date(Math.floor(instant / 1000) * 1000 + 1000);
  return next.getTime() % 86_400_000 === 0 && next.getUTCDate() === 1;
}

/** Whether a timestamp of the form `2026-11-21T09:30:00.000Z` names an instant that exists (not 30 February). */
export function isRealInstant(text: string): boolean {
  const instant = new Date(text);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === text;
}

/** Whether a date of the form `2026-11-21` exists. */
export function isRealDate(text: string): boolean {
  return isRealInstant(`${text}T00:00:00.000Z`);
}

const DAY_MS = 86_400_000;

/** Whether a time is more than a day after `now`. Such a refusal may come from a wrong clock. */
export function isAfterClock(text: string, now: number): boolean {
  return Date.parse(text) > now + DAY_MS;
}

/**
 * Checks the time of a record: it exists, and lies between `from` and a day after `now` (milliseconds since 1970). The day
 * allows for clocks and time zones that differ. @returns the expected time, or null if the time is valid
 */
export function timestampProblem(text: string, now: number, from?: string): string | null {
  if (!isRealInstant(text)) return "a time that exists";
  if (isAfterClock(text, now)) return `at most a day after the clock's ${new Date(now).toISOString()}`;
  return from !== undefined && text < from ? `a time from ${from} on` : null;
}

// The schemas' patterns fix the form of a date; whether the day exists is asked here.

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

/**
 * Says what was expected of the time of a record, null for a time that can be: it exists, and lies at most a day after `now`
 * (milliseconds), because clocks and time zones differ; nor before `from`.
 */
export function whyNotTime(text: string, now: number, from?: string): string | null {
  if (!isRealInstant(text)) return "a time that exists";
  if (Date.parse(text) > now + DAY_MS) return `at most a day after the clock's ${new Date(now).toISOString()}`;
  return from !== undefined && text < from ? `a time from ${from} on` : null;
}

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

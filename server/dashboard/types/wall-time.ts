// Dates and times of the clocks on the wall, in a time zone. Undefined means the zone of the machine.

const DAY_MS = 86_400_000;

/** @returns the date and the time that clocks show at an instant, such as `2026-11-21` and `09:30` */
export function wallTime(instant: number, timeZone: string | undefined): { date: string; time: string } {
  const shown = new Date(asUtc(instant, timeZone)).toISOString();
  return { date: shown.slice(0, 10), time: shown.slice(11, 16) };
}

/**
 * @returns the instant at which clocks show a date and a time: the first one if they show it twice (end of summer time), null if
 * they skip it (start of summer time) or the text is not a date or time
 */
export function instantOf(date: string, time: string, timeZone: string | undefined): number | null {
  return instantsOf(date, time, timeZone)[0] ?? null;
}

/** @returns the instants at which clocks show a date and a time, the first one first: two at the end of summer time */
export function instantsOf(date: string, time: string, timeZone: string | undefined): number[] {
  const utc = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(utc)) return [];
  const offsets = new Set([utc - DAY_MS, utc + DAY_MS].map((near) => asUtc(near, timeZone) - near));
  return [...offsets]
    .map((offset) => utc - offset)
    .filter((instant) => asUtc(instant, timeZone) === utc)
    .toSorted((one, other) => one - other);
}

/** @returns the first instant of a day. Some zones skip midnight at the start of summer time */
export function startOfDay(date: string, timeZone: string | undefined): number {
  const start = instantOf(date, "00:00", timeZone) ?? instantOf(date, "01:00", timeZone);
  if (start === null) throw new RangeError(`date is ${date}, expected a day such as 2026-11-21`);
  return start;
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** @returns the Monday of the week (ISO 8601) */
export function startOfWeek(date: string): string {
  return addDays(date, -((new Date(date).getUTCDay() + 6) % 7));
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** @returns what clocks show at an instant, as if it were UTC. Without seconds, as zones of today have whole minutes */
function asUtc(instant: number, timeZone: string | undefined): number {
  const name = timeZone ?? "";
  const format =
    formats.get(name) ??
    new Intl.DateTimeFormat("en", {
      ...(timeZone !== undefined && { timeZone }),
      calendar: "gregory",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
  formats.set(name, format);
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts as Record<string, number | undefined>;
  return Date.UTC(year, month - 1, day, hour, minute);
}

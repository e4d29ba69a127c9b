// Converts between instants and the text of `<input type="datetime-local">`, in the clinic's time zone.

const MINUTE_MS = 60_000;

/** Prints an instant as `2026-11-21T12:30` in a zone; without one in the browser's. */
export function localText(instant: number, zone: string | undefined): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    ...(zone !== undefined && { timeZone: zone }),
  } as const).formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}`;
}

/** Reads such a text as an instant of the API. A time that a clock change skips is an hour later. @returns "" without a time */
export function instantOf(text: string, zone: string | undefined): string {
  const wanted = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted)) return "";
  // The offset of the zone depends on the instant, which is known only after the first guess.
  let instant = wanted;
  for (let guess = 0; guess < 2; guess += 1) {
    const shown = Date.parse(`${localText(instant, zone)}Z`);
    instant += wanted - shown;
  }
  return new Date(Math.floor(instant / MINUTE_MS) * MINUTE_MS).toISOString();
}

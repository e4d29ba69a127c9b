// Dates of a search (R4 §3.1.1.4.7): a prefix, and a date of any precision, which is the span of all its instants.

/** From its first millisecond since 1970 to the one after its last. */
export interface Span {
  readonly from: number;
  readonly before: number;
}

export const EVER: Span = { from: Number.MIN_SAFE_INTEGER, before: Number.MAX_SAFE_INTEGER };

const FORM =
  /^(eq|gt|lt|ge|le|sa|eb)?(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

/** Reads one value of a date parameter. A time without a zone is UTC. @returns null for another text */
export function readSearchDate(text: string): Span | null {
  // An unescaped `+` of a zone arrives as a space.
  const match = FORM.exec(text.replace(/ (?=\d\d:\d\d$)/, "+"));
  if (match === null) return null;
  const { from, before } = spanOf(match.slice(2)) ?? EVER;
  if (from === EVER.from) return null;
  switch (match[1] ?? "eq") {
    case "ge":
      return { ...EVER, from };
    case "gt":
    case "sa":
      return { ...EVER, from: before };
    case "le":
      return { ...EVER, before };
    case "lt":
    case "eb":
      return { ...EVER, before: from };
    default:
      return { from, before };
  }
}

export function intersection(spans: readonly Span[]): Span {
  return {
    from: Math.max(EVER.from, ...spans.map(({ from }) => from)),
    before: Math.min(EVER.before, ...spans.map(({ before }) => before)),
  };
}

export function isWithin(time: number, { from, before }: Span): boolean {
  return time >= from && time < before;
}

/** The span of a date by its parts: year, month, day, hour, minute, second, fraction, zone. Null for a day or time that does not exist. */
function spanOf(parts: readonly (string | undefined)[]): Span | null {
  const [year, month, day, hour, minute, second, fraction, zone] = parts;
  const given = [year, month ?? "01", day ?? "01"].join("-");
  const time = `${hour ?? "00"}:${minute ?? "00"}:${second ?? "00"}.${(fraction ?? "").padEnd(3, "0").slice(0, 3)}`;
  const start = new Date(`${given}T${time}Z`);
  // Date accepts the 30th of February.
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== given) return null;
  const end = new Date(start);
  if (month === undefined) end.setUTCFullYear(end.getUTCFullYear() + 1);
  else if (day === undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else if (hour === undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (second === undefined) end.setUTCMinutes(end.getUTCMinutes() + 1);
  else end.setTime(end.getTime() + (fraction === undefined ? 1000 : 10 ** Math.max(0, 3 - fraction.length)));
  const offset = offsetMs(zone);
  return offset === null ? null : { from: start.getTime() - offset, before: end.getTime() - offset };
}

function offsetMs(zone: string | undefined): number | null {
  if (zone === undefined || zone === "Z") return 0;
  const [hours = 0, minutes = 0] = zone.slice(1).split(":").map(Number);
  if (hours > 14 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

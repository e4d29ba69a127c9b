// The text of HL7 2.5.1: delimiters `|^~\&`, fields without their empty end, times with an offset.

/** Escapes a text for a field (2.5.1, section 2.7). Control characters would end the segment or the MLLP frame. */
export function escaped(text: string): string {
  return escapedDelimiters(text.replaceAll(/\p{Cc}+/gu, " "));
}

/** Escapes a remark, whose lines stay apart as `\.br\`. */
export function escapedLines(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => escaped(line).trimEnd())
    .join("\\.br\\");
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "E", "|": "F", "^": "S", "&": "T", "~": "R" };

function escapedDelimiters(text: string): string {
  return text.replaceAll(/[\\|^&~]/g, (delimiter) => `\\${ESCAPES[delimiter] ?? ""}\\`);
}

/** Joins texts to a field of components. */
export function components(...texts: readonly (string | null)[]): string {
  return texts
    .map((text) => escaped(text ?? ""))
    .join("^")
    .replace(/\^+$/, "");
}

/** Joins fields to a segment. Absent ones before a present one stay empty. */
export function segment(name: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(0, ...Object.entries(fields).flatMap(([index, text]) => (text === "" ? [] : [Number(index)])));
  const all = Array.from({ length: last }, (_, index) => fields[index + 1] ?? "");
  return [name, ...all].join("|");
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats an instant in a time zone: `20261121100030+0300`. */
export function hl7Time(instant: number, zone: string): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en", {
      ...{ timeZone: zone, calendar: "gregory", hourCycle: "h23", year: "numeric", month: "numeric" },
      ...{ day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
    });
  formats.set(zone, format);
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const {
    year = 0,
    month = 1,
    day = 1,
    hour = 0,
    minute = 0,
    second = 0,
  } = parts as Record<string, number | undefined>;
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  const offset = Math.round((shown - instant) / 60_000);
  const text = new Date(shown).toISOString().replaceAll(/\D/g, "").slice(0, 14);
  const size = Math.abs(offset);
  return `${text}${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}${two(size % 60)}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

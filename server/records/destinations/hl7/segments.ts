import { DateTime } from "luxon";

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

/** Formats an instant in a time zone: `20261121100030+0300`. */
export function hl7Time(instant: number, zone: string): string {
  return DateTime.fromMillis(instant, { zone, locale: "en" }).toFormat("yyyyMMddHHmmssZZZ");
}

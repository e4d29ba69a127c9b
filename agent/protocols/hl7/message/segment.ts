import { escapeText, hexadecimal, printable, unescapeText } from "../../escape-sequences.ts";
import { type Charset, decodeFrom } from "./charset.ts";

// Segments of HL7 v2. Fields, repetitions, components and sub-components count from 1, as in the standard; MSH-1 is the
// field separator itself. Segments are split on first access.

export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string;
  /** null if the header declares none (`MSH|^~|`). */
  readonly escape: string | null;
  readonly subcomponent: string | null;
}

export const STANDARD_DELIMITERS: Delimiters = {
  field: "|",
  component: "^",
  repetition: "~",
  escape: "\\",
  subcomponent: "&",
};

/** Repetitions of an empty field. */
const NOTHING: readonly (readonly string[])[] = [[""]];

export class Segment {
  /** Three letters or digits in upper case. */
  readonly name: string;
  /** Text as sent, without its line end; continuation lines are joined with LF. */
  readonly text: string;
  readonly #delimiters: Delimiters;
  readonly #charset: Charset;
  #fields: string[] | null = null;
  /** Split fields by number. A reader accesses the same few fields of every row. */
  readonly #repetitions: (readonly (readonly string[])[])[] = [];

  constructor(text: string, delimiters: Delimiters, charset: Charset = "utf-8") {
    this.name = text.slice(0, 3).toUpperCase();
    this.text = text;
    this.#delimiters = delimiters;
    this.#charset = charset;
  }

  /**
   * Returns the unescaped text of a field, delimiters included, because free text may hold a bare `&`. "" for a missing
   * field.
   */
  field(number: number): string {
    return this.#unescape(this.raw(number));
  }

  /** Returns the n-th component of the field's first repetition, unescaped, with its sub-components still joined. */
  component(number: number, component: number): string {
    const raw = this.raw(number);
    if (this.#isOnePart(raw)) return component === 1 ? raw : "";
    return this.components(number)[component - 1] ?? "";
  }

  /** Returns the components of the field's first repetition, unescaped. */
  components(number: number): readonly string[] {
    return this.repetitions(number)[0] ?? [];
  }

  /** Returns every repetition of the field as its components. */
  repetitions(number: number): readonly (readonly string[])[] {
    const raw = this.raw(number);
    if (raw === "") return NOTHING;
    if (this.#isOnePart(raw)) return [[raw]];
    this.#repetitions[number] ??= this.#split(number).map((components) =>
      components.map((text) => this.#unescape(text)),
    );
    return this.#repetitions[number];
  }

  /** Returns the sub-components of the n-th component of the field's first repetition. */
  subcomponents(number: number, component: number): string[] {
    const text = this.#split(number)[0]?.[component - 1] ?? "";
    return splitAt(text, this.#delimiters.subcomponent).map((part) => this.#unescape(part));
  }

  /** Returns the field as sent. */
  raw(number: number): string {
    this.#fields ??= this.#splitFields();
    return this.#fields[number] ?? "";
  }

  /** Number of the last sent field. */
  get length(): number {
    this.#fields ??= this.#splitFields();
    return this.#fields.length - 1;
  }

  #splitFields(): string[] {
    const fields = this.text.split(this.#delimiters.field);
    if (this.name === "MSH") fields.splice(1, 0, this.#delimiters.field);
    return fields;
  }

  /** Returns whether the text has neither delimiters nor escapes, as most fields. */
  #isOnePart(text: string): boolean {
    const { repetition, component, escape: mark } = this.#delimiters;
    return !text.includes(component) && !text.includes(repetition) && !(mark !== null && text.includes(mark));
  }

  /** Splits before escapes are decoded: an escaped delimiter is text. */
  #split(number: number): string[][] {
    const { repetition, component } = this.#delimiters;
    // MSH-2 holds the delimiters themselves.
    if (this.name === "MSH" && number <= 2) return [[this.raw(number)]];
    return this.raw(number)
      .split(repetition)
      .map((text) => text.split(component));
  }

  #unescape(text: string): string {
    const mark = this.#delimiters.escape;
    if (mark === null || !text.includes(mark)) return text;
    return unescapeText(text, mark, (code) => decodeEscape(code, this.#delimiters, this.#charset));
  }
}

/** Field as text or repetitions of components; component as text or sub-components. */
export type Field = string | readonly (readonly (string | readonly string[])[])[];

/** Encodes a segment without its CR, with escapes: the inverse of Segment. It does not support MSH. */
export function encodeSegment(name: string, fields: readonly Field[], delimiters = STANDARD_DELIMITERS): string {
  const { field, repetition, component, subcomponent } = delimiters;
  const escaped = (text: string) => escapeField(text, delimiters);
  const encoded = fields.map((value) => {
    if (typeof value === "string") return escaped(value);
    const repetitions = value.map((components) =>
      components.map((part) =>
        typeof part === "string" ? escaped(part) : part.map(escaped).join(subcomponent ?? component),
      ),
    );
    return repetitions.map((components) => components.join(component)).join(repetition);
  });
  return [name, ...encoded].join(field);
}

export function escapeField(text: string, { field, component, repetition, escape: mark, subcomponent }: Delimiters) {
  // No letter, digit or space is a delimiter, and an acknowledgement waits for its text.
  if (/^[A-Za-z0-9 ]*$/.test(text)) return text;
  const codes = new Map([
    [field, "F"],
    [component, "S"],
    [repetition, "R"],
    [mark, "E"],
    [subcomponent, "T"],
  ]);
  return escapeText(text, mark, codes);
}

function splitAt(text: string, delimiter: string | null): string[] {
  return delimiter === null ? [text] : text.split(delimiter);
}

/** Decodes an escape (chapter 2, "Use of escape sequences in text fields"). @returns null for an unknown code */
function decodeEscape(code: string, delimiters: Delimiters, charset: Charset): string | null {
  switch (code) {
    case "F":
      return delimiters.field;
    case "S":
      return delimiters.component;
    case "R":
      return delimiters.repetition;
    case "E":
      return delimiters.escape;
    case "T":
      return delimiters.subcomponent;
    case "H":
    case "N":
      return ""; // highlighting on and off
    case ".br":
      return "\n";
    default: {
      // BioSystems' own escape: `\Z03BC\g/L` holds a code point.
      const [, point] = /^Z((?!D[89A-F])[0-9A-F]{4})$/i.exec(code) ?? [];
      if (point !== undefined) return String.fromCharCode(Number.parseInt(point, 16));
      const bytes = hexadecimal(code);
      return bytes === null ? null : decodeFrom(charset, bytes);
    }
  }
}

/** Reads MSH-1 and MSH-2 by position. MSH-2 may be the component separator alone, `MSH|^|`. Results do not use a fifth character (truncation, v2.7). */
export function readDelimiters(header: string): Delimiters | { readonly problem: string } {
  // A maker's program may escape the escape mark itself: MSH|^~\\\\&|
  const [field = "", ...rest] = header.slice(3, 9).replace("\\\\", "\\").slice(0, 5);
  const end = rest.indexOf(field);
  const [component, repetition = STANDARD_DELIMITERS.repetition, escapeMark, subcomponent] =
    end < 0 ? rest : rest.slice(0, end);
  const used = [field, component, repetition, escapeMark ?? null, subcomponent ?? null].filter((char) => char !== null);
  const usable = used.every((char) => char !== undefined && /^[!-/:-@[-`{-~]$/.test(char));
  if (!usable || new Set(used).size !== used.length) {
    return {
      problem: `the header starts with ${printable(header)}, expected MSH and different delimiters such as |^~\\&`,
    };
  }
  return {
    field,
    component: component as string,
    repetition,
    escape: escapeMark ?? null,
    subcomponent: subcomponent ?? null,
  };
}

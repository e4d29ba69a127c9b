import { type Static, type TString, Type } from "typebox";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import type { Pattern } from "../../protocols/profile.ts";
import { PATTERN_CHARS_MAX, readPattern } from "./pattern.ts";

// The places at which a profile finds a text, such as `PID-5.1`, with what is done to its text, and conditions on places. First the forms,
// then how they read.

export const Words = Type.String({ minLength: 1, maxLength: 200 });
export const PatternText = Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX });
export const TextMap = Type.Record(Type.String(), Type.String({ maxLength: 200 }), { maxProperties: 2000 });

/** Patterns of places, which all have to match. `empty` matches a place without text. */
export const Test = Type.Record(Type.String(), PatternText);
export type Test = Static<typeof Test>;
/** One test, or several of which one has to hold. */
export const Condition = Type.Union([Test, Type.Array(Test, { minItems: 1, maxItems: 20 })]);
export type Condition = Static<typeof Condition>;
export const conditions = { when: Type.Optional(Condition), unless: Type.Optional(Condition) };

/** Makes the forms of a source. @param Place form of a place: `PID-5.1`, or the name of a column */
export function sourceForms(Place: TString) {
  /** A place, or what is done to its text. */
  const OneSource = Type.Union([
    Place,
    ClosedObject({
      at: Type.Optional(Place),
      /** The text itself in place of one from the message. */
      is: Type.Optional(Type.String({ maxLength: 64 })),
      /** Takes the first group of the match; the text is empty without a match. */
      match: Type.Optional(PatternText),
      /** Replaces a text by another one; a text that is not listed becomes empty. */
      map: Type.Optional(TextMap),
      /** Empties a text that matches. */
      drop: Type.Optional(PatternText),
      replace: Type.Optional(TextMap),
      ...conditions,
    }),
  ]);
  /** One source, or several of which the first with a text counts. */
  const Source = Type.Union([OneSource, Type.Array(OneSource, { minItems: 1, maxItems: 20 })]);
  return { OneSource, Source };
}

type Sources = ReturnType<typeof sourceForms>;
export type SourceForm = Static<Sources["OneSource"]> | Static<Sources["Source"]>;

/** A record of LIS02-A2 or a segment of HL7: fields and components from 1, as in the standards. */
interface Fields {
  field(number: number): string;
  component(number: number, component: number): string;
  raw(number: number): string;
}

/** Columns of a line of text, by their names. */
interface Columns {
  column(name: string): string;
}

/** The record that a layout of text makes; its places are names of columns. */
export const TEXT = "text";

/** The records that a text is read from, by their names: `R`, or `PID` and `OBR`, or `text`. */
export type Records = Readonly<Record<string, Fields | Columns>>;

/** Makes the record of a line of text. */
export function textRecord(columns: Readonly<Record<string, string>>): Records {
  return { [TEXT]: { column: (name) => (Object.hasOwn(columns, name) ? (columns[name] ?? "") : "") } };
}

/** Reads a text; "" without one. */
export type Source = (records: Records) => string;

const COLUMN = /^([a-z]\w*?)(\*?)$/;
const PLACE = /^([A-Z][A-Z0-9]{0,2})-(\d{1,2})(?:\.(\d{1,2}))?(\*?)$/;

/** Reads from a place of one of these records. Blanks around the text are dropped, unless `*` follows: then it is as sent. */
function placeOf(written: string, names: readonly string[]): Source {
  if (names.includes(TEXT)) return columnOf(written);
  const [, record = "", field = "", component, isRaw] = PLACE.exec(written) ?? [];
  if (!names.includes(record)) {
    throw new Error(`${written}, expected a place such as ${names.map((name) => `${name}-3.1`).join(" or ")}`);
  }
  const [number, part] = [Number(field), component === undefined ? null : Number(component)];
  return (records) => {
    const fields = records[record];
    if (fields === undefined || "column" in fields) return "";
    if (isRaw === "*") return fields.raw(number);
    return (part === null ? fields.field(number) : fields.component(number, part)).trim();
  };
}

function columnOf(written: string): Source {
  const [, name = "", isRaw] = COLUMN.exec(written) ?? [];
  if (name === "") throw new Error(`${written}, expected the name of a column`);
  return ({ [TEXT]: line }) => {
    const text = line !== undefined && "column" in line ? line.column(name) : "";
    return isRaw === "*" ? text : text.trim();
  };
}

/** Makes words with places in braces: `the device's check is {OBX-13}`. */
export function wordsOf(words: string, names: readonly string[]): Source {
  const gaps = [...words.matchAll(/\{([^}]+)\}/g)].map(([gap, place = ""]) => [gap, sourceOf(place, names)] as const);
  return (records) => gaps.reduce((text, [gap, source]) => text.replace(gap, () => source(records)), words);
}

/** Makes a source of its form in a profile. `names`: the records that it may read. */
export function sourceOf(form: SourceForm, names: readonly string[]): Source {
  return sourceAt(form, (place) => placeOf(place, names));
}

/** Makes the reader of the text at a place. */
type PlaceReader<Found> = (place: string) => (found: Found) => string;

/** Makes a source whose places are read by `placeReader`. */
export function sourceAt<Found>(form: SourceForm, placeReader: PlaceReader<Found>): (found: Found) => string {
  if (typeof form === "string") return placeReader(form);
  if (Array.isArray(form)) {
    const sources = form.map((each) => sourceAt(each, placeReader));
    return (found) => sources.reduce((text, source) => text || source(found), "");
  }
  const { at, is, match, map, drop, replace = {}, when, unless } = form;
  const applies = conditionAt(when, unless, placeReader);
  const base = is === undefined ? placeReader(at ?? "") : () => is;
  const [matching, dropped] = [match, drop].map((each) => (each === undefined ? null : readPattern(each)));
  return (found) => {
    if (!applies(found)) return "";
    let text = base(found);
    if (matching != null) text = matching.found(text)?.trim() ?? "";
    if (dropped?.test(text) === true) return "";
    for (const [part, by] of Object.entries(replace)) text = text.replaceAll(part, by);
    return map === undefined ? text : (map[text] ?? "");
  };
}

/** Makes a condition: one of `when` holds and none of `unless`. Without `when` the first part holds. */
export function conditionOf(
  when: Condition | undefined,
  unless: Condition | undefined,
  names: readonly string[],
): (records: Records) => boolean {
  return conditionAt(when, unless, (place) => placeOf(place, names));
}

export function conditionAt<Found>(
  when: Condition | undefined,
  unless: Condition | undefined,
  placeReader: PlaceReader<Found>,
): (found: Found) => boolean {
  const [wanted, refused] = [when, unless].map((each) => (each === undefined ? null : anyOf(each, placeReader)));
  return (found) => (wanted?.(found) ?? true) && !(refused?.(found) ?? false);
}

function anyOf<Found>(condition: Condition, placeReader: PlaceReader<Found>): (found: Found) => boolean {
  const alternatives = (Array.isArray(condition) ? condition : [condition]).map((each) => allOf(each, placeReader));
  return (found) => alternatives.some((holds) => holds(found));
}

/** A condition looks at the beginning of a text: a picture may be a megabyte. */
const TESTED_CHARS_MAX = 4096;

function allOf<Found>(tests: Test, placeReader: PlaceReader<Found>): (found: Found) => boolean {
  const parts = Object.entries(tests).map(([place, pattern]) => {
    const source = placeReader(place);
    if (pattern === "empty") return (found: Found) => source(found).trim() === "";
    const compiled = readPattern(pattern);
    return (found: Found) => compiled.test(source(found).slice(0, TESTED_CHARS_MAX));
  });
  return (found) => parts.every((holds) => holds(found));
}

/** Makes a pattern that is tested on the text of one place. */
export function patternAt(
  place: string,
  alternatives: readonly (readonly [Condition | undefined, Condition | undefined])[],
): Pattern | undefined {
  if (alternatives.length === 0) return undefined;
  const [name = ""] = place.split("-");
  const holds = alternatives.map(([when, unless]) => conditionOf(when, unless, [name]));
  return {
    test: (text) => {
      const fields = { field: () => text, component: () => text, raw: () => text };
      return holds.some((each) => each({ [name]: fields }));
    },
  };
}

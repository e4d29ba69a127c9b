import type { Pattern } from "../../protocols/profile.ts";
import type { Condition, SourceForm, Test } from "./schema.ts";
import { readPattern } from "./pattern.ts";

// Where a profile finds a text: a place such as `PID-5.1`, with what is done to its text, and conditions on places.

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
  if (typeof form === "string") return placeOf(form, names);
  if (Array.isArray(form)) {
    const sources = form.map((each) => sourceOf(each, names));
    return (records) => sources.reduce((found, source) => found || source(records), "");
  }
  const { at, is, match, map, drop, replace = {}, when, unless } = form;
  const applies = conditionOf(when, unless, names);
  const base: Source = is === undefined ? placeOf(at ?? "", names) : () => is;
  const [matching, dropped] = [match, drop].map((each) => (each === undefined ? null : readPattern(each)));
  return (records) => {
    if (!applies(records)) return "";
    let text = base(records);
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
  const [wanted, refused] = [when, unless].map((each) => (each === undefined ? null : anyOf(each, names)));
  return (records) => (wanted?.(records) ?? true) && !(refused?.(records) ?? false);
}

function anyOf(condition: Condition, names: readonly string[]): (records: Records) => boolean {
  const alternatives = (Array.isArray(condition) ? condition : [condition]).map((each) => allOf(each, names));
  return (records) => alternatives.some((holds) => holds(records));
}

/** A condition looks at the beginning of a text: a picture may be a megabyte. */
const TESTED_CHARS_MAX = 4096;

function allOf(tests: Test, names: readonly string[]): (records: Records) => boolean {
  const parts = Object.entries(tests).map(([place, pattern]) => {
    const source = placeOf(place, names);
    if (pattern === "empty") return (records: Records) => source(records).trim() === "";
    const compiled = readPattern(pattern);
    return (records: Records) => compiled.test(source(records).slice(0, TESTED_CHARS_MAX));
  });
  return (records) => parts.every((holds) => holds(records));
}

/** Makes a pattern that is tested on the text of one place. */
export function patternAt(
  place: string,
  conditions: readonly (readonly [Condition | undefined, Condition | undefined])[],
): Pattern | undefined {
  if (conditions.length === 0) return undefined;
  const [name = ""] = place.split("-");
  const holds = conditions.map(([when, unless]) => conditionOf(when, unless, [name]));
  return {
    test: (text) => {
      const fields = { field: () => text, component: () => text, raw: () => text };
      return holds.some((each) => each({ [name]: fields }));
    },
  };
}

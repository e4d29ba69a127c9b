import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";
import type { DeviceResult } from "../../report/report.ts";
import { baseOf, namesOf } from "./base.ts";
import type { ProfileForm } from "./schema.ts";
import {
  conditionOf,
  type Records,
  type Source,
  sourceOf,
  TEXT,
  textRecord,
  wordsOf,
  type SourceForm,
} from "./source.ts";
import { type Lines, layoutOf } from "./text-layout.ts";

// A profile of a text dialect from its file.

const COLUMNS = [TEXT];

/** Max results of a text. */
const ROWS_MAX = 1000;

export function textProfile(form: ProfileForm): TextProfile {
  const { link, device, text = [] } = form;
  const layouts = text.map(layoutOf);
  const sampleOf = sampleReader(form);
  return {
    protocol: "text",
    link: link as TextProfile["link"],
    ...baseOf(form),
    device_name: device.name ?? form.profile,
    read: (message) => {
      const layout = layouts.find(({ begins }) => begins?.test(message) ?? true);
      if (layout === undefined) return problem("the text begins as none of the layouts");
      const lines = layout.read(message);
      if (typeof lines === "string") return problem(lines);
      if (lines.rows.length > ROWS_MAX)
        return problem(`the text has ${lines.rows.length} results, at most ${ROWS_MAX}`);
      return sampleOf(lines);
    },
  };
}

function problem(reason: string): TextReading {
  return { is: "problem", reason };
}

function optionalSource(form: SourceForm | undefined): Source {
  return form === undefined || form === "none" ? () => "" : sourceOf(form, COLUMNS);
}

function sampleReader(form: ProfileForm): (lines: Lines) => TextReading {
  const { patient = {}, sample = {} } = form;
  const [identifier, name, species, sex, owner, born] = [
    ...[patient.identifier, patient.name, patient.species, patient.sex, patient.owner, patient.born],
  ].map(optionalSource) as [Source, Source, Source, Source, Source, Source];
  const specimen = optionalSource(sample.number);
  const comments = (sample.comments ?? []).map(({ at, as = "{text}" }) => ({ read: sourceOf(at, COLUMNS), as }));
  const { urine } = sample;
  const isUrine = urine === undefined ? null : urine === true ? () => true : conditionOf(urine, undefined, COLUMNS);
  const resultOf = resultReader(form);
  const commentOf = commentReader(form.results?.comment);
  return ({ facts, rows }) => {
    const found = textRecord(facts);
    const stated = comments.map(({ read, as }) => [read(found), as] as const).filter(([text]) => text !== "");
    const optional = { sex: sex(found), owner: owner(found), dateOfBirth: born(found) };
    return {
      is: "sample",
      sample: {
        ...{ identifier: identifier(found), name: name(found), species: species(found), specimen: specimen(found) },
        measuredAt: timeOf(facts),
        results: rows.filter((row) => typeof row !== "string").map((row) => resultOf(textRecord({ ...facts, ...row }))),
        ...Object.fromEntries(Object.entries(optional).filter(([, text]) => text !== "")),
        ...(isUrine === null ? {} : { urine: isUrine(found) }),
        comments: [
          ...rows.flatMap((row) => (typeof row === "string" ? [row] : commentOf(textRecord({ ...facts, ...row })))),
          ...stated.map(([text, as]) => as.replace("{text}", () => text)),
        ],
      },
    };
  };
}

/** Returns `YYYYMMDDHHMM` of the groups of a date; "" without one. A year of two digits is of this century. */
function timeOf({ year = "", month = "", day = "", hour = "", minute = "" }: Readonly<Record<string, string>>): string {
  if (year === "") return "";
  const century = year.length === 2 ? "20" : "";
  return century + [year, month, day, hour, minute].map((digits) => digits.padStart(2, "0")).join("");
}

function resultReader({ results = {}, flags, doubts = {}, rows = [] }: ProfileForm): (row: Records) => DeviceResult {
  const names = namesOf({ ...results, names: results.names ?? ["name"] }, COLUMNS) ?? (() => []);
  const [value, unit, flag, range] = [
    sourceOf(results.value ?? "value", COLUMNS),
    sourceOf(results.unit ?? "unit", COLUMNS),
    sourceOf(results.flag ?? "flag", COLUMNS),
    sourceOf(results.range ?? "range", COLUMNS),
  ];
  const words = results.words ?? {};
  const refusals = rows.map(({ when, unless, reason = "the device gives no value" }) => {
    return { holds: conditionOf(when, unless, COLUMNS), reason: wordsOf(reason, COLUMNS) };
  });
  const doubted = (doubts.when ?? []).map((rule) => {
    return { holds: conditionOf(rule.when, rule.unless, COLUMNS), words: wordsOf(rule.words, COLUMNS) };
  });
  return (row) => {
    const [text, mark] = [value(row), flag(row)];
    const reasons = doubted.filter(({ holds }) => holds(row)).map((doubt) => doubt.words(row));
    return {
      names: names(row),
      label: "",
      value: Object.hasOwn(words, text) ? (words[text] ?? "") : text,
      unit: unit(row),
      range: range(row),
      flag: flags !== undefined && Object.hasOwn(flags, mark) ? (flags[mark] ?? "") : mark,
      notFinal: refusals.find(({ holds }) => holds(row))?.reason(row) ?? null,
      ...(doubted.length === 0 ? {} : { doubt: reasons.join("; ") || null }),
    };
  };
}

function commentReader(form: NonNullable<ProfileForm["results"]>["comment"]): (row: Records) => string[] {
  if (form === undefined) return () => [];
  const holds = conditionOf(form.when, form.unless, COLUMNS);
  const words = wordsOf(form.words, COLUMNS);
  return (row) => (holds(row) ? [words(row)] : []);
}

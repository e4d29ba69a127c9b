import { type Static, Type } from "typebox";
import { Modality } from "../../../shared/api/study.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import type { RecordText, ResultFiles } from "../../protocols/file/profile.ts";
import { FILE_CHARSETS, type FileRecord, type Layout } from "../../protocols/file/layouts/records.ts";
import { cellTimeReader, dateFormat, timeReader } from "../../protocols/file/layouts/time-format.ts";
import { dotted } from "../../runtime/yaml-lines.ts";
import { stated, wordsByMark } from "./base.ts";
import { readPattern } from "./pattern.ts";
import { Evidence, type ProfileForm } from "./schema.ts";
import {
  Condition,
  conditionAt,
  conditions,
  PatternText,
  sourceAt,
  type SourceForm,
  sourceForms,
  TextMap,
  Words,
} from "./source.ts";

// A profile of protocol `file`, the files of an analyzer in a watched folder: its form, and the profile of a form. Its places are the
// columns of a table by their names or numbers (`Sample ID`, `col 4`), the named groups of a text's lines, and the paths of XML
// (`value`, `patient/@id`).

const Place = Type.String({ minLength: 1, maxLength: 100 });
const { OneSource, Source } = sourceForms(Place);
/** Parts that the published schema names, from the largest. */
export const namedFileParts: Readonly<Record<string, Type.TSchema>> = {
  columnSources: Source,
  columnSource: OneSource,
};

const Header = ClosedObject({
  /** Names of columns by which the header is known. */
  find: Type.Array(Place, { minItems: 1, maxItems: 20 }),
  /** Lines within which it is; default the first. */
  within: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
});
const Charset = Type.Optional(Type.Enum([...FILE_CHARSETS]));
/** The sign of decimals. `auto`: a comma only where the cells are separated by `;` or TAB. */
const Decimal = Type.Optional(Type.Enum(["auto", ".", ","]));

const FileLayoutForm = Type.Union([
  ClosedObject({
    kind: Type.Enum(["csv", "tsv", "xlsx"]),
    header: Header,
    separator: Type.Optional(Type.Enum(["auto", ",", ";", "\t", "|"])),
    ...{ decimal: Decimal, charset: Charset },
    /** The program appends to the file. */
    grows: Type.Optional(Type.Literal(true)),
  }),
  ClosedObject({
    kind: Type.Literal("txt"),
    /** Pattern of the lines between the samples. */
    split: Type.Optional(PatternText),
    /** Patterns of the lines with named groups: of the sample, of a result, or filler. The first that matches counts. */
    lines: Type.Array(ClosedObject({ as: Type.Enum(["sample", "result", "filler"]), pattern: PatternText }), {
      minItems: 1,
      maxItems: 50,
    }),
    ...{ decimal: Decimal, charset: Charset },
  }),
  ClosedObject({
    kind: Type.Literal("xml"),
    /** Name of the elements that are results. */
    records: Place,
    decimal: Decimal,
  }),
]);

export const FileProfileForm = ClosedObject({
  schema: Type.Literal(1),
  profile: Type.String({ pattern: "^(own/)?[a-z0-9][a-z0-9-]{0,62}$" }),
  revision: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  protocol: Type.Literal("file"),
  device: ClosedObject({ name: Words, modality: Type.Optional(Modality) }),
  evidence: Type.Optional(Evidence),
  file: FileLayoutForm,
  sample: ClosedObject({
    /** Number of the sample. Without it, the patient's identifier or name and the time are the sample. */
    number: Type.Optional(Source),
    /** These texts together name the run: they are the same in a correction, and no other run has them. */
    run: Type.Optional(Type.Array(OneSource, { minItems: 1, maxItems: 5 })),
    /** Day and month are never guessed: `format` is such as `dd/MM/yyyy h:mm a`. */
    time: ClosedObject({ at: Source, format: Words }),
    urine: Type.Optional(Condition),
    comments: Type.Optional(Type.Array(Source, { maxItems: 10 })),
  }),
  patient: Type.Optional(
    ClosedObject({
      ...{ identifier: Type.Optional(Source), name: Type.Optional(Source), owner: Type.Optional(Source) },
      ...{ species: Type.Optional(Source), breed: Type.Optional(Source), sex: Type.Optional(Source) },
      born: Type.Optional(Source),
    }),
  ),
  results: Type.Union([
    ClosedObject({
      per: Type.Literal("row"),
      /** Names of the test, the device's own code first. */
      names: Type.Array(OneSource, { minItems: 1, maxItems: 10 }),
      value: Source,
      ...{ unit: Type.Optional(Source), flag: Type.Optional(Source) },
      /** The interval as one text, or its two ends. */
      range: Type.Optional(Type.Union([Source, ClosedObject({ low: Source, high: Source })])),
    }),
    ClosedObject({
      per: Type.Literal("column"),
      /** The first column of a test. */
      from: Place,
      /** Columns after it that are not tests. */
      except: Type.Optional(Type.Array(Place, { maxItems: 100 })),
      /** `next`: the unnamed column after a test. */
      unit: Type.Optional(Type.Literal("next")),
    }),
  ]),
  rows: Type.Optional(
    Type.Array(
      ClosedObject({
        as: Type.Enum(["remark", "control", "no-result"]),
        ...conditions,
        reason: Type.Optional(Words),
      }),
      { maxItems: 200 },
    ),
  ),
  /** Catalogue's codes of the device's names. */
  analytes: Type.Optional(TextMap),
  /** Words of the device's doubts, by its flags. */
  doubts: Type.Optional(ClosedObject({ flags: Type.Record(Type.String(), Words) })),
});
export type FileProfileForm = Static<typeof FileProfileForm>;

/** The form of a profile of any protocol. */
export type AnyProfileForm = ProfileForm | FileProfileForm;

/** Extensions of the files of each kind. */
const EXTENSIONS = {
  csv: ["csv", "txt"],
  tsv: ["tsv", "txt"],
  xlsx: ["xlsx"],
  txt: ["txt"],
  xml: ["xml"],
} as const;
/** The extension of the documents that are kept with the studies. */
const DOCUMENT = "pdf";

const empty: RecordText = () => "";

/** @throws an Error that names what the form cannot mean */
export function fileProfile(form: FileProfileForm): ResultFiles {
  const { profile, device, file, sample, patient = {}, results, rows = [], analytes, doubts } = form;
  // A table without one of the named columns is another export, or one in another language.
  const places = new Set<string>();
  const at = (place: string) => {
    if (file.kind !== "txt" && file.kind !== "xml") places.add(place);
    return (record: FileRecord) => record.at(place);
  };
  const text = (source: SourceForm | undefined) => (source === undefined ? empty : sourceAt(source, at));
  const holds = (when: Condition | undefined, unless?: Condition) => conditionAt(when, unless, at);
  if (sample.number === undefined && patient.identifier === undefined && patient.name === undefined) {
    throw new Error("nothing names the sample, expected sample.number, patient.identifier or patient.name");
  }
  if (results.per === "column" && (file.kind === "txt" || file.kind === "xml")) {
    throw new Error(`results.per is column, expected row in a file of kind ${file.kind}`);
  }
  const kinds = rows.map(({ as, when, unless, reason = "the device gives no value" }) => {
    return { as, holds: holds(when, unless), reason };
  });
  const profileOf: ResultFiles = {
    id: profile,
    protocol: "file",
    link: { kind: "file", extensions: [...EXTENSIONS[file.kind], DOCUMENT] },
    content: "results",
    device_name: device.name,
    modality: device.modality ?? null,
    layout: layoutOf(file),
    places: [],
    sample: {
      number: text(sample.number),
      run: (sample.run ?? []).map(text),
      time: text(sample.time.at),
      readTime: file.kind === "xlsx" ? cellTimeReader(sample.time.format) : timeReader(sample.time.format),
      readDate: timeReader(dateFormat(sample.time.format)),
      format: sample.time.format,
      urine: sample.urine === undefined ? () => false : holds(sample.urine),
      comments: (sample.comments ?? []).map(text),
    },
    patient: Object.fromEntries(Object.entries(patient).map(([field, source]) => [field, text(source)])),
    results: resultsOf(results, text, at),
    rowKind: (record) => kinds.find((kind) => kind.holds(record)) ?? null,
    decimal: file.decimal ?? "auto",
    ...stated({ analytes, doubts: wordsByMark(doubts?.flags) }),
  };
  return { ...profileOf, places: [...places] };
}

function resultsOf(
  results: FileProfileForm["results"],
  text: (source: SourceForm | undefined) => RecordText,
  at: (place: string) => RecordText,
): ResultFiles["results"] {
  if (results.per === "column") {
    at(results.from);
    return { per: "column", from: results.from, except: results.except ?? [], unitIsNext: results.unit === "next" };
  }
  const { names, value, unit, range, flag } = results;
  const read = names.map((name) => text(name));
  return {
    per: "row",
    names: (record) => read.map((name) => name(record)),
    value: text(value),
    unit: text(unit),
    range: rangeOf(range, text),
    flag: text(flag),
  };
}

function rangeOf(
  range: Extract<FileProfileForm["results"], { readonly per: "row" }>["range"],
  text: (source: SourceForm | undefined) => RecordText,
): RecordText {
  if (typeof range !== "object" || !("low" in range)) return text(range);
  const [low, high] = [text(range.low), text(range.high)];
  return (record) => {
    const [from, to] = [low(record), high(record)];
    if (from !== "" && to !== "") return `${from}-${to}`;
    return from !== "" ? `>${from}` : to === "" ? "" : `<${to}`;
  };
}

function layoutOf(file: FileProfileForm["file"]): Layout {
  switch (file.kind) {
    case "csv":
    case "tsv":
    case "xlsx": {
      const { kind, header, separator = "auto", charset, grows = false } = file;
      return { kind, header: { within: 1, ...header }, separator, grows, ...stated({ charset }) };
    }
    case "txt": {
      const { kind, split, lines, charset } = file;
      const between = split === undefined ? null : readPattern(split);
      return {
        kind,
        isSplit: between === null ? null : (line) => between.test(line),
        lines: lines.map(({ as, pattern }) => {
          const groups = readPattern(pattern);
          return { as, read: (line) => groups.named(line)?.groups ?? null };
        }),
        ...stated({ charset }),
      };
    }
    case "xml":
      return { kind: "xml", records: file.records };
  }
}

/** Keys whose text is a pattern, and those whose values are. */
const [PATTERNS, CONDITIONS] = [new Set(["match", "drop", "pattern", "split"]), new Set(["when", "unless", "urine"])];

/** Returns the patterns of a form that cannot be read, with their places. */
export function patternProblems(
  form: unknown,
  steps: readonly string[] = [],
  isCondition = false,
): { readonly steps: readonly string[]; readonly words: string }[] {
  if (typeof form === "string") {
    const isPattern = isCondition ? form !== "empty" : PATTERNS.has(steps.at(-1) ?? "");
    const problem = isPattern ? problemOf(form) : null;
    return problem === null ? [] : [{ steps, words: `${dotted(steps)} ${problem}` }];
  }
  if (typeof form !== "object" || form === null) return [];
  return Object.entries(form).flatMap(([key, value]) =>
    patternProblems(value, [...steps, key], isCondition || CONDITIONS.has(key)),
  );
}

function problemOf(pattern: string): string | null {
  try {
    return readPattern(pattern).size < 0 ? "" : null;
  } catch (error) {
    return errorMessage(error);
  }
}

import { type Static, Type } from "typebox";
import { Modality } from "../../../shared/api/study.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { FILE_CHARSETS } from "../../protocols/file/layouts/records.ts";
import { PATTERN_CHARS_MAX } from "./pattern.ts";
import { Evidence, type ProfileForm } from "./schema.ts";

// The form of a profile of protocol `file`: the files of an analyzer in a watched folder. Its places are the columns of a table by
// their names or numbers (`Sample ID`, `col 4`), the named groups of a text's lines, and the paths of XML (`value`, `patient/@id`).

const Words = Type.String({ minLength: 1, maxLength: 200 });
const PatternText = Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX });
const Place = Type.String({ minLength: 1, maxLength: 100 });
const TextMap = Type.Record(Type.String(), Type.String({ maxLength: 200 }));

const Test = Type.Record(Type.String(), PatternText);
const Condition = Type.Union([Test, Type.Array(Test, { minItems: 1, maxItems: 20 })]);
const conditions = { when: Type.Optional(Condition), unless: Type.Optional(Condition) };

const OneSource = Type.Union([
  Place,
  ClosedObject({
    at: Type.Optional(Place),
    is: Type.Optional(Type.String({ maxLength: 64 })),
    match: Type.Optional(PatternText),
    map: Type.Optional(TextMap),
    drop: Type.Optional(PatternText),
    replace: Type.Optional(TextMap),
    ...conditions,
  }),
]);
const Source = Type.Union([OneSource, Type.Array(OneSource, { minItems: 1, maxItems: 20 })]);

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
    /** What names the run, together: it is the same in a correction, and no other run has it. */
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

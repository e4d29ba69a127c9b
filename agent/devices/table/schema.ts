import { type Static, Type } from "typebox";
import { Modality } from "../../../shared/api/study.ts";
import { CHARSETS } from "../../protocols/astm/records.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { textForm } from "../../../shared/schema/text-form.ts";
import { Condition, conditions, PatternText, sourceForms, Test, TextMap, Words } from "./source.ts";

// The form of a profile's file, beside the design in README.md. Each object is closed: a misspelled key is a fault and never ignored.

const Place = Type.String({
  pattern: textForm(String.raw`^([A-Z][A-Z0-9]{0,2}-\d{1,2}(\.\d{1,2})?|[a-z]\w{0,30})\*?$`, "a place such as PID-5.1"),
});
const { OneSource, Source: SourceForm } = sourceForms(Place);
/** Parts that the published schema names, from the largest. */
export const namedParts: Readonly<Record<string, Type.TSchema>> = {
  sources: SourceForm,
  source: OneSource,
  condition: Condition,
};

const optional = <T extends Record<string, Type.TSchema>>(fields: T) =>
  ClosedObject(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
      [Name in keyof T]: Type.TOptional<T[Name]>;
    },
  );

const Count = Type.Integer({ minimum: 1, maximum: 99 });

/** Line numbers of a DSR^Q03. */
const DisplayLines = ClosedObject({
  ...{ name: Count, sex: Count, specimen: Count },
  tests: Type.Union([Count, Type.Record(Type.String(), Count)]),
  ...{ identifier: Type.Optional(Count), born: Type.Optional(Count), weight: Type.Optional(Count) },
  ...{ species: Type.Optional(Count), orderedAt: Type.Optional(Count) },
  age: Type.Optional(ClosedObject({ number: Count, unit: Count })),
});

/** A rule for a line of a text: facts of the sample by its named groups, a result, or a comment as it is. */
const LineRule = ClosedObject({
  pattern: PatternText,
  ...conditions,
  as: Type.Optional(Type.Enum(["result", "comment"])),
  /** A text without such a line is a problem. */
  required: Type.Optional(Type.Literal(true)),
  /** The problem of two such lines with different texts, with `{before}` and `{now}`. Without it the later one counts. */
  twice: Type.Optional(Words),
});

/** A part of a text at a fixed place. `otherwise`: the problem of another text, with `{text}`, of which `shown` characters. */
const Part = ClosedObject({
  pattern: PatternText,
  otherwise: Words,
  shown: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
});

/**
 * Layout of a text without a checksum: each character has to belong to a line, or nothing is read. Dates are the groups year, month,
 * day, hour and minute.
 */
const TextLayout = ClosedObject({
  /** A text that begins otherwise has the next layout. */
  begins: Type.Optional(PatternText),
  /** 7: bit 7 is the parity. */
  bits: Type.Optional(Type.Literal(7)),
  lineEnds: Type.Optional(Type.Enum(["remove", "blank"])),
  split: Type.Optional(Type.Array(Type.Enum(["ETB", "lines"]), { minItems: 1, maxItems: 2 })),
  trim: Type.Optional(Type.Literal(true)),
  /** Characters of each line. */
  width: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  /** Lines of the text. */
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  first: Type.Optional(Part),
  last: Type.Optional(Part),
  /** The other parts consist of pieces of this many characters, or of texts that the lines match one after the other. */
  cut: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 200 }), Type.Literal("match")])),
  lines: Type.Array(LineRule, { minItems: 1, maxItems: 50 }),
  /** The problem of any other line, with `{text}` and `{line}`. */
  otherwise: Words,
  shown: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  /** The problem of a text without a result or a required line. */
  missing: Type.Optional(Words),
});
export type TextLayout = Static<typeof TextLayout>;

const Serial = optional({
  baudRate: Type.Integer({ minimum: 300, maximum: 921_600 }),
  dataBits: Type.Literal(7),
  parity: Type.Enum(["none", "even"]),
  stopBits: Type.Union([Type.Literal(1), Type.Literal(2)]),
  rtscts: Type.Literal(true),
});

const PROFILE_ID = textForm("^(own/)?[a-z0-9][a-z0-9-]{0,62}$", "an id such as boule-exigo or own/acme-x1");

/** The proof that the profile reads its device, from the weakest. `printout`: a capture beside its print-out. */
const EvidenceState = Type.Enum(["unverified", "parser", "document", "capture", "printout"]);
const proof = {
  state: EvidenceState,
  /** The meaning of the state here: `log`, `notes on one message`. */
  source: Type.Optional(Words),
  /** Results read of the results sent: `25 of 25`. */
  read: Type.Optional(Words),
  unverified: Type.Optional(Type.Array(Words, { maxItems: 50 })),
};
export const Evidence = ClosedObject({
  /** The models of the table of devices; default the device's name. */
  models: Type.Optional(Words),
  /** The protocol there, with its version: `HL7 2.3.1`. */
  protocol: Type.Optional(Words),
  ...proof,
  /** Other devices that the profile reads, each with its own proof. */
  also: Type.Optional(Type.Array(ClosedObject({ models: Words, ...proof }), { maxItems: 20 })),
});

export const ProfileForm = ClosedObject({
  schema: Type.Literal(1),
  /** A clinic's own profile begins with `own/`. */
  profile: Type.String({ pattern: PROFILE_ID }),
  revision: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  protocol: Type.Enum(["astm", "hl7", "text"]),
  link: Type.Union([
    ClosedObject({ kind: Type.Enum(["lis01", "mllp", "soh-eot"]) }),
    ClosedObject({ kind: Type.Literal("raw-records"), digitPrefixed: Type.Boolean() }),
    ClosedObject({ kind: Type.Literal("one-way"), end: Type.Enum(["ETX", "SUB"]) }),
  ]),
  serial: Type.Optional(Serial),
  device: optional({ name: Words, default: Words, modality: Modality }),
  charset: Type.Optional(Type.Enum([...CHARSETS])),
  evidence: Type.Optional(Evidence),
  /** Patterns of H-5 or of `MSH-3|MSH-4`. `marks` is of the complete message: set-up distinguishes related models by it. */
  recognize: Type.Optional(
    optional({
      ...{ sender: PatternText, notSender: PatternText, marks: PatternText },
      /** Pattern of the device's and its maker's names, in any case, at the places that a maker fills. */
      names: PatternText,
      /** As `marks`, of texts that related models of other makers write too. */
      sharedMarks: PatternText,
    }),
  ),
  text: Type.Optional(Type.Array(TextLayout, { minItems: 1, maxItems: 4 })),
  patient: Type.Optional(
    optional({
      ...{ identifier: SourceForm, name: SourceForm, owner: SourceForm },
      species: Type.Union([Type.Literal("none"), SourceForm]),
      ...{ sex: SourceForm, born: SourceForm },
    }),
  ),
  sample: Type.Optional(
    optional({
      time: Place,
      number: SourceForm,
      urine: Type.Union([Type.Literal(true), Type.Array(Test)]),
      comments: Type.Array(ClosedObject({ at: Place, split: Type.Optional(Type.String()), as: Type.Optional(Words) })),
    }),
  ),
  /** The reagent, cartridge or rotor of an order. Its lot is part of the device's log. */
  reagent: Type.Optional(ClosedObject({ name: SourceForm, lot: SourceForm })),
  results: Type.Optional(
    optional({
      /** Sources of names, the most reliable first; or alternatives of which the first with a name counts. */
      names: Type.Array(Type.Union([OneSource, Type.Array(OneSource)]), { minItems: 1, maxItems: 10 }),
      /** Pattern that a name has to match. */
      namesMatch: PatternText,
      unit: SourceForm,
      /** HL7: place of the value if the standard's one is empty, and its row has no range. Text: the value. */
      value: SourceForm,
      flag: SourceForm,
      /** Words of a text's values in place of the device's own. */
      words: TextMap,
      /** A comment of the study that a row of text makes, with columns in braces. */
      comment: ClosedObject({ ...conditions, words: Words }),
      /** The value's two groups: value and unit. */
      split: PatternText,
      /** Characters that may follow a number and are not part of it. */
      suffix: Type.String({ minLength: 1, maxLength: 10 }),
      range: SourceForm,
      /** Patterns of the note that holds the value of a row without one, and its unit: their first groups. */
      note: ClosedObject({ value: PatternText, unit: PatternText }),
      nullIsEmpty: Type.Literal(true),
    }),
  ),
  /** Catalogue's codes of the device's names. */
  analytes: Type.Optional(TextMap),
  /** Meanings of marks: H, L, N, other words, or nothing. */
  flags: Type.Optional(TextMap),
  /** Words of the device's doubts. A key may list marks: `OR DF`. `{mark}` is the mark. */
  doubts: Type.Optional(
    optional({
      flags: Type.Record(Type.String(), Words),
      besideValue: Type.Record(Type.String(), Words),
      /** `flag`: pattern of the row's marks, joined by blanks. */
      when: Type.Array(ClosedObject({ flag: Type.Optional(PatternText), ...conditions, words: Words })),
    }),
  ),
  statuses: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.Literal("final"), ClosedObject({ doubt: Words }), ClosedObject({ notFinal: Words })]),
    ),
  ),
  rows: Type.Optional(
    Type.Array(
      ClosedObject({
        as: Type.Enum(["remark", "note", "species", "data", "no-result"]),
        ...conditions,
        /** Why a row has no result, with places in braces. */
        reason: Type.Optional(Words),
      }),
      { maxItems: 200 },
    ),
  ),
  controls: Type.Optional(
    optional({
      order: Type.Union([PatternText, ClosedObject(conditions)]),
      withoutPatient: Type.Literal(true),
      expiredLot: Type.Literal(true),
      patientProcessing: PatternText,
      /** The control material, by the P and O records or by PID and OBR. */
      ...{ material: SourceForm, level: SourceForm, lot: SourceForm, expires: SourceForm },
      /** The target of a row. A range that the device prints is then the patients'. */
      target: ClosedObject({ mean: SourceForm, sd: SourceForm }),
      /** The result of a control that the device writes into its OBR. */
      inOrder: ClosedObject({ name: SourceForm, value: SourceForm, unit: SourceForm }),
    }),
  ),
  collect: Type.Optional(
    ClosedObject({
      hours: Count,
      /** Pattern of a number that names one sample, or `barcode`; default a barcode. */
      number: Type.Optional(PatternText),
      singles: Type.Optional(Type.Literal(true)),
    }),
  ),
  /** Order format of a device that accepts orders; see the protocol's OrderFormat. */
  orders: Type.Optional(
    optional({
      species: Type.Union([TextMap, Count]),
      neutered: ClosedObject({ M: Words, F: Words }),
      tests: ClosedObject({ pattern: PatternText, example: Words }),
      testSystem: Words,
      panel: Type.Array(Words, { maxItems: 3 }),
      patientRows: Type.Literal(true),
      displayFirst: Type.Literal(true),
      speciesRow: Type.Array(Words, { maxItems: 3 }),
      lines: DisplayLines,
    }),
  ),
  /** Numbers of fields that depart from LIS02-A2. */
  fields: Type.Optional(optional({ processing: Count, sentAt: Count, weight: Count, resultStatus: Count })),
  capabilities: Type.Optional(Type.Array(Words, { maxItems: 10 })),
});
export type ProfileForm = Static<typeof ProfileForm>;

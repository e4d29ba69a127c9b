import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Patient } from "./patient.ts";
import { Nullable, TIMESTAMP_PATTERN } from "./schema.ts";

// Diagnostic studies: what GET /api/v1/lab/diagnostics/{fp} returns
// and what the agent pushes to POST /agent/v1/studies.

export const Modality = Type.Enum(
  ["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS", "RADIOLOGY", "ULTRASOUND", "ENDOSCOPY"],
  { description: "Kind of the study: the first three are lab studies, the others imaging studies." },
);
export type Modality = Static<typeof Modality>;

export const Flag = Type.Enum(["normal", "low", "high", "critical"], {
  description:
    "The value against the reference interval of the patient's species at `acquired_at`. A bound is `normal`, a value " +
    "beyond a critical limit `critical`; null if no interval applies, which does not mean normal.",
});
export type Flag = Static<typeof Flag>;

/** The printed value is a bound: `<0.2` is value 0.2, comparator `<`. */
export const Comparator = Type.Enum(["<", "<=", ">", ">="], {
  description: "Present if `value` is a bound: a printed `<0.2` is the value 0.2 with the comparator `<`.",
});
export type Comparator = Static<typeof Comparator>;

/** One analyte of a study. `reference_range` and `flag` are null where no interval applies: never an invented normal. */
export const Result = Type.Object(
  {
    analyte: Type.String({ minLength: 1, maxLength: 64, description: "Short code of the analyte, such as `GLU`." }),
    value: Type.Number({ description: "The measured value, in `unit`." }),
    unit: Nullable(Type.String({ maxLength: 32, description: "Unit of `value`; null if it has none." })),
    reference_range: Nullable(
      Type.String({
        maxLength: 64,
        description: "Lower and upper bound with an ASCII hyphen, such as `3.3-6.1`; null if no interval applies.",
      }),
    ),
    flag: Nullable(Flag),
    comparator: Type.Optional(Comparator),
    value_text: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "The value as printed, such as `2+`; present if `value` is the rank of an ordinal result.",
      }),
    ),
  },
  { title: "AnalyteResult", description: "One analyte of a study.", additionalProperties: false },
);
export type Result = Static<typeof Result>;

/** A study as the read API returns it. */
export const Study = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("cds"), description: "Fingerprint of the study." }),
    patient_fp: Type.String({ pattern: fpPattern("patient"), description: "Fingerprint of the patient." }),
    modality: Modality,
    device_name: Type.String({ minLength: 1, maxLength: 200, description: "Name of the instrument." }),
    status: Type.Literal("COMPLETED", { description: "Every study is completed." }),
    acquired_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description: "Time of the measurement or of the images.",
    }),
    results: Type.Array(Result, { maxItems: 1000, description: "Empty for an imaging study without measurements." }),
  },
  { title: "DiagnosticStudy", description: "A lab or imaging study.", additionalProperties: false },
);
export type Study = Static<typeof Study>;

const hint = () => Nullable(Type.String({ maxLength: 200 }));

/** The device's description of the patient, for manual matching. */
export const PatientHint = Type.Object(
  {
    identifier: hint(),
    name: hint(),
    species: hint(),
    breed: hint(),
    sex: hint(),
    owner: hint(),
    date_of_birth: hint(),
    weight_kg: Nullable(Type.Number()),
  },
  { additionalProperties: false },
);
export type PatientHint = Static<typeof PatientHint>;

/** Inputs of one result, at the same index as the result in its study. */
export const RowSnapshot = Type.Object(
  {
    analyte: Result.properties.analyte,
    /** Code of the catalogue: a urine pad's GLU is our UGLU. Of a measurement in images its concept: `LN 18043-0`. */
    code: Type.String(),
    /** A row of the catalogue, `clinic:` and a row of the clinic's own, or "device". */
    interval_id: Nullable(Type.String()),
    /** Why there is no range or no flag. */
    reason: Nullable(Type.String()),
    /** As printed. */
    text: Type.String(),
    device_range: Nullable(Type.String()),
    /** The species that the device's range is for. */
    device_species: Nullable(Type.String()),
    device_flag: Nullable(Type.String()),
    /** Concept and modifiers of a measurement in images, in the device's words. */
    meaning: Type.Optional(Type.String({ maxLength: 400 })),
  },
  { additionalProperties: false },
);
export type RowSnapshot = Static<typeof RowSnapshot>;

/** The facts of a patient on which its intervals depend; see animalAt(). */
export const FlaggedPatient = Type.Object({
  species: Patient.properties.species,
  breed: Type.Optional(Patient.properties.breed),
  sex: Patient.properties.sex,
  date_of_birth: Patient.properties.date_of_birth,
});
export type FlaggedPatient = Static<typeof FlaggedPatient>;

/** Kept with a study; who reads the study never computes again. */
export const Snapshot = Type.Object(
  {
    /** Versions of the reference data and of the clinic's own intervals, null where it has none. */
    catalogue: Type.String(),
    ranges: Nullable(Type.String()),
    /** The patient for whom all rows were flagged; null: none, or not all of them for the same. Older agents do not say. */
    animal: Type.Optional(Nullable(FlaggedPatient)),
    /** By whose intervals: the device's name, or the configured model behind a generic profile. */
    instrument: Nullable(Type.String()),
    rows: Type.Array(RowSnapshot, { maxItems: 1000 }),
    /** Decisions, doubts, and results that make no row. */
    notes: Type.Array(Type.String(), { maxItems: 10_000 }),
    /** Digest of the images of the study: one that comes late is news too. */
    images: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Snapshot = Static<typeof Snapshot>;

/** A study as the agent pushes it: not yet matched when `patient_fp` is null. */
export const PushedStudy = Type.Object(
  {
    ...Study.properties,
    patient_fp: Nullable(Study.properties.patient_fp),
    // A person's acts add to it, and the database's column ends at 2 147 483 647.
    revision: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    dedupe_key: Type.String({ minLength: 1, maxLength: 200 }),
    source: Type.Object(
      { device_id: Type.String({ maxLength: 64 }), message_id: Type.String({ maxLength: 64 }) },
      { additionalProperties: false },
    ),
    patient_hint: PatientHint,
    snapshot: Type.Optional(Snapshot),
  },
  { additionalProperties: false },
);
export type PushedStudy = Static<typeof PushedStudy>;

/** The outcome of one pushed study; `existing_fp` where its dedupe key is stored under another fp already. */
export const Outcome = Type.Object({
  fp: Type.String(),
  outcome: Type.Enum(["filed", "unchanged", "unmatched", "conflict", "rejected"]),
  reason: Nullable(Type.String()),
  existing_fp: Type.Optional(Type.String()),
});
export type Outcome = Static<typeof Outcome>;

/** At most this many studies in one POST /agent/v1/studies. */
export const STUDIES_PER_PUSH_MAX = 100;

export const Heartbeat = Type.Object({
  version: Type.Optional(Type.String({ maxLength: 64 })),
  uptime_s: Type.Optional(Type.Number()),
  outbox: Type.Optional(
    Type.Object({
      depth: Type.Integer({ minimum: 0 }),
      oldest_at: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
    }),
  ),
  devices: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ maxLength: 64 }),
        profile: Type.Optional(Type.String({ maxLength: 64 })),
        connected: Type.Optional(Type.Boolean()),
        last_message_at: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
        /** The state of the device in words, why, and since when. */
        state: Type.Optional(Type.String({ maxLength: 64 })),
        reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
        since: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
      }),
      { maxItems: 1000 },
    ),
  ),
});
export type Heartbeat = Static<typeof Heartbeat>;

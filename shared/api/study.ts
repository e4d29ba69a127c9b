import { ConfigurationReport } from "./configuration.ts";
import { RELEASE_WORD_CHARS_MAX, UpgradeReport } from "./upgrade.ts";
import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Patient } from "./patient.ts";
import { Reason } from "./reason.ts";
import { ClosedObject, Nullable, SHA256_PATTERN, TIMESTAMP_PATTERN } from "../schema/schema.ts";

// Diagnostic studies, as GET /api/v1/lab/diagnostics/{fp} returns them and as the agent pushes them to POST /agent/v1/studies.

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

/** Present if the printed value is a bound: `<0.2` is the value 0.2 with the comparator `<`. */
export const Comparator = Type.Enum(["<", "<=", ">", ">="], {
  description: "Present if `value` is a bound: a printed `<0.2` is the value 0.2 with the comparator `<`.",
});
export type Comparator = Static<typeof Comparator>;

/**
 * The state of a device's controls when a patient's value was measured. `none`: no control of the analyte is known, or the last one is
 * older than the clinic's schedule allows.
 */
export const Quality = Type.Enum(["ok", "warning", "failed", "none"], {
  description:
    "State of the analyzer's quality control when it measured the value. `failed`: the last control before it failed. `warning`: " +
    "that control was a little off, or the next one failed. `none`: no control is known, or none within the clinic's schedule. " +
    "Absent for a device whose controls the clinic did not keep here then. It never changes a value or a flag, and may change " +
    "later, when a control comes late or is corrected.",
});
export type Quality = Static<typeof Quality>;

/** Origin of a result's code outside the catalogue: the device itself, or the clinic's mapping of the device's code. */
export const CodeSource = Type.Enum(["device", "clinic"], {
  description:
    "Origin of `analyte`; absent for a code that the catalogue found. `device`: the device's own code, so that " +
    "`reference_range` and `flag` are null. `clinic`: the clinic mapped the device's code to this analyte.",
});
export type CodeSource = Static<typeof CodeSource>;

/** Max results of a study. */
export const RESULTS_MAX = 1000;

/** One analyte of a study. `reference_range` and `flag` are null if no interval applies. */
export const Result = Type.Object(
  {
    analyte: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Short code of the analyte, such as `GLU`; the device's own code if `code_source` is `device`.",
    }),
    value: Nullable(
      Type.Number({
        description: "The measured value, in `unit`; null for a value in words, which stands in `value_text`.",
      }),
    ),
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
        description:
          "The value as printed: the words if `value` is null, such as `Positive`, or the grade if `value` is the rank of " +
          "an ordinal result, such as `2+`.",
      }),
    ),
    code_source: Type.Optional(CodeSource),
    abnormal: Type.Optional(
      Type.Literal(true, {
        description:
          "Present if the words of `value_text` are not the expected ones, such as `Positive` of a test for an infection. " +
          "`flag` is null, because it compares numbers.",
      }),
    ),
    comment: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Present if the device doubts the value: its reason, in words. `flag` is then null.",
      }),
    ),
  },
  { title: "AnalyteResult", description: "One analyte of a study.", additionalProperties: false },
);
export type Result = Static<typeof Result>;

/** Max comments of a study, and max characters of one. */
export const COMMENTS_MAX = 200;
export const COMMENT_CHARS_MAX = 500;

/** The order that a study answers. */
export const StudyOrder = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("order"), description: "Fingerprint of the order." }),
    placer_number: Nullable(
      Type.String({
        maxLength: 64,
        description: "Number of the order in the software that sent it; null for an order of the dashboard.",
      }),
    ),
  },
  { title: "StudyOrder", description: "The order that a study answers.", additionalProperties: false },
);
export type StudyOrder = Static<typeof StudyOrder>;

/** A study as agents send it and as it is stored. */
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
    results: Type.Array(Result, {
      maxItems: RESULTS_MAX,
      description: "Empty for an imaging study without measurements.",
    }),
    flagged_species: Type.Optional(
      Type.String({
        description:
          "Present if the patient's species, breed, sex or date of birth was corrected after the results were flagged: the " +
          "species whose intervals they have. A person flags them again.",
      }),
    ),
    comments: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: COMMENT_CHARS_MAX }), {
        maxItems: COMMENTS_MAX,
        description: "The analyzer's words on the sample, such as indices of hemolysis. Absent without any.",
      }),
    ),
    order: Type.Optional({ ...StudyOrder, description: "The order that the study answers. Absent without one." }),
  },
  { additionalProperties: false },
);
export type Study = Static<typeof Study>;

const { flagged_species: _mark, order: _order, ...sentProperties } = Study.properties;

/** Codes of a result, which GET adds with `include=codes`. */
const ResultCodes = {
  loinc: Type.Optional(
    Nullable(
      Type.String({
        description:
          "Only with `include=codes`: the LOINC code of the analyte in its unit; null if the catalogue has none.",
      }),
    ),
  ),
  ucum: Type.Optional(
    Nullable(Type.String({ description: "Only with `include=codes`: `unit` in UCUM; null without a known one." })),
  ),
};

/** A result as the read API returns it. */
const ReadResult = Type.Object(
  { ...Result.properties, ...ResultCodes, quality: Type.Optional(Quality) },
  { title: "AnalyteResult", description: "One analyte of a study.", additionalProperties: false },
);
export type ReadResult = Static<typeof ReadResult>;

const readProperties = {
  ...Study.properties,
  results: Type.Array(ReadResult, {
    maxItems: RESULTS_MAX,
    description: "Empty for an imaging study without measurements.",
  }),
  accession: Type.Optional(
    Type.String({
      description:
        "Number of the sample: that of its order, else, for the clinic whose device sent the study, the first one that the " +
        "device sent, which may be whatever a person typed there. Absent without one.",
    }),
  ),
  study_instance_uid: Type.Optional(
    Type.String({ description: "DICOM Study Instance UID (0020,000D) of the images. Absent without one." }),
  ),
  revision: Type.Optional(
    Type.Integer({ minimum: 2, description: "Number of this revision. Absent for the first one." }),
  ),
  corrected_at: Type.Optional(
    Type.String({
      pattern: TIMESTAMP_PATTERN,
      description: "Time at which this revision replaced one that clinics could read. Absent if none could.",
    }),
  ),
  quality: Type.Optional({
    ...Quality,
    description:
      "The worst `quality` of the results: `failed`, then `warning`, `none`, `ok`. Absent for a device whose controls the clinic did " +
      "not keep here then.",
  }),
};

/** A study as the read API returns it, with facts that only the server knows. */
export const ReadStudy = Type.Object(readProperties, {
  title: "DiagnosticStudy",
  description: "A lab or imaging study.",
  additionalProperties: false,
});
export type ReadStudy = Static<typeof ReadStudy>;

/** A study in a list. `updated_at` is the clinic's own: two clinics may read the same study since different times. */
export const ListedStudy = Type.Object(
  {
    ...readProperties,
    updated_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description:
        "Time since which the clinic reads this revision: of the filing, of a correction, or of the connection to the " +
        "patient. `updated_since` compares it.",
    }),
  },
  { title: "ListedStudy", description: "A lab or imaging study in a list.", additionalProperties: false },
);
export type ListedStudy = Static<typeof ListedStudy>;

/** Max other texts of a patient. */
export const OTHER_TEXTS_MAX = 50;

const hint = () => Nullable(Type.String({ maxLength: 200 }));

/** The device's description of the patient, for manual matching. */
export const PatientHint = ClosedObject({
  identifier: hint(),
  name: hint(),
  species: hint(),
  breed: hint(),
  sex: hint(),
  owner: hint(),
  date_of_birth: hint(),
  weight_kg: Nullable(Type.Number()),
  /** All other text of the patient and the order, as sent, with its field: `PID-13`. Absent without any. */
  other: Type.Optional(
    Type.Array(ClosedObject({ field: Type.String({ maxLength: 16 }), text: Type.String({ maxLength: 200 }) }), {
      maxItems: OTHER_TEXTS_MAX,
    }),
  ),
});
export type PatientHint = Static<typeof PatientHint>;

/** Inputs of one result, at the same index as the result in its study. */
export const RowSnapshot = ClosedObject({
  analyte: Result.properties.analyte,
  /** Code of the catalogue, such as UGLU for a urine pad's GLU. The concept of a measurement in images: `LN 18043-0`. */
  code: Type.String(),
  /** Id of a row of the catalogue, `clinic:` and the id of a row of the clinic, or "device". */
  interval_id: Nullable(Type.String()),
  /** Reason why the range or the flag is null, or a remark about the breed. */
  reason: Nullable(Reason),
  /** The text as printed. */
  text: Type.String(),
  device_range: Nullable(Type.String()),
  /** Species of the device's range. */
  device_species: Nullable(Type.String()),
  device_flag: Nullable(Type.String()),
  /** The code that the device sent, and its name of a test outside the catalogue. Older agents omit both. */
  device_code: Type.Optional(Type.String({ maxLength: 64 })),
  device_label: Type.Optional(Type.String({ maxLength: 200 })),
  /** Time of the measurement, if results of several messages are collected in one study. */
  measured_at: Type.Optional(Study.properties.acquired_at),
  /** Id of the accepted critical limit that decided the flag. Older agents omit it. */
  limit_id: Type.Optional(Type.String({ maxLength: 64 })),
  /** Concept and modifiers of a measurement in images, in the device's words. */
  meaning: Type.Optional(Type.String({ maxLength: 400 })),
});
export type RowSnapshot = Static<typeof RowSnapshot>;

/** Facts of a patient that select its intervals; see signalmentAt(). */
export const FlaggedPatient = Type.Object({
  species: Patient.properties.species,
  breed: Type.Optional(Patient.properties.breed),
  sex: Patient.properties.sex,
  date_of_birth: Patient.properties.date_of_birth,
});
export type FlaggedPatient = Static<typeof FlaggedPatient>;

/**
 * A result that the device sent without a value: it printed a mark in its place (`no_value`), such as HEM if hemolysis suppresses
 * it, or it calls the value not final (`not_final`).
 */
export const NotReported = ClosedObject({
  /** Code of the API, or the device's name of a test that the catalogue lacks. */
  analyte: Type.String({ maxLength: 200 }),
  code: Type.Enum(["no_value", "not_final"]),
  /** As printed in place of the value; empty if the device printed nothing. */
  text: Type.String({ maxLength: 200 }),
});
export type NotReported = Static<typeof NotReported>;

/** Inputs of the flags of a study. They are stored with the study, so that a reader never computes flags again. */
export const Snapshot = ClosedObject({
  /** Versions of the reference data and of the clinic's own intervals. `ranges` is null if the clinic has none. */
  catalogue: Type.String(),
  ranges: Nullable(Type.String()),
  /** The patient for whom all rows were flagged. Null if there is none or several. Older agents omit it. */
  animal: Type.Optional(Nullable(FlaggedPatient)),
  /** The instrument of the intervals: the device's name, or the configured model of a generic profile. */
  instrument: Nullable(Type.String()),
  rows: Type.Array(RowSnapshot, { maxItems: RESULTS_MAX }),
  /** Decisions, doubts, and values that became no result. */
  notes: Type.Array(Type.String(), { maxItems: 10_000 }),
  /** Absent without any. Older agents omit it. */
  not_reported: Type.Optional(Type.Array(NotReported, { maxItems: RESULTS_MAX })),
  /** Digest of the images of the study, since a late image makes a new revision too. */
  images: Type.Optional(Type.String()),
});
export type Snapshot = Static<typeof Snapshot>;

/** Origin of a pushed study. The read API never shows it. */
export const StudySource = ClosedObject({
  device_id: Type.String({ maxLength: 64 }),
  message_id: Type.String({ maxLength: 64 }),
  /** Identifiers of the specimen and of its order as sent: ASTM O-3, HL7 OBR-2, OBR-3 and SPM-2. */
  sample_ids: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 8 })),
  /** Study Instance UID (0020,000D) of a study of images, for the archive's viewer. Older agents omit it. */
  study_instance_uid: Type.Optional(Type.String({ maxLength: 64 })),
  /** The profile that read the message, with its revision: `boule-exigo@1`, `own/acme-x1@3`. Older agents omit it. */
  profile: Type.Optional(Type.String({ maxLength: 80 })),
  /** SHA-256 of the text of a clinic's own profile. */
  profile_hash: Type.Optional(Type.String({ maxLength: 64 })),
  /** Of the message's bytes, which were on the agent's disk at that time, before they were acknowledged. Older agents omit it. */
  receipt: Type.Optional(
    ClosedObject({
      at: Type.String({ pattern: TIMESTAMP_PATTERN }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: SHA256_PATTERN }),
    }),
  ),
});
export type StudySource = Static<typeof StudySource>;

/** Max characters of a text by which an agent matches. */
export const IDENTIFIER_CHARS_MAX = 200;

/** How the agent found the patient in its copy of the directory. The server checks it again when it files the study. */
export const MatchedBy = ClosedObject({
  by: Type.Enum(["fp", "identifier", "accession", "name"]),
  /** Texts of the message that may be a card number or a microchip. */
  identifiers: Type.Array(Type.String({ maxLength: IDENTIFIER_CHARS_MAX }), { maxItems: 16 }),
  /** The day of the patient's appointment, its end excluded. Present for a match by name. */
  day: Type.Optional(ClosedObject({ from: Study.properties.acquired_at, to: Study.properties.acquired_at })),
});
export type MatchedBy = Static<typeof MatchedBy>;

/** A study as the agent pushes it. `patient_fp` is null if no patient matches. */
export const PushedStudy = ClosedObject({
  ...sentProperties,
  patient_fp: Nullable(Study.properties.patient_fp),
  // Changes by users add to it, and the column of the database ends at 2 147 483 647.
  revision: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  dedupe_key: Type.String({ minLength: 1, maxLength: 200 }),
  source: StudySource,
  patient_hint: PatientHint,
  /** Older agents omit it. */
  matched_by: Type.Optional(MatchedBy),
  /** A MatchCode, if no patient matches. Older agents omit it. */
  unmatched: Type.Optional(Reason),
  /** The server's order of the sample, by its accession. Older agents omit it. */
  order_fp: Type.Optional(StudyOrder.properties.fp),
  snapshot: Type.Optional(Snapshot),
});
export type PushedStudy = Static<typeof PushedStudy>;

/**
 * The outcome of one pushed study. `existing_fp` is present if its dedupe key is stored under another fp. A `deferred` study is not
 * stored: the agent keeps it and sends it again.
 */
export const Outcome = Type.Object({
  fp: Type.String(),
  outcome: Type.Enum(["filed", "unchanged", "unmatched", "conflict", "rejected", "deferred"]),
  reason: Nullable(Type.String()),
  /** An OutcomeCode, and what the words of it name. `reason` has these words in English. */
  code: Type.Optional(Type.String()),
  values: Type.Optional(Type.Array(Type.String())),
  existing_fp: Type.Optional(Type.String()),
});
export type Outcome = Static<typeof Outcome>;

/** Max studies in one POST /agent/v1/studies. Beyond it the request gets 400. */
export const STUDIES_PER_PUSH_MAX = 100;

/** Interval of an agent's heartbeats, in seconds. */
export const HEARTBEAT_S = 60;

/** Max orders in a heartbeat that devices got since the last one. The others follow in the next. */
export const OFFERED_ORDERS_MAX = 200;

/** Max unknown callers in a heartbeat: the latest ones. */
export const CALLERS_MAX = 20;

const Count = Type.Integer({ minimum: 0 });
const Instant = Nullable(Type.String({ maxLength: 64 }));

/** The code of a reason next to it, and what its words name. Older agents send the words alone. */
const reasonCode = {
  code: Type.Optional(Reason.properties.code),
  values: Type.Optional(Reason.properties.values),
};

/** A device in a heartbeat. */
const HeardDevice = Type.Object({
  id: Type.String({ maxLength: 64 }),
  profile: Type.Optional(Type.String({ maxLength: 64 })),
  name: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  protocol: Type.Optional(Type.String({ maxLength: 64 })),
  /** Address or serial port as in agent.yaml. */
  connection: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  connected: Type.Optional(Type.Boolean()),
  last_message_at: Type.Optional(Instant),
  /** State of the device, its reason, and its start. */
  state: Type.Optional(Type.String({ maxLength: 64 })),
  reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  /** A LineCode. */
  ...reasonCode,
  /** The cause of `reason` may be a device that is switched off. */
  may_be_off: Type.Optional(Type.Boolean()),
  since: Type.Optional(Instant),
  /** The last fault of the device or its line since the start of the agent. */
  last_warning: Type.Optional(
    Nullable(Type.Object({ at: Type.String({ maxLength: 64 }), reason: Type.String({ maxLength: 1000 }) })),
  ),
  /** Messages since midnight in the agent's time zone. */
  today: Type.Optional(
    Type.Object({
      received: Count,
      filed: Count,
      unmatched: Count,
      quarantined: Count,
      not_for_patients: Type.Optional(Count),
    }),
  ),
  /** Bytes that its profile does not understand came last. `protocol` is what they look like. */
  foreign: Type.Optional(Nullable(Type.Object({ bytes: Count, protocol: Nullable(Type.String({ maxLength: 64 })) }))),
  /** Messages that cannot be filed until they are processed again. Absent without one. */
  quarantined: Type.Optional(Type.Object({ count: Count, last_at: Type.String({ maxLength: 64 }) })),
});

/** An address that connected to the port of a device and was refused, or whose bytes no profile takes. */
const UnknownCaller = Type.Object({
  device: Type.String({ maxLength: 64 }),
  address: Type.String({ maxLength: 64 }),
  at: Type.String({ maxLength: 64 }),
  count: Count,
  /** `not allowed` or `not understood`; agents of other versions may know more. */
  why: Type.String({ maxLength: 64 }),
  /** The protocol that the bytes look like. The bytes may hold a patient's name, so they stay with the agent. */
  protocol: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
});
export type UnknownCaller = Static<typeof UnknownCaller>;

/** An order of the server that a device got, and when. */
const OfferedOrder = Type.Object({ fp: StudyOrder.properties.fp, at: Type.String({ pattern: TIMESTAMP_PATTERN }) });

/** The backups that an agent makes by itself. */
const HeardBackup = Type.Object({
  at: Type.String({ maxLength: 40 }),
  /** Null if none was ever made. */
  succeeded_at: Nullable(Type.String({ maxLength: 40 })),
  bytes: Nullable(Type.Number()),
  /** The reason of the last failure with its remedy; null if the last one was made. */
  error: Nullable(Type.String({ maxLength: 1000 })),
});

/** The disk of the agent's data folder. */
const HeardDisk = Type.Object({
  free_bytes: Type.Number({ minimum: 0 }),
  /** Why the agent cannot store now; null if it can. */
  problem: Nullable(Type.String({ maxLength: 1000 })),
});

/** The message that an agent sends every HEARTBEAT_S. Agents of other versions omit some of it. */
export const Heartbeat = Type.Object({
  version: Type.Optional(Type.String({ maxLength: 64 })),
  uptime_s: Type.Optional(Type.Number()),
  /** The machine's clock minus the server's; null before the first response with a Date. */
  clock_offset_s: Type.Optional(Nullable(Type.Number())),
  outbox: Type.Optional(
    Type.Object({
      depth: Count,
      oldest_at: Type.Optional(Instant),
      /** Why the oldest study waits after the others: the server deferred it, or refuses requests with it; null if it does not. */
      reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
      /** An OutcomeCode of the server that deferred it, or STUDY.UNANSWERED. */
      ...reasonCode,
    }),
  ),
  devices: Type.Optional(Type.Array(HeardDevice, { maxItems: 1000 })),
  callers: Type.Optional(Type.Array(UnknownCaller, { maxItems: CALLERS_MAX })),
  /** Orders that a device got since the last acknowledged heartbeat. */
  offered_orders: Type.Optional(Type.Array(OfferedOrder, { maxItems: OFFERED_ORDERS_MAX })),
  backup: Type.Optional(Nullable(HeardBackup)),
  configuration: Type.Optional(ConfigurationReport),
  disk: Type.Optional(HeardDisk),
  /** The platform of the packages that this agent runs from, such as linux-x64. Absent if it cannot upgrade itself. */
  platform: Type.Optional(Type.String({ maxLength: RELEASE_WORD_CHARS_MAX })),
  upgrade: Type.Optional(Nullable(UpgradeReport)),
});
export type Heartbeat = Static<typeof Heartbeat>;

import { type Static, Type } from "typebox";
import { CodeSource, Comparator } from "./study.ts";
import { fpPattern } from "./fp.ts";
import { Reason } from "./reason.ts";
import { ClosedObject, DATE_PATTERN, Nullable, SHA256_PATTERN, TIMESTAMP_PATTERN } from "../schema/schema.ts";

// Devices send this about themselves: runs of control material, and events such as a new reagent lot. No animal is in it, and nothing
// of it is ever a study. An agent pushes it to POST /agent/v1/quality beside the studies.

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const time = Type.String({ pattern: TIMESTAMP_PATTERN });

/** Max results of one control run, and max records of one push. */
export const CONTROL_RESULTS_MAX = 200;
export const QUALITY_PER_PUSH_MAX = 100;

/** Where the values of a control should lie, as the device printed it: mean and SD, or the bounds of a range. */
export const PrintedTarget = ClosedObject({
  mean: Type.Optional(Type.Number()),
  sd: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  low: Type.Optional(Type.Number()),
  high: Type.Optional(Type.Number()),
});
export type PrintedTarget = Static<typeof PrintedTarget>;

/** One value of control material. */
export const ControlResult = ClosedObject({
  /** Code of the catalogue (`analytes.json` `code`), or the device's own if `code_source` is `device`. */
  analyte: text(64),
  code_source: Type.Optional(CodeSource),
  /** Null for a result in words, such as PASS. */
  value: Nullable(Type.Number()),
  comparator: Type.Optional(Comparator),
  /** The value as printed. */
  text: Type.String({ maxLength: 200 }),
  unit: Nullable(Type.String({ maxLength: 32 })),
  target: Type.Optional(PrintedTarget),
  /** The device's flags or verdict, as sent: `H`, `PASS`. */
  device_flag: Type.Optional(text(64)),
});
export type ControlResult = Static<typeof ControlResult>;

/** Where a record comes from; as the `source` of a study. */
const QualitySource = ClosedObject({
  device_id: text(64),
  /** Present for a record that came in a message of the device. */
  message_id: Type.Optional(text(64)),
  profile: Type.Optional(text(80)),
  serial: Type.Optional(text(64)),
  receipt: Type.Optional(
    ClosedObject({ at: time, bytes: Type.Integer({ minimum: 0 }), sha256: Type.String({ pattern: SHA256_PATTERN }) }),
  ),
});

/** One run of control material on one device. */
export const ControlRun = ClosedObject({
  kind: Type.Literal("control"),
  fp: Type.String({ pattern: fpPattern("control") }),
  /** Equal for a message and its resend: device, material as sent, time, analytes. */
  dedupe_key: text(200),
  device_name: text(200),
  measured_at: time,
  /** Name, level, lot and expiry as the device names them; null if it does not. The clinic names what is missing once, at the server. */
  material: Nullable(text(100)),
  level: Nullable(text(32)),
  lot: Nullable(text(64)),
  expires: Nullable(Type.String({ pattern: DATE_PATTERN })),
  /** Numbers and names of the sample as sent: `QC1`. The clinic says which material they are where the device does not. */
  sample_ids: Type.Array(text(64), { maxItems: 8 }),
  results: Type.Array(ControlResult, { minItems: 1, maxItems: CONTROL_RESULTS_MAX }),
  comments: Type.Array(text(500), { maxItems: 50 }),
  source: QualitySource,
});
export type ControlRun = Static<typeof ControlRun>;

/** `reagent`: reagent, cartridge, rotor or slides in use. `counter`: how often a part was used. `fault`: an error of the device. */
export const DeviceEventKind = Type.Enum(["reagent", "calibration", "maintenance", "counter", "fault", "start"]);
export type DeviceEventKind = Static<typeof DeviceEventKind>;

/** Something that a device reports about itself. */
export const DeviceEvent = ClosedObject({
  kind: Type.Literal("event"),
  fp: Type.String({ pattern: fpPattern("devevt") }),
  dedupe_key: text(200),
  device_name: text(200),
  at: time,
  event: DeviceEventKind,
  /** Its subject: the name of the reagent, the code of the fault, the name of the counter. */
  subject: Nullable(text(100)),
  lot: Nullable(text(64)),
  expires: Nullable(Type.String({ pattern: DATE_PATTERN })),
  /** Null for all kinds but a counter. */
  count: Nullable(Type.Number()),
  /** The device's own words. Never a patient's: nothing but what the record itself says. */
  text: Nullable(text(500)),
  source: QualitySource,
});
export type DeviceEvent = Static<typeof DeviceEvent>;

export const QualityRecord = Type.Union([ControlRun, DeviceEvent]);
export type QualityRecord = Static<typeof QualityRecord>;

/** The outcome of one record. `unchanged`: it was stored before. A `rejected` one is never sent again. */
export const QualityOutcome = Type.Object({
  fp: Type.String(),
  outcome: Type.Enum(["stored", "unchanged", "rejected"]),
  reason: Nullable(Reason),
});
export type QualityOutcome = Static<typeof QualityOutcome>;

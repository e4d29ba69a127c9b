import { type Static, Type } from "typebox";
import { EXTERNAL_ID_CHARS_MAX } from "../../shared/api/agent/registry.ts";
import { CalendarEvent } from "../../shared/api/calendar.ts";
import { fpPattern } from "../../shared/api/fp.ts";
import { Count, InventoryItem } from "../../shared/api/inventory.ts";
import { Patient } from "../../shared/api/patient.ts";
import { ClosedObject, DATE_PATTERN, Nullable, TIMESTAMP_PATTERN } from "../../shared/schema/schema.ts";
import { Soap } from "../../shared/api/soap.ts";
import { MOVEMENT_REASONS } from "../dashboard/types/stock.ts";
import { identifierTypes } from "../records/registry/sync/messages.ts";
import { Snapshot, Study, StudySource } from "../../shared/api/study.ts";

// The lines of an import file: the fields of the API and fields that the API does not show.

const name = Type.String({ minLength: 1, maxLength: 200 });
const clinicFp = Type.String({ pattern: fpPattern("clinic") });

export const ClinicLine = ClosedObject({ type: Type.Literal("clinic"), fp: clinicFp, name });
export type ClinicLine = Static<typeof ClinicLine>;

export const UserLine = ClosedObject({
  type: Type.Literal("user"),
  fp: Type.String({ pattern: fpPattern("user") }),
  name,
  clinic_fp: clinicFp,
});
export type UserLine = Static<typeof UserLine>;

const timestamp = Type.String({ pattern: TIMESTAMP_PATTERN });
const fact = (maxLength: number) => Type.Optional(Nullable(Type.String({ minLength: 1, maxLength })));

/** An owner. A field that is absent keeps what is stored. */
export const CustomerLine = ClosedObject({
  type: Type.Literal("customer"),
  fp: Patient.properties.owner_customer_fp,
  locale: Type.Optional(ClosedObject({ time_zone: Type.String() })),
  name: fact(200),
  phone: fact(40),
  email: fact(254),
  language: Type.Optional(Nullable(Type.Enum(["en", "tr"]))),
});
export type CustomerLine = Static<typeof CustomerLine>;

const externalId = Type.String({ minLength: 1, maxLength: EXTERNAL_ID_CHARS_MAX });

export const PatientLine = ClosedObject({
  type: Type.Literal("patient"),
  ...Patient.properties,
  external_ids: Type.Optional(Type.Array(externalId, { maxItems: 100 })),
  /** In place of `external_ids`, if the type of a number is known. */
  identifiers: Type.Optional(
    Type.Array(ClosedObject({ type: Nullable(Type.Enum([...identifierTypes])), value: externalId }), { maxItems: 100 }),
  ),
  deceased_at: Type.Optional(Nullable(timestamp)),
  deleted_at: Type.Optional(Nullable(timestamp)),
  /** The patient that has its records since a merge. */
  merged_into: Type.Optional(Patient.properties.fp),
});
export type PatientLine = Static<typeof PatientLine>;

const nameInSource = {
  clinic_fp: clinicFp,
  source: Type.String({ minLength: 1, maxLength: 64 }),
  external_id: externalId,
  /** Time of the last change in the practice software. */
  updated_at: Nullable(timestamp),
};

/** A name of a patient in the practice software of a clinic. */
export const PatientSourceLine = ClosedObject({
  type: Type.Literal("patient_source"),
  ...nameInSource,
  /** Null for a patient that was removed before it came. */
  patient_fp: Nullable(Patient.properties.fp),
  removed: Type.Boolean(),
  /** The name into which this one was merged. */
  merged_into: Type.Optional(externalId),
});
export type PatientSourceLine = Static<typeof PatientSourceLine>;

export const CustomerSourceLine = ClosedObject({
  type: Type.Literal("customer_source"),
  ...nameInSource,
  customer_fp: Patient.properties.owner_customer_fp,
});
export type CustomerSourceLine = Static<typeof CustomerSourceLine>;

/** A name of an appointment in the practice software of a clinic. */
export const EventSourceLine = ClosedObject({
  type: Type.Literal("event_source"),
  ...nameInSource,
  /** Null for an appointment that was cancelled before it came. */
  event_fp: Nullable(CalendarEvent.properties.fp),
  removed: Type.Boolean(),
});
export type EventSourceLine = Static<typeof EventSourceLine>;

export const ConnectionLine = ClosedObject({
  type: Type.Literal("connection"),
  patient_fp: Patient.properties.fp,
  clinic_fp: clinicFp,
  active: Type.Boolean(),
});
export type ConnectionLine = Static<typeof ConnectionLine>;

const { flagged_species: _mark, ...studyProperties } = Study.properties;

export const StudyLine = ClosedObject({
  type: Type.Literal("study"),
  ...studyProperties,
  source: Type.Optional(StudySource),
  snapshot: Type.Optional(Snapshot),
});
export type StudyLine = Static<typeof StudyLine>;

export const SoapLine = ClosedObject({
  type: Type.Literal("soap"),
  ...Soap.properties,
  amends_fp: Type.Optional(Nullable(Soap.properties.fp)),
});
export type SoapLine = Static<typeof SoapLine>;

const { type: eventType, ...eventProperties } = CalendarEvent.properties;

/** `type` is the type of the line, so that the type of the event is `event_type`. */
export const CalendarEventLine = ClosedObject({
  type: Type.Literal("calendar_event"),
  ...eventProperties,
  event_type: eventType,
  clinic_fp: clinicFp,
  /** The status that the undo of a cancelled event restores. */
  cancelled_from: Type.Optional(CalendarEvent.properties.status),
});
export type CalendarEventLine = Static<typeof CalendarEventLine>;

export const InventoryItemLine = ClosedObject({
  type: Type.Literal("inventory_item"),
  ...InventoryItem.properties,
  clinic_fp: clinicFp,
});
export type InventoryItemLine = Static<typeof InventoryItemLine>;

export const InventoryBatchLine = ClosedObject({
  type: Type.Literal("inventory_batch"),
  item_fp: InventoryItem.properties.fp,
  lot: Nullable(Type.String({ minLength: 1, maxLength: 100 })),
  quantity: Count("Quantity received."),
  received_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  expiry_date: Nullable(Type.String({ pattern: DATE_PATTERN })),
});
export type InventoryBatchLine = Static<typeof InventoryBatchLine>;

/** A movement of stock, in the order of the item's history. An item that only imports have set has none. */
export const StockMovementLine = ClosedObject({
  type: Type.Literal("stock_movement"),
  item_fp: InventoryItem.properties.fp,
  /** Counts the movements of the item from 1. */
  number: Type.Integer({ minimum: 1 }),
  /** The batch that these facts identify; null for stock that no batch accounts for. */
  batch: Nullable(
    ClosedObject({
      lot: InventoryBatchLine.properties.lot,
      received_at: InventoryBatchLine.properties.received_at,
      expiry_date: InventoryBatchLine.properties.expiry_date,
    }),
  ),
  quantity: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  reason: Type.Enum([...MOVEMENT_REASONS]),
  patient_fp: Nullable(Patient.properties.fp),
  at: timestamp,
  /** The number of the movement that it takes back. */
  undoes: Nullable(Type.Integer({ minimum: 1 })),
});
export type StockMovementLine = Static<typeof StockMovementLine>;

export type Entity =
  | ClinicLine
  | UserLine
  | CustomerLine
  | PatientLine
  | PatientSourceLine
  | CustomerSourceLine
  | EventSourceLine
  | ConnectionLine
  | StudyLine
  | SoapLine
  | CalendarEventLine
  | InventoryItemLine
  | InventoryBatchLine
  | StockMovementLine;

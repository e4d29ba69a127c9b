import { type Static, Type } from "typebox";
import { CalendarEvent } from "../../shared/api/calendar.ts";
import { fpPattern } from "../../shared/api/fp.ts";
import { Count, InventoryItem } from "../../shared/api/inventory.ts";
import { Patient } from "../../shared/api/patient.ts";
import { DATE_PATTERN, Nullable, TIMESTAMP_PATTERN } from "../../shared/api/schema.ts";
import { Soap } from "../../shared/api/soap.ts";
import { Snapshot, Study, StudySource } from "../../shared/api/study.ts";

// The lines of an import file: the fields of the API and fields that the API does not show.

const closed = { additionalProperties: false };
const name = Type.String({ minLength: 1, maxLength: 200 });
const clinicFp = Type.String({ pattern: fpPattern("clinic") });

export const ClinicLine = Type.Object({ type: Type.Literal("clinic"), fp: clinicFp, name }, closed);
export type ClinicLine = Static<typeof ClinicLine>;

export const UserLine = Type.Object(
  { type: Type.Literal("user"), fp: Type.String({ pattern: fpPattern("user") }), name, clinic_fp: clinicFp },
  closed,
);
export type UserLine = Static<typeof UserLine>;

export const CustomerLine = Type.Object(
  {
    type: Type.Literal("customer"),
    fp: Patient.properties.owner_customer_fp,
    locale: Type.Object({ time_zone: Type.String() }, closed),
  },
  closed,
);
export type CustomerLine = Static<typeof CustomerLine>;

export const PatientLine = Type.Object(
  {
    type: Type.Literal("patient"),
    ...Patient.properties,
    external_ids: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 })),
    deleted_at: Type.Optional(Nullable(Type.String({ pattern: TIMESTAMP_PATTERN }))),
  },
  closed,
);
export type PatientLine = Static<typeof PatientLine>;

export const ConnectionLine = Type.Object(
  {
    type: Type.Literal("connection"),
    patient_fp: Patient.properties.fp,
    clinic_fp: clinicFp,
    active: Type.Boolean(),
  },
  closed,
);
export type ConnectionLine = Static<typeof ConnectionLine>;

export const StudyLine = Type.Object(
  {
    type: Type.Literal("study"),
    ...Study.properties,
    source: Type.Optional(StudySource),
    snapshot: Type.Optional(Snapshot),
  },
  closed,
);
export type StudyLine = Static<typeof StudyLine>;

export const SoapLine = Type.Object(
  { type: Type.Literal("soap"), ...Soap.properties, amends_fp: Type.Optional(Nullable(Soap.properties.fp)) },
  closed,
);
export type SoapLine = Static<typeof SoapLine>;

const { type: eventType, ...eventProperties } = CalendarEvent.properties;

/** `type` is the type of the line, so that the type of the event is `event_type`. */
export const CalendarEventLine = Type.Object(
  { type: Type.Literal("calendar_event"), ...eventProperties, event_type: eventType, clinic_fp: clinicFp },
  closed,
);
export type CalendarEventLine = Static<typeof CalendarEventLine>;

export const InventoryItemLine = Type.Object(
  { type: Type.Literal("inventory_item"), ...InventoryItem.properties, clinic_fp: clinicFp },
  closed,
);
export type InventoryItemLine = Static<typeof InventoryItemLine>;

export const InventoryBatchLine = Type.Object(
  {
    type: Type.Literal("inventory_batch"),
    item_fp: InventoryItem.properties.fp,
    lot: Nullable(Type.String({ minLength: 1, maxLength: 100 })),
    quantity: Count("Quantity received."),
    received_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    expiry_date: Nullable(Type.String({ pattern: DATE_PATTERN })),
  },
  closed,
);
export type InventoryBatchLine = Static<typeof InventoryBatchLine>;

export type Entity =
  | ClinicLine
  | UserLine
  | CustomerLine
  | PatientLine
  | ConnectionLine
  | StudyLine
  | SoapLine
  | CalendarEventLine
  | InventoryItemLine
  | InventoryBatchLine;

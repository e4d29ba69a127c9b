import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable, TIMESTAMP_PATTERN } from "./schema.ts";

export const eventTypes = ["APPOINTMENT", "SURGERY", "VACCINATION", "CHECKUP", "EMERGENCY", "SALE"] as const;
export const EventType = Type.Enum([...eventTypes]);
export type EventType = (typeof eventTypes)[number];

export const eventStatuses = [
  "SCHEDULED",
  "CHECKED_IN",
  "IN_PROGRESS",
  "PENDING_CHECKOUT",
  "CLOSED",
  "CANCELLED",
] as const;
export const EventStatus = Type.Enum([...eventStatuses]);
export type EventStatus = (typeof eventStatuses)[number];

/** An event as GET /api/v1/calendar/events returns it (specification, section 2.5); its times are UTC, whatever the clinic's zone. */
export const CalendarEvent = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("calevt") }),
    title: Type.String({ maxLength: 500 }),
    type: EventType,
    status: EventStatus,
    start_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    end_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    patient_fp: Nullable(Type.String({ pattern: fpPattern("patient") })),
    assigned_user_fp: Nullable(Type.String({ pattern: fpPattern("user") })),
  },
  { additionalProperties: false },
);
export type CalendarEvent = Static<typeof CalendarEvent>;

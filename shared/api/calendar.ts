import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable, TIMESTAMP_PATTERN } from "../schema/schema.ts";

export const eventTypes = ["APPOINTMENT", "SURGERY", "VACCINATION", "CHECKUP", "EMERGENCY", "SALE"] as const;
export const EventType = Type.Enum([...eventTypes], { description: "Type of the event." });
export type EventType = (typeof eventTypes)[number];

export const eventStatuses = [
  "SCHEDULED",
  "CHECKED_IN",
  "IN_PROGRESS",
  "PENDING_CHECKOUT",
  "CLOSED",
  "CANCELLED",
] as const;
export const EventStatus = Type.Enum([...eventStatuses], {
  description: "Stage of the event, in this order; `CANCELLED` is an end of its own.",
});
export type EventStatus = (typeof eventStatuses)[number];

/** An event as GET /api/v1/calendar/events returns it. Its times are UTC, not in the clinic's zone. */
export const CalendarEvent = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("calevt"), description: "Fingerprint of the event." }),
    title: Type.String({ maxLength: 500, description: "Title of the event." }),
    type: EventType,
    status: EventStatus,
    start_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description: "Start of the event. `start_date` and `end_date` compare it.",
    }),
    end_at: Type.String({ pattern: TIMESTAMP_PATTERN, description: "End of the event." }),
    patient_fp: Nullable(
      Type.String({ pattern: fpPattern("patient"), description: "Fingerprint of the patient; null if there is none." }),
    ),
    assigned_user_fp: Nullable(
      Type.String({
        pattern: fpPattern("user"),
        description: "Fingerprint of the assigned user; null if there is none.",
      }),
    ),
  },
  {
    title: "CalendarEvent",
    description: "An event of the clinic's calendar. Its times are UTC; it has no time zone of its own.",
    additionalProperties: false,
  },
);
export type CalendarEvent = Static<typeof CalendarEvent>;

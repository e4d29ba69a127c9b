import type { CalendarEvent, EventStatus, EventType } from "../../../shared/api/calendar.ts";
import type { NamedPatient } from "./records.ts";

// The clinic's calendar, as the pages show and write it. Times are UTC; the pages print them in the clinic's zone.

export interface ListedEvent extends Omit<CalendarEvent, "patient_fp" | "assigned_user_fp"> {
  /** Null without a patient, and for a patient that the clinic does not see. */
  patient: NamedPatient | null;
  assigned_user: string | null;
  /** The statuses that may follow. */
  next_statuses: EventStatus[];
}

/** The response to `GET /calendar?start=...&end=...`: events that start in the range, by start. */
export interface EventList {
  events: ListedEvent[];
  /** The clinic's staff, by name. */
  users: { fp: string; name: string }[];
  /** Names of the users of the dashboard in this clinic who are not among the staff yet, by name. */
  members: string[];
}

/** The body of `POST /calendar`. */
export interface NewEvent {
  title: string;
  type: EventType;
  start_at: string;
  end_at: string;
  patient_fp: string | null;
  assigned_user_fp: string | null;
  /** In place of the fp, the name of a user of the dashboard, who joins the staff. */
  assigned_member?: string;
}

/** The body of `POST /calendar/<fp>/move`. */
export interface EventMove {
  to: EventStatus;
}

import type { CalendarEvent, EventStatus, EventType } from "../../../shared/api/calendar.ts";
import type { NamedPatient } from "./records.ts";

// The clinic's calendar, as the pages show and write it. Times are UTC; the pages print them in the clinic's zone.

export interface ListedEvent extends Omit<CalendarEvent, "patient_fp"> {
  /** Null without a patient, and for a patient that the clinic does not see. */
  patient: NamedPatient | null;
  assigned_user: string | null;
  /** The statuses that may follow. */
  next_statuses: EventStatus[];
  /** The status that an undo restores; null if there is none. */
  previous_status: EventStatus | null;
  /** The practice software that keeps the event, where its facts are changed; null for an event of the clinic. */
  source: string | null;
}

/** The response to `GET /calendar?start=...&end=...`: events that start or go on in the range, by start. */
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

/** An event as the user saw it, so that nobody overwrites the change of another user unseen. */
export type SeenEvent = Omit<CalendarEvent, "fp">;

/** The body of `PUT /calendar/<fp>`. */
export interface EditedEvent extends NewEvent {
  seen: SeenEvent;
}

/** The body of `POST /calendar/check`: an event before it is saved. */
export interface PlannedEvent extends Pick<NewEvent, "start_at" | "end_at" | "patient_fp"> {
  /** The fp or the name of who is responsible; null for nobody. */
  assigned: string | null;
  /** The fp of the event that is edited; null for a new one. */
  edited: string | null;
}

/** The response: events at the same time, by start. They are a warning, and the event can be saved. */
export interface EventCheck {
  overlaps: ListedEvent[];
}

/** The body of `POST /calendar/<fp>/undo`. */
export interface EventUndo {
  /** The status that the user saw. */
  from: EventStatus;
}

/** The body of `POST /calendar/<fp>/move`. */
export interface EventMove {
  to: EventStatus;
}

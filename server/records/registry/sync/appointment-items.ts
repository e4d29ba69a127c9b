import { type Static, Type } from "typebox";
import { EXTERNAL_ID_CHARS_MAX } from "../../../../shared/api/agent/registry.ts";
import { EventType } from "../../../../shared/api/calendar.ts";
import { compileLater } from "../../../../shared/schema/compile-later.ts";
import { Nullable } from "../../../../shared/schema/schema.ts";
import { readInstant } from "../../../../shared/schema/timestamp.ts";
import { externalIdOf, formFaults, readEach, readTime, type RefusedItem } from "./items.ts";
import { absentOf, answerOf, bodyOf, ExternalId, fullMode, type SyncFault, updatedAt, ZONED_TIME } from "./messages.ts";

// The appointments that practice software sends, what it gets back, and how each one is read.

const optionalFacts = {
  type: Type.Optional({
    ...EventType,
    type: "string",
    description: "Type of the event; `APPOINTMENT` if it is absent.",
  }),
  patient: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: EXTERNAL_ID_CHARS_MAX,
        description:
          "The `external_id` of the patient, which the same source has sent to `/sync/v1/patients`. Null or absent without a patient.",
      }),
    ),
  ),
  assigned: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 200,
        description:
          "Name of the member of the clinic who has the appointment, as the dashboard shows it. An unknown name leaves the event " +
          "unassigned, with the code `unknown_member`.",
      }),
    ),
  ),
  updated_at: updatedAt,
};

const time = (description: string) => Type.String({ pattern: ZONED_TIME, description });

const times = {
  title: Type.String({ minLength: 1, maxLength: 500, description: "Title of the event." }),
  start_at: time("Start of the appointment."),
  end_at: time("End of the appointment, at its start or later."),
};

const SyncAppointment = Type.Object(
  {
    external_id: ExternalId,
    ...times,
    ...optionalFacts,
    deleted: Type.Optional(Type.Literal(false, { description: "An appointment that takes place." })),
  },
  {
    additionalProperties: false,
    title: "SyncAppointment",
    description:
      "All facts of an appointment. A field that is absent or null is unknown; it does not keep its old value. The status of the " +
      "event is the clinic's: staff move it at the dashboard.",
  },
);
type SyncAppointment = Static<typeof SyncAppointment>;

const CancelledAppointment = Type.Object(
  {
    external_id: ExternalId,
    title: Type.Optional(times.title),
    start_at: Type.Optional(times.start_at),
    end_at: Type.Optional(times.end_at),
    ...optionalFacts,
    deleted: Type.Literal(true, {
      description: "Cancels the appointment: its event gets the status `CANCELLED`. One that is `CLOSED` stays.",
    }),
  },
  {
    additionalProperties: false,
    title: "CancelledSyncAppointment",
    description:
      "An appointment that your software cancelled or deleted. The other fields are checked and not stored. If it is sent again later, " +
      "it gets a new event.",
  },
);
type CancelledAppointment = Static<typeof CancelledAppointment>;

export const SyncAppointments = bodyOf(
  Type.Union([SyncAppointment, CancelledAppointment]),
  fullMode(
    "appointments",
    "`partial`: appointments that are not among the items stay as they are. `full`: appointments of the source that begin later than " +
      "now, that nobody has checked in, and that are neither among the items nor in `all` are cancelled. Past ones stay.",
  ),
  "SyncAppointments",
  "Appointments of one source.",
);

export const SyncAppointmentsAnswer = answerOf("calevt", "SyncAppointmentsAnswer", absentOf("calevt", "cancelled"));

/** The facts of an appointment, checked. */
export interface SyncedAppointment {
  readonly title: string;
  readonly type: EventType;
  readonly startAt: number;
  readonly endAt: number;
  /** The external id of its patient; null without one. */
  readonly patient: string | null;
  readonly assigned: string | null;
}

export interface ReadAppointment {
  readonly externalId: string;
  /** Milliseconds since 1970; null if the item does not say it. */
  readonly updatedAt: number | null;
  /** Null for an appointment that is cancelled. */
  readonly appointment: SyncedAppointment | null;
}

const appointmentItem = compileLater(SyncAppointment);
const cancelledItem = compileLater(CancelledAppointment);

export function readAppointments(items: readonly unknown[], now: number): (ReadAppointment | RefusedItem)[] {
  return readEach(items, (item) => readAppointmentItem(item, now));
}

/** People write names of owners into titles, so that no fault repeats one. */
const isOfPeople = (field: string): boolean => field === "title" || field === "assigned";

function readAppointmentItem(item: unknown, now: number): ReadAppointment | RefusedItem {
  const isCancelled = (item as { deleted?: unknown } | null)?.deleted === true;
  const faults = formFaults(isCancelled ? cancelledItem : appointmentItem, item, isOfPeople);
  if (faults.length > 0) return { externalId: externalIdOf(item), faults };
  const given = item as SyncAppointment | CancelledAppointment;
  const noted: SyncFault[] = [];
  const externalId = given.external_id;
  const at = readTime("updated_at", given.updated_at ?? null, now, noted);
  const appointment = given.deleted === true ? null : readAppointment(given, noted);
  return noted.length > 0 ? { externalId, faults: noted } : { externalId, updatedAt: at, appointment };
}

function readAppointment(given: SyncAppointment, faults: SyncFault[]): SyncedAppointment {
  const title = given.title.trim();
  if (title === "") faults.push({ field: "title", code: "blank", message: "title is invalid, expected words" });
  const startAt = readPlanned("start_at", given.start_at, faults);
  const endAt = readPlanned("end_at", given.end_at, faults);
  if (endAt < startAt) {
    const message = `end_at is ${JSON.stringify(given.end_at)}, expected a time not before start_at ${given.start_at}`;
    faults.push({ field: "end_at", code: "before_start", message });
  }
  const { type = "APPOINTMENT", patient = null, assigned = null } = given;
  return { title, type, startAt, endAt, patient, assigned: assigned?.trim() || null };
}

/** Reads a time that may be in the future. */
function readPlanned(field: string, text: string, faults: SyncFault[]): number {
  const read = readInstant(text.toUpperCase());
  if (read !== null) return read;
  faults.push({
    field,
    code: "not_a_time",
    message: `${field} is ${JSON.stringify(text)}, expected a time that exists`,
  });
  return 0;
}

import type { CalendarEvent, EventStatus, EventType } from "../../../shared/api/calendar.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { forgetRemoval, noteRemoval } from "../changes/clinic-removals.ts";
import { type TimeRange, eventStatusProblem } from "./calendar-events.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { EventColumns } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { type Refusal, refusal, refusalWords } from "../../dashboard/types/refusals.ts";
import { eventOfAppointment } from "../webhooks/events.ts";

// Calendar events. An event belongs to one clinic, even if other clinics share its patient.

export interface EventFilter extends TimeRange {
  clinicId: number;
  type: EventType | null;
  status: EventStatus | null;
}

/** Lists the clinic's events that start in the range, by start and fp. */
export async function listEvents(session: Session, filter: EventFilter): Promise<CalendarEvent[]> {
  const byType = filter.type === null ? lists.everyType : lists.oneType;
  const list = filter.status === null ? byType.everyStatus : byType.oneStatus;
  return (await session.all(list, filter)).map(toEvent);
}

/** Stores an event of an import file. @returns a problem if the new status may not follow the stored one */
export async function importEvent(
  session: Session,
  event: CalendarEvent & { cancelled_from?: EventStatus },
  ids: { clinicId: number; patientId: number | null; userId: number | null },
  now: number,
): Promise<"new" | "changed" | "unchanged" | { problem: string }> {
  const row: EventColumns = {
    fp: event.fp,
    clinic_id: ids.clinicId,
    title: event.title,
    type: event.type,
    status: event.status,
    start_at: Date.parse(event.start_at),
    end_at: Date.parse(event.end_at),
    patient_id: ids.patientId,
    assigned_user_id: ids.userId,
  };
  const stored = await session.first(storedByFp, { fp: event.fp });
  const change =
    stored === undefined ? await insertEvent(session, row, now) : await importOver(session, stored, row, now);
  if (event.cancelled_from === undefined || typeof change === "object") return change;
  const from = event.cancelled_from;
  const current = await session.first(storedByFp, { fp: event.fp });
  if (current === undefined || current.cancelled_from === from) return change;
  await session.all(noteCancelled, { id: current.id, from });
  return change === "unchanged" ? "changed" : change;
}

async function insertEvent(session: Session, row: EventColumns, now: number): Promise<"new"> {
  await forgetRemoval(session, { clinicId: row.clinic_id, fp: row.fp });
  await session.all(insert, { ...row, now });
  await session.all(eventOfAppointment, { fp: row.fp, clinicId: row.clinic_id, change: "created" });
  return "new";
}

async function updateEvent(
  session: Session,
  { id, clinic_id: previousClinicId }: Pick<EventColumns, "clinic_id"> & { id: number },
  row: EventColumns,
  now: number,
): Promise<void> {
  await session.all(update, { ...row, id, previousClinicId, now });
  await session.all(eventOfAppointment, { fp: row.fp, clinicId: row.clinic_id, change: "changed" });
}

async function importOver(
  session: Session,
  stored: EventColumns & { id: number },
  row: EventColumns,
  now: number,
): Promise<"changed" | "unchanged" | { problem: string }> {
  if (isSame(stored, row)) return "unchanged";
  if (stored.clinic_id !== row.clinic_id) {
    return { problem: `${row.fp} is an event of another clinic, expected its own clinic_fp` };
  }
  const problem = stored.status === row.status ? null : eventStatusProblem(stored.status, row.status);
  if (problem !== null) return { problem: refusalWords(problem) };
  await replaceEvent(session, stored, row, now);
  return "changed";
}

/** Stores an event of practice software under its fp. Run it in a transaction. */
export async function saveEvent(session: Session, row: EventColumns, now: number): Promise<void> {
  const stored = await session.first(storedByFp, { fp: row.fp });
  if (stored === undefined) await insertEvent(session, row, now);
  else if (!isSame(stored, row)) await replaceEvent(session, stored, row, now);
}

function isSame(stored: EventColumns, row: EventColumns): boolean {
  return (Object.keys(row) as (keyof EventColumns)[]).every((column) => stored[column] === row[column]);
}

/** Overwrites an event. One that becomes cancelled keeps the status that an undo brings back. */
async function replaceEvent(
  session: Session,
  stored: Pick<EventColumns, "status" | "clinic_id"> & { id: number },
  row: EventColumns,
  now: number,
): Promise<void> {
  await updateEvent(session, stored, row, now);
  if (row.status === "CANCELLED" && stored.status !== "CANCELLED") {
    await session.all(noteCancelled, { id: stored.id, from: stored.status });
  }
}

/** Removes an event as if it had never been. */
export async function deleteEvent(
  session: Session,
  { fp, clinic_id: clinicId }: Pick<EventColumns, "fp" | "clinic_id">,
  now: number,
): Promise<void> {
  await session.all(eventOfAppointment, { fp, clinicId, change: "removed" });
  await session.all(remove, { fp, clinicId });
  await noteRemoval(session, { fp, clinicId, now });
}

/** Stores a new event of a clinic. Run it in a transaction. @returns its fp */
export async function addEvent(
  session: Session,
  event: Omit<EventColumns, "fp" | "status">,
  now: number,
): Promise<string> {
  const fp = newFp("calevt");
  await insertEvent(session, { ...event, fp, status: "SCHEDULED" }, now);
  return fp;
}

/** Changes the status of an event. Run it in a transaction. @returns the reason if the change is illegal, else null */
export async function moveEvent(
  session: Session,
  { clinicId, fp, to, now }: { clinicId: number; fp: string; to: EventStatus; now: number },
): Promise<Refusal | null> {
  const stored = await session.first(storedByFp, { fp });
  if (stored?.clinic_id !== clinicId) return refusal("EVENT.NOT_OWN", fp);
  const problem = eventStatusProblem(stored.status, to);
  if (problem !== null) return problem;
  await updateEvent(session, stored, { ...stored, status: to }, now);
  if (to === "CANCELLED") await session.all(noteCancelled, { id: stored.id, from: stored.status });
  return null;
}

/** Changes facts of an event of the clinic. Run it in a transaction. */
export async function changeEvent(
  session: Session,
  fp: string,
  changes: Partial<Omit<EventColumns, "fp" | "clinic_id">>,
  now: number,
): Promise<void> {
  const stored = await session.first(storedByFp, { fp });
  if (stored === undefined) throw new Error("the event is missing");
  await updateEvent(session, stored, { ...stored, ...changes }, now);
}

type EventRow = Omit<EventColumns, "clinic_id" | "patient_id" | "assigned_user_id"> & {
  patient_fp: string | null;
  assigned_user_fp: string | null;
};

/** Converts a row to the event of the API. */
export function toEvent(row: EventRow): CalendarEvent {
  return {
    fp: row.fp,
    title: row.title,
    type: row.type,
    status: row.status,
    start_at: new Date(row.start_at).toISOString(),
    end_at: new Date(row.end_at).toISOString(),
    patient_fp: row.patient_fp,
    assigned_user_fp: row.assigned_user_fp,
  };
}

const lists = {
  everyType: { everyStatus: listQuery(false, false), oneStatus: listQuery(false, true) },
  oneType: { everyStatus: listQuery(true, false), oneStatus: listQuery(true, true) },
};

function listQuery(byType: boolean, byStatus: boolean) {
  return query((db, p: EventFilter) =>
    db
      .selectFrom("calendar_event as event")
      .leftJoin("patient", "patient.id", "event.patient_id")
      .leftJoin("user", "user.id", "event.assigned_user_id")
      .selectAll("event")
      .select(["patient.fp as patient_fp", "user.fp as assigned_user_fp"])
      .where("event.clinic_id", "=", p.clinicId)
      .where("event.start_at", ">=", p.start)
      .where("event.start_at", "<", p.end)
      .$if(byType, (rows) => rows.where("event.type", "=", p.type))
      .$if(byStatus, (rows) => rows.where("event.status", "=", p.status))
      .orderBy("event.start_at")
      .orderBy("event.fp"),
  );
}

export const storedByFp = query((db, p: { fp: string }) =>
  db.selectFrom("calendar_event").selectAll().where("fp", "=", p.fp),
);

const remove = query(
  (db, p: { fp: string; clinicId: number }) => db.deleteFrom("calendar_event").where("fp", "=", p.fp),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const insert = query(
  (db, p: EventColumns & { now: number }) =>
    db.insertInto("calendar_event").values((column) => ({ ...eventValues(p), changed_at: column.lit(UNSTAMPED) })),
  ({ clinic_id, now }) => ({ clinics: [clinic_id], changedAt: now, stamps: "events" }),
);

// The previous clinic loses the event if it moves to another clinic.
const update = query(
  (db, p: EventColumns & { id: number; previousClinicId: number; now: number }) =>
    db
      .updateTable("calendar_event")
      .set((column) => ({ ...eventValues(p), changed_at: column.lit(UNSTAMPED) }))
      .where("id", "=", p.id),
  ({ clinic_id, previousClinicId, now }) => ({
    clinics: [clinic_id, previousClinicId],
    changedAt: now,
    stamps: "events",
  }),
);

// Responses of /api/v1 do not have it.
const noteCancelled = uncachedWrite((db, p: { id: number; from: EventStatus }) =>
  db.updateTable("calendar_event").set({ cancelled_from: p.from }).where("id", "=", p.id),
);

function eventValues(p: EventColumns): EventColumns {
  return {
    fp: p.fp,
    clinic_id: p.clinic_id,
    title: p.title,
    type: p.type,
    status: p.status,
    start_at: p.start_at,
    end_at: p.end_at,
    patient_id: p.patient_id,
    assigned_user_id: p.assigned_user_id,
  };
}

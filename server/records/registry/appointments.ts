import { isDeepStrictEqual } from "node:util";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { EventColumns } from "../../database/schema.ts";
import { joinStaff, listStaff } from "../calendar/calendar-list.ts";
import { deleteEvent, saveEvent, storedByFp } from "../calendar/calendar.ts";
import { type Change, patientByFp } from "./animals.ts";
import { type Image, record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";
import type { SourceName } from "./sources.ts";

// Appointments that practice software keeps: events of the clinic's calendar, with their names there.

/** The stored state of an appointment under its name. */
export interface NamedAppointment {
  /** Null for an appointment that was cancelled before it came. */
  readonly event: EventColumns | null;
  readonly source_updated_at: number | null;
  readonly removed: number;
}

export async function findNamedAppointment(session: Session, name: SourceName): Promise<NamedAppointment | undefined> {
  const found = await session.first(named, name);
  if (found === undefined) return undefined;
  const { fp, ...stored } = found;
  return { ...stored, event: fp === null ? null : ((await session.first(storedByFp, { fp })) ?? null) };
}

/** Lists the appointments of a source that are still SCHEDULED and begin at a time or later, by external id. */
export async function listOpenAppointments(
  session: Session,
  source: Pick<SourceName, "clinicId" | "source"> & { readonly from: number },
): Promise<(NamedAppointment & { readonly externalId: string })[]> {
  const rows = await session.all(openOfSource, source);
  return rows.map(({ externalId, source_updated_at, ...event }) => ({
    externalId,
    source_updated_at,
    event,
    removed: 0,
  }));
}

interface NameOfAppointment extends SourceName {
  /** Null for one that was cancelled before it came. */
  readonly fp: string | null;
  readonly updatedAt: number | null;
  readonly removed: boolean;
}

/** Stores the event that a name means. @returns what changed */
export async function nameAppointment(
  session: Session,
  { fp, ...entry }: NameOfAppointment,
  { batch }: Pick<StoreContext, "batch">,
): Promise<Change> {
  const subject = subjectOf(entry.clinicId, entry.source, entry.externalId);
  const before = await appointmentNames.read(session, subject);
  const eventId = fp === null ? null : ((await session.first(storedByFp, { fp }))?.id ?? null);
  await session.all(nameOfEvent, { ...entry, eventId, removed: entry.removed ? 1 : 0 });
  const after = (await appointmentNames.read(session, subject)) ?? {};
  await record(session, batch, { kind: appointmentNames, subject, before, after });
  return changeOf(before, after);
}

/** Stores the event of an appointment under its fp. @returns what changed */
export async function storeAppointment(
  session: Session,
  event: EventColumns,
  { batch, now }: Pick<StoreContext, "batch" | "now">,
): Promise<Change> {
  const before = await appointments.read(session, event.fp);
  await saveEvent(session, event, now);
  const after = (await appointments.read(session, event.fp)) ?? {};
  await record(session, batch, { kind: appointments, subject: event.fp, before, after });
  return changeOf(before, after);
}

/** Finds a member of the clinic by name, who joins the staff of the calendar. @returns the id; null for an unknown name */
export async function memberOf(
  session: Session,
  clinicId: number,
  name: string,
  { batch }: Pick<StoreContext, "batch">,
): Promise<number | null> {
  const staff = await listStaff(session, clinicId);
  const known = staff.find((each) => each.name === name);
  if (known !== undefined) return known.id;
  const id = (await joinStaff(session, clinicId, name)) ?? null;
  const joined = (await listStaff(session, clinicId)).find((each) => each.id === id);
  if (joined !== undefined) {
    await record(session, batch, { kind: staffMembers, subject: joined.fp, before: null, after: { name } });
  }
  return id;
}

function changeOf(before: Image | null, after: Image): Change {
  if (before === null) return "new";
  return isDeepStrictEqual(before, after) ? "unchanged" : "changed";
}

/** The state of an event as batches have it. */
type AppointmentImage = Pick<EventColumns, "title" | "type" | "status" | "start_at" | "end_at" | "clinic_id"> & {
  readonly patient_fp: string | null;
  readonly assigned_user_fp: string | null;
};

/** Events of practice software, by their fp. */
export const appointments: RecordedKind = {
  name: "appointment",
  read: async (session, fp) => (await session.first(imageByFp, { fp })) ?? null,
  async restore(session, fp, image, { now }) {
    if (image !== null) {
      const { patient_fp, assigned_user_fp, ...event } = image as unknown as AppointmentImage;
      const patient = patient_fp === null ? null : await session.first(patientByFp, { fp: patient_fp });
      const member = assigned_user_fp === null ? null : await session.first(memberByFp, { fp: assigned_user_fp });
      const ids = { patient_id: patient?.id ?? null, assigned_user_id: member?.id ?? null };
      await saveEvent(session, { fp, ...event, ...ids }, now);
      return;
    }
    const stored = await session.first(storedByFp, { fp });
    if (stored !== undefined) await deleteEvent(session, stored, now);
  },
};

/** Names of appointments, by clinic, source and external id. */
export const appointmentNames: RecordedKind = {
  name: "appointment name",
  read: async (session, subject) => (await session.first(named, nameOf(subject))) ?? null,
  async restore(session, subject, image, context) {
    const name = nameOf(subject);
    if (image === null) return void (await session.all(deleteName, name));
    const { fp, source_updated_at: updatedAt, removed } = image as unknown as AppointmentNameImage;
    await nameAppointment(session, { ...name, fp, updatedAt, removed: removed === 1 }, context);
  },
};

type AppointmentNameImage = Pick<NamedAppointment, "source_updated_at" | "removed"> & { readonly fp: string | null };

/** Members whom an appointment made staff of the calendar, by their fp. */
export const staffMembers: RecordedKind = {
  name: "staff",
  read: async (session, fp) => (await session.first(nameOfMember, { fp })) ?? null,
  async restore(session, fp) {
    await session.all(deleteMember, { fp });
  },
  async isInUse(session, fp, batchId) {
    return (await session.first(eventOfOthers, { fp, batchId })) !== undefined;
  },
};

function nameOf(subject: string): SourceName {
  const [clinicId, source, externalId] = JSON.parse(subject) as [number, string, string];
  return { clinicId, source, externalId };
}

const named = query((db, p: SourceName) =>
  db
    .selectFrom("event_source as name")
    .leftJoin("calendar_event as event", "event.id", "name.event_id")
    .select(["event.fp", "name.source_updated_at", "name.removed"])
    .where("name.clinic_id", "=", p.clinicId)
    .where("name.source", "=", p.source)
    .where("name.external_id", "=", p.externalId),
);

const openOfSource = query((db, p: Pick<SourceName, "clinicId" | "source"> & { from: number }) =>
  db
    .selectFrom("event_source as name")
    .innerJoin("calendar_event as event", "event.id", "name.event_id")
    .selectAll("event")
    .select(["name.external_id as externalId", "name.source_updated_at"])
    .where("name.clinic_id", "=", p.clinicId)
    .where("name.source", "=", p.source)
    .where("name.removed", "=", 0)
    .where("event.status", "=", "SCHEDULED")
    .where("event.start_at", ">=", p.from)
    .orderBy("name.external_id"),
);

// Responses of /api/v1 have the event, not its name.
const nameOfEvent = uncachedWrite(
  (db, p: SourceName & { eventId: number | null; updatedAt: number | null; removed: number }) =>
    db
      .insertInto("event_source")
      .values({
        clinic_id: p.clinicId,
        source: p.source,
        external_id: p.externalId,
        event_id: p.eventId,
        source_updated_at: p.updatedAt,
        removed: p.removed,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "source", "external_id"])
          .doUpdateSet({ event_id: p.eventId, source_updated_at: p.updatedAt, removed: p.removed }),
      ),
);

const deleteName = uncachedWrite((db, p: SourceName) =>
  db
    .deleteFrom("event_source")
    .where("clinic_id", "=", p.clinicId)
    .where("source", "=", p.source)
    .where("external_id", "=", p.externalId),
);

const imageByFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("calendar_event as event")
    .leftJoin("patient", "patient.id", "event.patient_id")
    .leftJoin("user", "user.id", "event.assigned_user_id")
    .select(["event.clinic_id", "event.title", "event.type", "event.status", "event.start_at", "event.end_at"])
    .select(["patient.fp as patient_fp", "user.fp as assigned_user_fp"])
    .where("event.fp", "=", p.fp),
);

const memberByFp = query((db, p: { fp: string }) => db.selectFrom("user").select("id").where("fp", "=", p.fp));

const nameOfMember = query((db, p: { fp: string }) => db.selectFrom("user").select("name").where("fp", "=", p.fp));

// The events of the member's batch go first.
const deleteMember = uncachedWrite((db, p: { fp: string }) => db.deleteFrom("user").where("fp", "=", p.fp));

const eventOfOthers = query((db, p: { fp: string; batchId: number }) =>
  db
    .selectFrom("calendar_event as event")
    .innerJoin("user", "user.id", "event.assigned_user_id")
    .select("event.id")
    .where("user.fp", "=", p.fp)
    .where("event.fp", "not in", (own) =>
      own
        .selectFrom("batch_row")
        .select("subject")
        .where("batch_id", "=", p.batchId)
        .where("kind", "=", own.val("appointment")),
    )
    .limit(1),
);

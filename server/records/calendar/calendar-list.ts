import type { ListedEvent } from "../../dashboard/types/calendar.ts";
import { nextEventStatuses, type TimeRange } from "./calendar-events.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The calendar of a clinic with the names of patients and staff.

/** Lists the clinic's events that start in the range, by start and fp. */
export async function listNamedEvents(
  session: Session,
  range: TimeRange & { clinicId: number },
): Promise<ListedEvent[]> {
  return (await session.all(inRange, range)).map(
    ({ patient_fp, patient_name, species, start_at, end_at, ...event }) => ({
      ...event,
      start_at: new Date(start_at).toISOString(),
      end_at: new Date(end_at).toISOString(),
      patient:
        patient_fp === null || patient_name === null || species === null
          ? null
          : { fp: patient_fp, name: patient_name, species },
      next_statuses: nextEventStatuses(event.status),
    }),
  );
}

export async function hasEvent(session: Session, clinicId: number, fp: string): Promise<boolean> {
  return (await session.first(ofClinic, { clinicId, fp })) !== undefined;
}

/** Lists the staff that the clinic's own software named, by name. */
export async function listStaff(
  session: Session,
  clinicId: number,
): Promise<{ id: number; fp: string; name: string }[]> {
  return session.all(staff, { clinicId });
}

/** Lists the names of the clinic's users of the dashboard who are not among its staff, by name. */
export async function listOtherMembers(session: Session, clinicId: number): Promise<string[]> {
  return (await session.all(otherMembers, { clinicId })).map(({ name }) => name);
}

/** Adds a user of the dashboard to the staff, which programs see by fp. Run it in a transaction. @returns undefined for another name */
export async function joinStaff(session: Session, clinicId: number, name: string): Promise<number | undefined> {
  const known = (await listStaff(session, clinicId)).find((each) => each.name === name);
  if (known !== undefined) return known.id;
  if (!(await listOtherMembers(session, clinicId)).includes(name)) return undefined;
  return (await session.first(insertStaff, { clinicId, name, fp: newFp("user") }))?.id;
}

const inRange = query((db, p: TimeRange & { clinicId: number }) =>
  db
    .selectFrom("calendar_event as event")
    .leftJoin("clinic_patient as listed", (join) =>
      join
        .onRef("listed.patient_id", "=", "event.patient_id")
        .on("listed.clinic_id", "=", p.clinicId)
        .on("listed.listed", "=", 1),
    )
    .leftJoin("patient", "patient.id", "listed.patient_id")
    .leftJoin("user", "user.id", "event.assigned_user_id")
    .select(["event.fp", "event.title", "event.type", "event.status", "event.start_at", "event.end_at"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", "patient.species"])
    .select("user.name as assigned_user")
    .where("event.clinic_id", "=", p.clinicId)
    .where("event.start_at", ">=", p.start)
    .where("event.start_at", "<", p.end)
    .orderBy("event.start_at")
    .orderBy("event.fp"),
);

const ofClinic = query((db, p: { clinicId: number; fp: string }) =>
  db.selectFrom("calendar_event").select("id").where("fp", "=", p.fp).where("clinic_id", "=", p.clinicId),
);

const otherMembers = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("dashboard_user as member", "member.id", "membership.user_id")
    .leftJoin("user", (join) => join.onRef("user.name", "=", "member.name").on("user.clinic_id", "=", p.clinicId))
    .select("member.name")
    .where("membership.clinic_id", "=", p.clinicId)
    .where("member.disabled_at", "is", null)
    .where("user.id", "is", null)
    .orderBy("member.name"),
);

const insertStaff = uncachedWrite((db, p: { clinicId: number; name: string; fp: string }) =>
  db.insertInto("user").values({ fp: p.fp, name: p.name, clinic_id: p.clinicId }).returning("id"),
);

const staff = query((db, p: { clinicId: number }) =>
  db.selectFrom("user").select(["id", "fp", "name"]).where("clinic_id", "=", p.clinicId).orderBy("name").orderBy("fp"),
);

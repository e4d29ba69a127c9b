import type { InferResult, Kysely } from "kysely";
import type { ListedEvent } from "../../dashboard/types/calendar.ts";
import { nextEventStatuses, previousEventStatus, type TimeRange } from "./calendar-events.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { query, type Session, shownSpecies, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// The calendar of a clinic with the names of patients and staff.

/** Lists the clinic's events of the range, by start and fp: those that start in it, and the stays that go on in it. */
export async function listNamedEvents(
  session: Session,
  range: TimeRange & { clinicId: number },
): Promise<ListedEvent[]> {
  return (await session.all(inRange, withEarliest(range))).map(listedEvent);
}

export async function findNamedEvent(session: Session, clinicId: number, fp: string): Promise<ListedEvent | undefined> {
  const row = await session.first(ofClinic, { clinicId, fp });
  return row && listedEvent(row);
}

/** Lists the clinic's events that are not over and go on at a time of the range, by start and fp. */
export async function listEventsDuring(
  session: Session,
  range: TimeRange & { clinicId: number },
): Promise<ListedEvent[]> {
  return (await session.all(during, withEarliest(range))).map(listedEvent);
}

/** An event that began longer before is not looked for. */
const STAY_MS_MAX = 31 * 86_400_000;

function withEarliest<Range extends TimeRange>(range: Range): Range & { earliest: number } {
  return { ...range, earliest: range.start - STAY_MS_MAX };
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

function listedEvent(row: EventRow): ListedEvent {
  const { patient_fp, patient_name, species, start_at, end_at, cancelled_from, removed, ...event } = row;
  return {
    ...event,
    start_at: new Date(start_at).toISOString(),
    end_at: new Date(end_at).toISOString(),
    patient:
      patient_fp === null || patient_name === null || species === null
        ? null
        : { fp: patient_fp, name: patient_name, species },
    next_statuses: nextEventStatuses(event.status),
    // Software that cancelled an appointment sends it again as another event.
    previous_status: removed === 1 ? null : previousEventStatus(event.status, cancelled_from),
  };
}

const events = (db: Kysely<Tables>, p: { clinicId: number }) =>
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
    .leftJoin("event_source as software", "software.event_id", "event.id")
    .select(["event.fp", "event.title", "event.type", "event.status", "event.start_at", "event.end_at"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")])
    .select(["user.fp as assigned_user_fp", "user.name as assigned_user"])
    .select(["event.cancelled_from", "software.source", "software.removed"])
    .where("event.clinic_id", "=", p.clinicId)
    .orderBy("event.start_at")
    .orderBy("event.fp");

type EventRow = InferResult<ReturnType<typeof events>>[number];

const inRange = query((db, p: TimeRange & { clinicId: number; earliest: number }) =>
  events(db, p)
    .where("event.start_at", ">=", p.earliest)
    .where("event.start_at", "<", p.end)
    .where((where) => where.or([where("event.start_at", ">=", p.start), where("event.end_at", ">", p.start)])),
);

const ofClinic = query((db, p: { clinicId: number; fp: string }) => events(db, p).where("event.fp", "=", p.fp));

const during = query((db, p: TimeRange & { clinicId: number; earliest: number }) =>
  events(db, p)
    .where("event.start_at", ">=", p.earliest)
    .where("event.start_at", "<", p.end)
    .where("event.end_at", ">", p.start)
    .where("event.status", "not in", ["CLOSED", "CANCELLED"]),
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

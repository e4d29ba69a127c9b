import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { ClosedObject, Nullable, TIMESTAMP_PATTERN } from "../../../../shared/schema/schema.ts";
import { isRealInstant } from "../../../../shared/schema/timestamp.ts";
import type { EventCheck, EventList, ListedEvent } from "../../types/calendar.ts";
import { RANGE_DAYS_MAX, selectRange } from "../../../records/calendar/calendar-events.ts";
import { ApiError } from "../../../http/errors.ts";
import { instant, readParameters } from "../../../http/query-parameters.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { addEvent, changeEvent, moveEvent } from "../../../records/calendar/calendar.ts";
import {
  findNamedEvent,
  joinStaff,
  listEventsDuring,
  listNamedEvents,
  listOtherMembers,
  listStaff,
} from "../../../records/calendar/calendar-list.ts";
import { editProblem, overlapping, undoProblem } from "../../../records/calendar/edited-events.ts";
import type { Session } from "../../../database/query.ts";
import { findPatient } from "../../../records/patients/patients.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader, Name } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { actorOf } from "../commands.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";

// The clinic's calendar: its events by day, new ones, and their way from check-in to close.

const range = { start: instant("First start, inclusive."), end: instant("Last start, exclusive.") };

const Time = Type.String({ pattern: TIMESTAMP_PATTERN });
const bounds = { start_at: Time, end_at: Time };
const people = {
  patient_fp: Nullable(Type.String({ pattern: fpPattern("patient") })),
  assigned_user_fp: Nullable(Type.String({ pattern: fpPattern("user") })),
};
const facts = {
  title: Type.String({ minLength: 1, maxLength: 500, pattern: textForm("\\S", "text that is not blank") }),
  type: EventType,
  ...bounds,
  ...people,
  assigned_member: Type.Optional(Name),
};
const newBody = bodyReader(facts);
const seenEvent = ClosedObject({
  ...{ title: Type.String({ maxLength: 500 }), type: EventType, status: EventStatus },
  ...bounds,
  ...people,
});
const editBody = bodyReader({ ...facts, seen: seenEvent });
const checkBody = bodyReader({
  ...bounds,
  patient_fp: people.patient_fp,
  assigned: Nullable(Name),
  edited: Nullable(Type.String({ pattern: fpPattern("calevt") })),
});
const undoBody = bodyReader({ from: EventStatus });
const moveBody = bodyReader({ to: EventStatus });

/** Events of the same time that a warning names. */
const OVERLAPS_MAX = 5;

type OfEvent = { Params: { fp: string } };

const url = "/clinic/v1/clinics/:clinic/calendar";

export function calendarRoutes(app: FastifyInstance, context: DashboardContext): void {
  planRoutes(app, context);
  statusRoutes(app, context);
}

function planRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(url, { config: { access: "reader", parameters: range } }, async (request): Promise<EventList> => {
    const { start, end } = readParameters(request, range);
    const { id: clinicId } = clinicOf(request);
    const selected = selectRange(start, end, now());
    if (typeof selected === "string") {
      throw new ApiError(
        "REQUEST.INVALID_PARAMETER",
        `end is ${selected === "reversed" ? "before start" : "far"}, expected at most ${RANGE_DAYS_MAX} days after start.`,
      );
    }
    const users = await listStaff(store, clinicId);
    return {
      events: await listNamedEvents(store, { clinicId, ...selected }),
      users: users.map(({ fp, name }) => ({ fp, name })),
      members: await listOtherMembers(store, clinicId),
    };
  });
  app.post(url, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { title, type, patient_fp, assigned_user_fp, assigned_member, ...times } = newBody(request.body);
    const { id: clinic_id } = clinicOf(request);
    const span = readSpan(times);
    return store.transaction(async (session) => {
      const patient_id = await patientId(session, clinic_id, patient_fp);
      const assigned_user_id = await staffId(session, clinic_id, { fp: assigned_user_fp, member: assigned_member });
      const event = { clinic_id, title: title.trim(), type, ...span, patient_id, assigned_user_id };
      const fp = await addEvent(session, event, now());
      await auditCommand(session, "event add", [fp, patient_fp], actorOf(request, now()));
      return { fp };
    });
  });
  app.post(
    `${url}/check`,
    { config: { access: "staff", repeats: "it changes nothing" } },
    async (request): Promise<EventCheck> => {
      const { start_at, end_at, ...planned } = checkBody(request.body);
      const { start_at: start, end_at: end } = readSpan({ start_at, end_at });
      const during = await listEventsDuring(store, { clinicId: clinicOf(request).id, start, end });
      return { overlaps: overlapping(during, planned).slice(0, OVERLAPS_MAX) };
    },
  );
  app.put<OfEvent>(`${url}/:fp`, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { title, type, patient_fp, assigned_user_fp, assigned_member, seen, ...times } = editBody(request.body);
    const { fp } = request.params;
    const { id: clinicId } = clinicOf(request);
    const span = readSpan(times);
    return store.transaction(async (session) => {
      const stored = await ownEvent(session, clinicId, fp);
      const problem = editProblem(stored, seen);
      if (problem !== null) refuse(problem);
      const assigned_user_id = await staffId(session, clinicId, { fp: assigned_user_fp, member: assigned_member });
      // A patient that the clinic does not see any more stays, unless the user chooses another one.
      const patient =
        patient_fp === seen.patient_fp ? {} : { patient_id: await patientId(session, clinicId, patient_fp) };
      await changeEvent(session, fp, { title: title.trim(), type, ...span, assigned_user_id, ...patient }, now());
      const patients = new Set([seen.patient_fp, patient_fp]);
      await auditCommand(session, "event edit", [fp, ...patients], actorOf(request, now()));
      return { fp };
    });
  });
}

function statusRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post<OfEvent>(
    `${url}/:fp/move`,
    { config: { access: "staff" } },
    async (request): Promise<{ status: EventStatus }> => {
      const { to } = moveBody(request.body);
      const { fp } = request.params;
      const { id: clinicId } = clinicOf(request);
      return store.transaction(async (session) => {
        await ownEvent(session, clinicId, fp);
        const problem = await moveEvent(session, { clinicId, fp, to, now: now() });
        if (problem !== null) refuse(problem);
        await auditCommand(session, `event move ${to}`, [fp], actorOf(request, now()));
        return { status: to };
      });
    },
  );
  app.post<OfEvent>(
    `${url}/:fp/undo`,
    { config: { access: "staff" } },
    async (request): Promise<{ status: EventStatus }> => {
      const { from } = undoBody(request.body);
      const { fp } = request.params;
      return store.transaction(async (session) => {
        const stored = await ownEvent(session, clinicOf(request).id, fp);
        const problem = undoProblem(stored, from);
        if (problem !== null) refuse(problem);
        const status = stored.previous_status ?? from;
        await changeEvent(session, fp, { status }, now());
        await auditCommand(session, `event undo ${from}`, [fp], actorOf(request, now()));
        return { status };
      });
    },
  );
}

async function ownEvent(session: Session, clinicId: number, fp: string): Promise<ListedEvent> {
  const stored = await findNamedEvent(session, clinicId, fp);
  if (stored === undefined) throw new ApiError("RECORD.NOT_FOUND", "This event");
  return stored;
}

function readSpan({ start_at, end_at }: { start_at: string; end_at: string }): { start_at: number; end_at: number } {
  for (const [name, time] of Object.entries({ start_at, end_at })) {
    if (!isRealInstant(time))
      throw new ApiError("REQUEST.INVALID_BODY", `${name} is ${time}, expected a time that exists.`);
  }
  if (end_at <= start_at) {
    throw new ApiError("REQUEST.INVALID_BODY", `end_at is ${end_at}, expected a time after ${start_at}.`);
  }
  return { start_at: Date.parse(start_at), end_at: Date.parse(end_at) };
}

async function patientId(session: Session, clinicId: number, fp: string | null): Promise<number | null> {
  if (fp === null) return null;
  const patient = await findPatient(session, clinicId, fp);
  if (patient?.connected !== true) throw new ApiError("RECORD.NOT_FOUND", "This patient");
  return patient.id;
}

async function staffId(
  session: Session,
  clinicId: number,
  { fp, member }: { fp: string | null; member: string | undefined },
): Promise<number | null> {
  if (member !== undefined) return foundStaff(await joinStaff(session, clinicId, member));
  if (fp === null) return null;
  return foundStaff((await listStaff(session, clinicId)).find((each) => each.fp === fp)?.id);
}

function foundStaff(id: number | undefined): number {
  if (id === undefined) throw new ApiError("RECORD.NOT_FOUND", "This member of the staff");
  return id;
}

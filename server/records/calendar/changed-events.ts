import { sql } from "kysely";
import type { CalendarEvent } from "../../../shared/api/calendar.ts";
import { query, type Session } from "../../database/query.ts";
import { type ChangePosition, cutPage, NEWEST } from "../changes/changed-page.ts";
import { type EventFilter, toEvent } from "./calendar.ts";

// The events of a clinic that changed, the last changed first.

export interface ChangedEventFilter extends Pick<EventFilter, "clinicId" | "type" | "status"> {
  /** The first start, ms since 1970; null for all. */
  readonly start: number | null;
  /** The time after the last start; null for all. */
  readonly end: number | null;
  /** Milliseconds since 1970, inclusive. */
  readonly updatedSince: number;
  readonly pageSize: number;
  /** The last event before the page; null for the first page. */
  readonly after: ChangePosition | null;
}

/** Lists one page. */
export async function listChangedEvents(
  session: Session,
  { start, end, pageSize, after, ...filter }: ChangedEventFilter,
): Promise<{ items: CalendarEvent[]; last: ChangePosition | null }> {
  const byType = filter.type === null ? lists.everyType : lists.oneType;
  const list = filter.status === null ? byType.everyStatus : byType.oneStatus;
  const found = await session.all(list, {
    ...filter,
    start: start ?? Number.MIN_SAFE_INTEGER,
    end: end ?? Number.MAX_SAFE_INTEGER,
    ...(after ?? NEWEST),
    limit: pageSize + 1,
  });
  const { rows, last } = cutPage(found, pageSize);
  return { items: rows.map(toEvent), last };
}

interface ListParameters extends EventFilter, ChangePosition {
  updatedSince: number;
  limit: number;
}

/** Not the column alone: with its index PostgreSQL reads and sorts all events of the clinic for a page. */
const START = sql<number>`start_at + 0`;

export const lists = {
  everyType: { everyStatus: listQuery(false, false), oneStatus: listQuery(false, true) },
  oneType: { everyStatus: listQuery(true, false), oneStatus: listQuery(true, true) },
};

function listQuery(byType: boolean, byStatus: boolean) {
  return query((db, p: ListParameters) =>
    db
      .selectFrom(
        db
          .selectFrom("calendar_event")
          .select(["id", "changed_at", "fp"])
          .where("clinic_id", "=", p.clinicId)
          .where("changed_at", ">=", p.updatedSince)
          .where((where) => where(where.refTuple("changed_at", "fp"), "<", where.tuple(p.changedAt, p.fp)))
          .where(START, ">=", p.start)
          .where(START, "<", p.end)
          .$if(byType, (rows) => rows.where("type", "=", p.type))
          .$if(byStatus, (rows) => rows.where("status", "=", p.status))
          .orderBy("changed_at", "desc")
          .orderBy("fp", "desc")
          .limit(p.limit)
          .as("page"),
      )
      .innerJoin("calendar_event as event", "event.id", "page.id")
      .leftJoin("patient", "patient.id", "event.patient_id")
      .leftJoin("user", "user.id", "event.assigned_user_id")
      .selectAll("event")
      .select(["patient.fp as patient_fp", "user.fp as assigned_user_fp"])
      .orderBy("page.changed_at", "desc")
      .orderBy("page.fp", "desc"),
  );
}

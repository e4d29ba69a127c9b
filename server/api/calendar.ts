import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { CalendarEvent, eventStatuses, eventTypes } from "../../shared/api/calendar.ts";
import { RANGE_DAYS_MAX, selectRange } from "../records/calendar/calendar-events.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { syncHeaders } from "../http/openapi/headers.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { walkOf } from "../http/walk.ts";
import { listEvents } from "../records/calendar/calendar.ts";
import { listChangedEvents } from "../records/calendar/changed-events.ts";
import type { RouteContext } from "./context.ts";
import { linkPage } from "./walked-page.ts";
import { choice, instant, longPageSize, readParameters } from "../http/query-parameters.ts";

// GET /api/v1/calendar/events. The response is a bare array, without envelope; that of changes has pages.

const CalendarEventList = Type.Array(CalendarEvent, {
  title: "CalendarEventList",
  description: "All matching events.",
});

const list = {
  operationId: "listCalendarEvents",
  summary: "List calendar events",
  description:
    "The events of the key's clinic that start in the range, earliest first. A bare array: without envelope, without " +
    `pages. A range of more than ${RANGE_DAYS_MAX} days is CALENDAR.INVALID_RANGE.\n\n` +
    "With `updated_since`, an addition to the published specification, the events that changed since, last changed first, in " +
    "pages with the headers `Link` and `Sync-Cursor`. Then `start_date` and `end_date` limit nothing unless they are given, and " +
    "the range may have any length. A copy of the calendar starts with `updated_since=1970-01-01` and asks without other " +
    "filters: an event that no longer fits them is not listed. /api/v1/changes lists the deleted ones.",
  header: "x-api-key",
  permissions: ["clinic.calendar.view"],
  parameters: {
    start_date: instant("First instant of the range; by default the start of today in UTC."),
    end_date: instant(
      `First instant after the range, at most ${RANGE_DAYS_MAX} days after \`start_date\`; by default 30 days from today, or from a later \`start_date\`.`,
    ),
    type: choice(eventTypes, "Only events of this type."),
    status: choice(eventStatuses, "Only events in this status."),
    updated_since: instant(
      "An addition to the published specification. Only events whose last change became visible at or after this time.",
    ),
    page_size: { ...longPageSize, only: "updated_since" },
    after: { ...walkOf("calendar"), only: "updated_since" },
  },
  headers: syncHeaders,
  example: [exampleOf.event],
  errors: ["CALENDAR.INVALID_RANGE"],
} satisfies Operation;

export function calendarRoutes(app: FastifyInstance, { store, syncPoints, now }: RouteContext): void {
  app.get(
    "/api/v1/calendar/events",
    { schema: { response: { 200: CalendarEventList } }, config: list },
    async (request, reply) => {
      const parameters = readParameters(request, list.parameters);
      const { start_date, end_date, type, status, updated_since, after: walk } = parameters;
      const clinicId = keyOf(request).clinic_id;
      if (updated_since !== null) {
        const point = await syncPoints.find(clinicId, updated_since, versionsOf(request).answers);
        const filter = { clinicId, start: start_date, end: end_date, type, status };
        const found = await listChangedEvents(store, {
          ...filter,
          updatedSince: point.from ?? updated_since,
          pageSize: parameters.page_size,
          after: walk && { changedAt: Number(walk.key[0]), fp: walk.key[1] },
        });
        const last = found.last && ([found.last.changedAt, found.last.fp] as const);
        await linkPage(syncPoints, request, reply, { list: "calendar", last, walk, page: 1, point });
        return found.items;
      }
      const range = selectRange(start_date, end_date, now());
      if (range === "too long") {
        throw new ApiError("CALENDAR.INVALID_RANGE", `Date range must not exceed ${RANGE_DAYS_MAX} days.`, {
          details: { max_days: RANGE_DAYS_MAX },
        });
      }
      if (range === "reversed") {
        throw new ApiError("CALENDAR.INVALID_RANGE", "end_date is before start_date, expected the same time or later.");
      }
      return listEvents(store, { clinicId, ...range, type, status });
    },
  );
}

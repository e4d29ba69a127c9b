import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { CalendarEvent, eventStatuses, eventTypes } from "../../shared/api/calendar.ts";
import { RANGE_DAYS_MAX, selectRange } from "../records/calendar/calendar-events.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { keyOf } from "../http/request-context.ts";
import { listEvents } from "../records/calendar/calendar.ts";
import type { RouteContext } from "./context.ts";
import { choice, instant, readParameters } from "../http/query-parameters.ts";

// GET /api/v1/calendar/events. The response is a bare array, without envelope or pages.

const CalendarEventList = Type.Array(CalendarEvent, {
  title: "CalendarEventList",
  description: "All matching events.",
});

const list = {
  operationId: "listCalendarEvents",
  summary: "List calendar events",
  description:
    "The events of the key's clinic that start in the range, earliest first. A bare array: without envelope, without " +
    `pages. A range of more than ${RANGE_DAYS_MAX} days is CALENDAR.INVALID_RANGE.`,
  header: "x-api-key",
  permissions: ["clinic.calendar.view"],
  parameters: {
    start_date: instant("First instant of the range; by default the start of today in UTC."),
    end_date: instant(
      `First instant after the range, at most ${RANGE_DAYS_MAX} days after \`start_date\`; by default 30 days from today, or from a later \`start_date\`.`,
    ),
    type: choice(eventTypes, "Only events of this type."),
    status: choice(eventStatuses, "Only events in this status."),
  },
  example: [exampleOf.event],
  errors: ["CALENDAR.INVALID_RANGE"],
} satisfies Operation;

export function calendarRoutes(app: FastifyInstance, { store, now }: RouteContext): void {
  app.get(
    "/api/v1/calendar/events",
    { schema: { response: { 200: CalendarEventList } }, config: list },
    async (request) => {
      const { start_date, end_date, type, status } = readParameters(request, list.parameters);
      const range = selectRange(start_date, end_date, now());
      if (range === "too long") {
        throw new ApiError("CALENDAR.INVALID_RANGE", `Date range must not exceed ${RANGE_DAYS_MAX} days.`, {
          details: { max_days: RANGE_DAYS_MAX },
        });
      }
      if (range === "reversed") {
        throw new ApiError("CALENDAR.INVALID_RANGE", "end_date is before start_date, expected the same time or later.");
      }
      return listEvents(store, { clinicId: keyOf(request).clinic_id, ...range, type, status });
    },
  );
}

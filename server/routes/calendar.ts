import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { CalendarEvent, eventStatuses, eventTypes } from "../../shared/calendar.ts";
import { keyOf } from "../auth.ts";
import { RANGE_DAYS_MAX, selectRange } from "../domain/calendar.ts";
import { ApiError } from "../errors.ts";
import { listEvents } from "../store/calendar.ts";
import type { RouteContext } from "./context.ts";
import { choiceParameter, instantParameter } from "./parameters.ts";

// GET /api/v1/calendar/events (specification, section 4.5): a bare array, without envelope or pages.

export function calendarRoutes(app: FastifyInstance, { store, guard, now }: RouteContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/calendar/events",
    onRequest: guard("x-api-key", "clinic.calendar.view"),
    schema: { response: { 200: Type.Array(CalendarEvent) } },
    config: { parameters: ["start_date", "end_date", "type", "status"] },
    handler: async (request) => {
      const start = instantParameter(request, "start_date");
      const end = instantParameter(request, "end_date");
      const type = choiceParameter(request, "type", eventTypes);
      const status = choiceParameter(request, "status", eventStatuses);
      const range = selectRange(start, end, now());
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
  });
}

import { Type } from "typebox";
import type { ServerClient } from "../push/server-client.ts";
import { dayOf } from "../report/device-time.ts";
import type { Spool } from "../spool/spool.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";

/** The fields of calendar events that worklists and host queries need. */
const Events = compileLater(
  Type.Array(
    Type.Object({
      fp: Type.String(),
      status: Type.String(),
      start_at: Type.String(),
      patient_fp: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
);

/**
 * Fetches the appointments of today in the time zone of the agent, and stores them for worklists and host queries. Runs apart from the sync of
 * patients, so that a key without clinic.calendar.view costs only the appointments. @throws SendError
 */
export async function syncAppointments(spool: Spool, server: ServerClient, timeZone: string): Promise<void> {
  const { from, to } = dayOf(Date.now(), timeZone);
  const query = new URLSearchParams({ start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString() });
  const events = await server.get(`/api/v1/calendar/events?${query.toString()}`);
  // Each server has this public route. An empty list in place of a 404 would remove the appointments.
  if (events === null) throw new Error("the server has no GET /api/v1/calendar/events: is server.url right?");
  if (!Events.Check(events)) {
    throw new Error("invalid response of GET /api/v1/calendar/events: expected a list of events");
  }
  const appointments = events.flatMap(({ fp, status, start_at, patient_fp }) =>
    patient_fp === null || status === "CANCELLED" ? [] : [{ fp, patientFp: patient_fp, startAt: Date.parse(start_at) }],
  );
  await spool.call(
    "setAppointments",
    appointments.filter(({ startAt }) => Number.isFinite(startAt)),
  );
}

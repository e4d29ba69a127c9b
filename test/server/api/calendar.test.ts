import { refusal } from "../../../server/dashboard/types/refusals.ts";
import { describe, expect, test } from "vitest";
import { listEvents, moveEvent } from "../../../server/records/calendar/calendar.ts";
import { type CalendarEvent } from "../../../shared/api/calendar.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, importEntities, noon, startServer, type TestServer } from "../harness.ts";
import { event } from "../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

describe("GET /api/v1/calendar/events", () => {
  test("a range includes events that start at its start_date, and excludes those at its end_date", async () => {
    const starts = ["2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "2026-12-01T23:59:59.999Z", "2026-12-02"];
    const server = await startServer(
      clinic(ours),
      starts.map((start) => {
        const start_at = new Date(start).toISOString();
        return event(ours, { title: start, start_at, end_at: "2026-12-05T00:00:00.000Z" });
      }),
    );
    const titles = await titlesOf(server);
    expect(await titles("?start_date=2026-12-01&end_date=2026-12-02")).toEqual([starts[1], starts[2]]);
    expect(await titles("?start_date=2026-12-01T00:00:00.001Z&end_date=2026-12-02T00:00:00.001Z")).toEqual([
      starts[2],
      starts[3],
    ]);
    expect(await titles("?start_date=2026-12-01T03:00:00%2B03:00&end_date=2026-12-02T03:00:00+03:00")).toEqual([
      starts[1],
      starts[2],
    ]);
    expect(await titles("?start_date=2026-12-01t00:00:00z&end_date=2026-12-02T00:00:00-00:00")).toEqual([
      starts[1],
      starts[2],
    ]);
    expect(await titles("?start_date=2026-11-30T23:59:60Z&end_date=2026-12-02T00:00:00.0000009Z")).toEqual([
      starts[1],
      starts[2],
    ]);
    expect(await titles("?start_date=2026-12-01&end_date=2026-12-01")).toEqual([]);
  });

  test("a start_date beyond the default end gets a default end of its own", async () => {
    const at = "2027-03-01T09:00:00.000Z";
    const server = await startServer(clinic(ours), event(ours, { title: "late", start_at: at, end_at: at }));
    const titles = await titlesOf(server);
    for (const start of ["2027-03-01", "2027-02-01", "2027-03-01T09:00:00Z"]) {
      expect(await titles(`?start_date=${start}`)).toEqual(["late"]);
    }
  });
});

describe("a calendar event", () => {
  test("an event is moved by its own clinic only, and not after its cancellation", async () => {
    const one = event(ours);
    const server = await startServer(clinic(ours), clinic(theirs), one);
    const move = async (clinicId: number, to: "CHECKED_IN" | "CLOSED" | "CANCELLED") =>
      server.store.transaction((session) => moveEvent(session, { clinicId, fp: one.fp, to, now: noon }));
    const statuses = async () =>
      (await listEvents(server.store, { clinicId: 1, start: 0, end: 1e13, type: null, status: null })).map(
        ({ status }) => status,
      );
    expect(await move(2, "CHECKED_IN")).toEqual(refusal("EVENT.NOT_OWN", one.fp));
    expect(await move(1, "CLOSED")).toEqual(refusal("EVENT.STATUS", "CLOSED", "SCHEDULED", "CHECKED_IN"));
    expect(await statuses()).toEqual(["SCHEDULED"]);
    expect([await move(1, "CHECKED_IN"), await move(1, "CANCELLED")]).toEqual([null, null]);
    expect(await move(1, "CANCELLED")).toEqual(refusal("EVENT.FINAL", "CANCELLED", "CANCELLED"));
    expect(await statuses()).toEqual(["CANCELLED"]);
  });

  test("an import changes the status of an event along its moves only, and other fields freely", async () => {
    const one = event(ours);
    const server = await startServer(clinic(ours), one);
    const outcome = async (changes: object) =>
      importEntities(server.store, { ...one, ...changes }).catch(
        (error: unknown) => (error as { problems: unknown }).problems,
      );
    expect(await outcome({})).toMatchObject({ unchanged: 1 });
    expect(await outcome({ title: "Moved", start_at: "2026-11-25T08:00:00.000Z" })).toMatchObject({ changed: 1 });
    expect(await outcome({ status: "CHECKED_IN" })).toMatchObject({ changed: 1 });
    expect(await outcome({ status: "SCHEDULED" })).toEqual([
      { line: 1, problem: "status is SCHEDULED, expected IN_PROGRESS or CANCELLED after CHECKED_IN" },
    ]);
    expect(await outcome({ status: "CANCELLED" })).toMatchObject({ changed: 1 });
    expect(await outcome({ status: "CANCELLED" })).toMatchObject({ unchanged: 1 });
    expect(await outcome({ status: "CHECKED_IN" })).toEqual([
      { line: 1, problem: "status is CHECKED_IN, expected no other status, CANCELLED is final" },
    ]);
  });
});

/** Gets the clinic's events. The body is an array or an error. */
async function reader(server: TestServer, clinicFp = ours) {
  const key = await server.makeKey(clinicFp, ["clinic.calendar.view"]);
  return async (query: string, method: "GET" | "HEAD" = "GET") => {
    const response = await server.app.inject({
      method,
      url: `/api/v1/calendar/events${query}`,
      headers: { "x-api-key": key },
    });
    const text = response.body;
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      body: (text === "" ? null : JSON.parse(text)) as unknown,
    };
  };
}

async function titlesOf(server: TestServer) {
  const get = await reader(server);
  return async (query: string) => ((await get(query)).body as CalendarEvent[]).map(({ title }) => title);
}

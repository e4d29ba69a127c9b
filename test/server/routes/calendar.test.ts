import { describe, expect, test } from "vitest";
import { listEvents, moveEvent } from "../../../server/store/calendar.ts";
import { type CalendarEvent, eventStatuses, eventTypes } from "../../../shared/api/calendar.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, importEntities, patient, startServer, type TestServer } from "../harness.ts";
import { event, publishedEvent } from "../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

describe("GET /api/v1/calendar/events", () => {
  test("the calendar is a bare array of the clinic's events, by start and fp", async () => {
    const one = patient();
    const user = { type: "user" as const, fp: newFp("user"), name: "Elif", clinic_fp: ours };
    const [first, second, third, foreign] = [
      event(ours, { patient_fp: one.fp, assigned_user_fp: user.fp }),
      event(ours),
      event(ours, { start_at: "2026-11-25T08:59:59.999Z" }),
      event(theirs, { patient_fp: one.fp }),
    ] as const;
    const both = [connection(one.fp, ours), connection(one.fp, theirs)];
    const server = await startServer(clinic(ours), clinic(theirs), user, one, both, [second, first, third, foreign]);
    const get = await reader(server);
    const { status, headers, body } = await get("");
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(body).toEqual([third, first, second].map(publishedEvent));
    expect((await (await reader(server, theirs))("")).body).toEqual([publishedEvent(foreign)]);
    const head = await get("", "HEAD");
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", headers["content-length"]]);
  });

  test("an empty calendar is an empty array", async () => {
    const server = await startServer(clinic(ours));
    expect((await (await reader(server))("")).body).toEqual([]);
  });

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

  test("the default range begins with the UTC day and ends 30 days later", async () => {
    const starts = [
      "2026-11-20T23:59:59.999Z",
      "2026-11-21T00:00:00.000Z",
      "2026-12-20T23:59:59.999Z",
      "2026-12-21T00:00:00.000Z",
      "2027-01-19T23:59:59.999Z",
      "2027-01-20T00:00:00.000Z",
    ];
    const events = starts.map((at) => event(ours, { title: at, start_at: at, end_at: at }));
    const server = await startServer(clinic(ours), events);
    const titles = await titlesOf(server);
    expect(await titles("")).toEqual(starts.slice(1, 3));
    expect(await titles("?end_date=2026-12-21T00:00:00.001Z")).toEqual(starts.slice(1, 4));
    expect(await titles("?start_date=2026-11-20")).toEqual(starts.slice(0, 3));
    expect(await titles("?start_date=2026-12-21")).toEqual(starts.slice(3, 5));
    server.clock.now = Date.parse("2026-11-20T23:59:59.999Z");
    expect(await titles("")).toEqual(starts.slice(0, 2));
  });

  test("a range over 90 days or with reversed dates gets 400", async () => {
    const get = await reader(await startServer(clinic(ours)));
    expect(await get("?start_date=2026-11-01&end_date=2027-01-30")).toMatchObject({ status: 200, body: [] });
    for (const range of ["?start_date=2026-11-01&end_date=2027-01-30T00:00:00.001Z", "?start_date=2026-09-21"]) {
      const { status, body } = await get(range);
      expect([status, body]).toEqual([
        400,
        {
          success: false,
          error: {
            code: "CALENDAR.INVALID_RANGE",
            message: "Date range must not exceed 90 days.",
            severity: "error",
            details: { max_days: 90 },
          },
        },
      ]);
    }
    for (const range of ["?start_date=2026-11-02&end_date=2026-11-01", "?end_date=2026-11-20"]) {
      const { status, body } = await get(range);
      expect([status, body]).toEqual([
        400,
        {
          success: false,
          error: {
            code: "CALENDAR.INVALID_RANGE",
            message: "end_date is before start_date, expected the same time or later.",
            severity: "error",
          },
        },
      ]);
    }
  });

  test("an invalid date, type or status gets 400 with its name", async () => {
    const get = await reader(await startServer(clinic(ours)));
    const bad: [string, string[]][] = [
      ["start_date", ["", "today", "2026-02-30", "2026", "1700000000"]],
      ["end_date", ["", "x", "2026-11-31"]],
      ["type", ["", "surgery", "HAIRCUT", "SURGERY%20"]],
      ["status", ["", "closed", "DONE"]],
    ];
    for (const [name, values] of bad) {
      for (const value of values) {
        const { status, body } = await get(`?${name}=${value}`);
        expect([name, value, status]).toEqual([name, value, 400]);
        expect(body).toMatchObject({
          success: false,
          error: { code: "REQUEST.INVALID_PARAMETER", severity: "error", details: { parameter: name } },
        });
      }
      expect((await get(`?${name}=SALE&${name}=SALE`)).status).toBe(400);
    }
    expect((await get("?type=HAIRCUT")).body).toMatchObject({
      error: {
        message: "type is HAIRCUT, expected one of APPOINTMENT, SURGERY, VACCINATION, CHECKUP, EMERGENCY, SALE.",
      },
    });
  });

  test("type and status filter alone and together", async () => {
    const events = eventTypes.flatMap((event_type) =>
      eventStatuses.map((status) => event(ours, { title: `${event_type} ${status}`, event_type, status })),
    );
    const titles = await titlesOf(await startServer(clinic(ours), events));
    for (const type of eventTypes) {
      expect((await titles(`?type=${type}`)).toSorted()).toEqual(
        eventStatuses.map((status) => `${type} ${status}`).toSorted(),
      );
    }
    for (const status of eventStatuses) {
      expect((await titles(`?status=${status}`)).toSorted()).toEqual(
        eventTypes.map((type) => `${type} ${status}`).toSorted(),
      );
    }
    expect(await titles("?type=SALE&status=CLOSED")).toEqual(["SALE CLOSED"]);
    expect(await titles("")).toHaveLength(36);
  });

  test("page, page_size and clinic_fp are ignored and reported", async () => {
    const server = await startServer(clinic(ours), clinic(theirs), event(ours), event(ours));
    const { headers, body } = await (await reader(server))(`?page=x&page_size=1&clinic_fp=${theirs}`);
    expect(body).toHaveLength(2);
    expect(headers["x-ignored-parameters"]).toBe("page, page_size, clinic_fp");
    const all = await (await reader(server))("?start_date=2026-11-21&end_date=2026-11-30&type=SALE&status=CLOSED");
    expect(all.headers).not.toHaveProperty("x-ignored-parameters");
  });
});

describe("a calendar event", () => {
  test("an event is moved by its own clinic only, and not after its cancellation", async () => {
    const one = event(ours);
    const server = await startServer(clinic(ours), clinic(theirs), one);
    const move = async (clinicId: number, to: "CHECKED_IN" | "CLOSED" | "CANCELLED") =>
      server.store.transaction((session) => moveEvent(session, { clinicId, fp: one.fp, to }));
    const statuses = async () =>
      (await listEvents(server.store, { clinicId: 1, start: 0, end: 1e13, type: null, status: null })).map(
        ({ status }) => status,
      );
    expect(await move(2, "CHECKED_IN")).toBe(`${one.fp} is not an event of this clinic`);
    expect(await move(1, "CLOSED")).toMatch(/^status is CLOSED, expected CHECKED_IN or CANCELLED/);
    expect(await statuses()).toEqual(["SCHEDULED"]);
    expect([await move(1, "CHECKED_IN"), await move(1, "CANCELLED")]).toEqual([null, null]);
    expect(await move(1, "CANCELLED")).toMatch(/CANCELLED is final$/);
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

import assert from "node:assert/strict";
import { assertShape } from "./check.ts";
import { type EventRow, eventsAround } from "./data.ts";
import { needs } from "./patients.ts";
import { type ApiCheck, errorOf, events, fps } from "./read.ts";
import type { Api } from "./server.ts";
import * as shapes from "./shapes.ts";

// Calendar events.

const path = "/api/v1/calendar/events";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const calendarChecks: readonly ApiCheck[] = [
  {
    number: 94,
    title: "an event has exactly its eight fields, with the stored values",
    async run(api) {
      for (const row of events(await api.get(path))) assertShape(row, shapes.event, "the event");
      assert.deepEqual(events(await api.get(path)), between(api, 0, 30 * DAY_MS));
    },
  },
  {
    number: 95,
    title: "the type of an event is one of the six",
    async run(api) {
      const types = new Set(events(await api.get(path)).map((row) => row["type"]));
      assert.deepEqual(types, new Set(shapes.eventTypes));
    },
  },
  {
    number: 96,
    title: "the status of an event is one of the six",
    async run(api) {
      const statuses = new Set(events(await api.get(path)).map((row) => row["status"]));
      assert.deepEqual(statuses, new Set(shapes.eventStatuses));
    },
  },
  {
    number: 97,
    title: "calendar events take X-API-Key and need clinic.calendar.view",
    async run(api) {
      errorOf(await api.send(path, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
      await needs(path, "calendar", ["patient", "inventory", "soap", "lab"])(api);
    },
  },
  {
    number: 98,
    title: "a clinic gets its own events only, even of a shared patient",
    async run(api) {
      const { ours, theirs } = eventsAround(api.today);
      assert.deepEqual(fps(events(await api.get(path, "theirs"))), fps(theirs));
      const own = new Set(fps(ours));
      for (const { fp } of events(await api.get(path))) assert.ok(own.has(fp), `${String(fp)} is not ours`);
    },
  },
  {
    number: 99,
    title: "start_date is inclusive",
    async run(api) {
      await selects(api, 0, DAY_MS);
      assert.equal(events(await api.get(window(api, 0, 1)))[0]?.["start_at"], at(api, 0));
    },
  },
  {
    number: 100,
    title: "end_date is exclusive",
    async run(api) {
      await selects(api, -DAY_MS, 0);
      await selects(api, -DAY_MS, 1);
    },
  },
  {
    number: 101,
    title: "adjacent windows return each event once, in the window of its start",
    async run(api) {
      const walked = [];
      for (let day = -1; day < 31; day += 1)
        walked.push(...events(await api.get(window(api, day * DAY_MS, (day + 1) * DAY_MS))));
      assert.deepEqual(fps(walked), fps(between(api, -DAY_MS, 31 * DAY_MS)));
      await selects(api, HOUR_MS, 2 * HOUR_MS);
    },
  },
  {
    number: 102,
    title: "the default range is 30 days from the start of the UTC day",
    async run(api) {
      assert.deepEqual(fps(events(await api.get(path))), fps(between(api, 0, 30 * DAY_MS)));
    },
  },
  { number: 103, title: "a range of exactly 90 days is valid", run: (api) => selects(api, 0, 90 * DAY_MS) },
  {
    number: 104,
    title: "a range of 90 days and a millisecond gets CALENDAR.INVALID_RANGE",
    async run(api) {
      const { message, details } = errorOf(
        await api.get(window(api, 0, 90 * DAY_MS + 1)),
        400,
        "CALENDAR.INVALID_RANGE",
      );
      assert.equal(message, "Date range must not exceed 90 days.");
      assert.deepEqual(details, { max_days: 90 });
    },
  },
  {
    number: 105,
    title: "an end before the start gets CALENDAR.INVALID_RANGE with its own message, and an end at the start is empty",
    async run(api) {
      const { message } = errorOf(await api.get(window(api, DAY_MS, 0)), 400, "CALENDAR.INVALID_RANGE");
      assert.notEqual(message, "Date range must not exceed 90 days.");
      assert.deepEqual(events(await api.get(window(api, 0, 0))), []);
    },
  },
  {
    number: 106,
    title: "an end without a start begins the range today",
    async run(api) {
      const found = events(await api.get(`${path}?end_date=${at(api, 6 * DAY_MS)}`));
      assert.deepEqual(fps(found), fps(between(api, 0, 6 * DAY_MS)));
    },
  },
  {
    number: 107,
    title: "a start without an end ends the range 30 days from today, or from a start after that",
    async run(api) {
      const from = async (ms: number) => api.get(`${path}?start_date=${at(api, ms)}`);
      assert.deepEqual(fps(events(await from(6 * DAY_MS))), fps(between(api, 6 * DAY_MS, 30 * DAY_MS)));
      assert.deepEqual(fps(events(await from(-60 * DAY_MS))), fps(between(api, -60 * DAY_MS, 30 * DAY_MS)));
      errorOf(await from(-61 * DAY_MS), 400, "CALENDAR.INVALID_RANGE");
      for (const start of [30 * DAY_MS, 61 * DAY_MS]) {
        assert.deepEqual(fps(events(await from(start))), fps(between(api, start, start + 30 * DAY_MS)));
      }
    },
  },
  {
    number: 108,
    title: "type filters events",
    async run(api) {
      for (const type of shapes.eventTypes) await filters(api, `?type=${type}`, (row) => row.type === type);
    },
  },
  {
    number: 109,
    title: "status filters events",
    async run(api) {
      for (const status of shapes.eventStatuses)
        await filters(api, `?status=${status}`, (row) => row.status === status);
    },
  },
  {
    number: 110,
    title: "type and status combine",
    run: (api) =>
      filters(api, "?type=SURGERY&status=CLOSED", (row) => row.type === "SURGERY" && row.status === "CLOSED"),
  },
  {
    number: 111,
    title: "a type or status outside the six gets 400, also in lower case",
    async run(api) {
      for (const query of ["type=surgery", "type=PARTY", "type=", "status=closed", "status=DONE", "status=SURGERY"]) {
        errorOf(await api.get(`${path}?${query}`), 400, "REQUEST.INVALID_PARAMETER");
      }
      errorOf(await api.get(`${path}?type=SALE&type=SURGERY`), 400, "REQUEST.INVALID_PARAMETER");
    },
  },
  {
    number: 112,
    title: "an invalid date gets REQUEST.INVALID_PARAMETER",
    async run(api) {
      for (const name of ["start_date", "end_date"]) {
        for (const value of ["x", "", "2026-02-30", "2026", "1760000000"]) {
          errorOf(await api.get(`${path}?${name}=${value}`), 400, "REQUEST.INVALID_PARAMETER");
        }
      }
    },
  },
  {
    number: 113,
    title: "page and page_size have no effect on events",
    async run(api) {
      const { text } = await api.get(path);
      const response = await api.get(`${path}?page=2&page_size=1`);
      assert.equal(response.text, text);
      assert.equal(response.headers.get("x-ignored-parameters"), "page, page_size");
    },
  },
  {
    number: 114,
    title: "events are sorted by start, then by fp, both ascending",
    async run(api) {
      const found = events(await api.get(window(api, -60 * DAY_MS, 30 * DAY_MS)));
      assert.deepEqual(fps(found), fps(between(api, -60 * DAY_MS, 30 * DAY_MS)));
    },
  },
  {
    number: 115,
    title: "an event moves one step at a time, and CANCELLED is final",
    shownIn: "test/server/records/calendar/calendar-events.test.ts",
  },
];

function at(api: Api, ms: number): string {
  return new Date(api.today + ms).toISOString();
}

function window(api: Api, startMs: number, endMs: number): string {
  return `${path}?start_date=${at(api, startMs)}&end_date=${at(api, endMs)}`;
}

function between(api: Api, startMs: number, endMs: number): EventRow[] {
  const [start, end] = [at(api, startMs), at(api, endMs)];
  return eventsAround(api.today).ours.filter(({ start_at }) => start_at >= start && start_at < end);
}

async function selects(api: Api, startMs: number, endMs: number): Promise<void> {
  assert.deepEqual(fps(events(await api.get(window(api, startMs, endMs)))), fps(between(api, startMs, endMs)));
}

async function filters(api: Api, query: string, matches: (row: EventRow) => boolean): Promise<void> {
  const expected = between(api, 0, 30 * DAY_MS).filter(matches);
  assert.notDeepEqual(expected, [], query);
  assert.deepEqual(fps(events(await api.get(`${path}${query}`))), fps(expected), query);
}

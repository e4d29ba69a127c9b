import { refusal } from "../../../../server/dashboard/types/refusals.ts";
import { describe, expect, test } from "vitest";
import { eventStatusProblem, selectRange } from "../../../../server/records/calendar/calendar-events.ts";
import { type EventStatus, eventStatuses } from "../../../../shared/api/calendar.ts";

describe("a calendar event", () => {
  test("an event advances one status or is cancelled, unless its status is final", () => {
    const allowed = (from: EventStatus) => eventStatuses.filter((to) => eventStatusProblem(from, to) === null);
    expect(Object.fromEntries(eventStatuses.map((from) => [from, allowed(from)]))).toEqual({
      SCHEDULED: ["CHECKED_IN", "CANCELLED"],
      CHECKED_IN: ["IN_PROGRESS", "CANCELLED"],
      IN_PROGRESS: ["PENDING_CHECKOUT", "CANCELLED"],
      PENDING_CHECKOUT: ["CLOSED", "CANCELLED"],
      CLOSED: [],
      CANCELLED: [],
    });
    expect(eventStatusProblem("SCHEDULED", "CLOSED")).toEqual(
      refusal("EVENT.STATUS", "CLOSED", "SCHEDULED", "CHECKED_IN"),
    );
  });

  test("a range has at most 90 days, and by default 30 days from today", () => {
    const now = Date.parse("2026-11-21T12:34:56.789Z");
    const instant = (text: string | null) => (text === null ? null : Date.parse(text));
    const table: [string | null, string | null, string][] = [
      [null, null, "2026-11-21T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-11-01", "2027-01-30", "2026-11-01T00:00:00.000Z 2027-01-30T00:00:00.000Z"],
      ["2026-11-01", "2027-01-30T00:00:00.001Z", "too long"],
      ["2026-11-01", "2026-11-01", "2026-11-01T00:00:00.000Z 2026-11-01T00:00:00.000Z"],
      ["2026-11-01T00:00:00.001Z", "2026-11-01", "reversed"],
      [null, "2026-11-22", "2026-11-21T00:00:00.000Z 2026-11-22T00:00:00.000Z"],
      [null, "2026-11-20", "reversed"],
      ["2026-12-20", null, "2026-12-20T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-12-21", null, "2026-12-21T00:00:00.000Z 2027-01-20T00:00:00.000Z"],
      ["2030-01-01", null, "2030-01-01T00:00:00.000Z 2030-01-31T00:00:00.000Z"],
      ["2026-09-22", null, "2026-09-22T00:00:00.000Z 2026-12-21T00:00:00.000Z"],
      ["2026-09-21", null, "too long"],
    ];
    for (const [start, end, expected] of table) {
      const range = selectRange(instant(start), instant(end), now);
      const shown =
        typeof range === "string" ? range : [range.start, range.end].map((at) => new Date(at).toISOString()).join(" ");
      expect([start, end, shown]).toEqual([start, end, expected]);
    }
  });
});

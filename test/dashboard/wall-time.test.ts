import { assert, constantFrom, integer, property } from "fast-check";
import { DateTime } from "luxon";
import { expect, test } from "vitest";
import { addDays, instantOf, startOfDay, startOfWeek, wallTime } from "../../server/dashboard/types/wall-time.ts";

const istanbul = "Europe/Istanbul";
const berlin = "Europe/Berlin";

test("a time of the clinic's clocks is an instant in UTC, whatever the zone of the machine", () => {
  expect(new Date(instantOf("2026-11-21", "09:30", istanbul) ?? 0).toISOString()).toBe("2026-11-21T06:30:00.000Z");
  expect(wallTime(Date.parse("2026-11-21T22:15:00.000Z"), istanbul)).toEqual({ date: "2026-11-22", time: "01:15" });
  const machine = new Date(2026, 10, 21, 9, 30).getTime();
  expect(instantOf("2026-11-21", "09:30", undefined)).toBe(machine);
});

test("a time that clocks skip is null, and a doubled one is the first", () => {
  expect(instantOf("2026-03-29", "02:30", berlin)).toBe(null);
  expect(new Date(instantOf("2026-10-25", "02:30", berlin) ?? 0).toISOString()).toBe("2026-10-25T00:30:00.000Z");
  expect(instantOf("", "09:30", berlin)).toBe(null);
  expect(instantOf("2026-11-21", "", berlin)).toBe(null);
});

test("a day starts at its first instant, also where summer time skips midnight", () => {
  expect(new Date(startOfDay("2026-11-21", istanbul)).toISOString()).toBe("2026-11-20T21:00:00.000Z");
  expect(wallTime(startOfDay("2026-03-29", "Asia/Beirut"), "Asia/Beirut")).toEqual({
    date: "2026-03-29",
    time: "01:00",
  });
});

test("days are counted without clocks, and a week starts on Monday", () => {
  expect([addDays("2026-12-31", 1), addDays("2026-03-01", -1)]).toEqual(["2027-01-01", "2026-02-28"]);
  expect(["2026-11-23", "2026-11-29", "2026-11-22"].map(startOfWeek)).toEqual([
    "2026-11-23",
    "2026-11-23",
    "2026-11-16",
  ]);
});

test("luxon reads the same instants, in every zone and year", () => {
  const zones = constantFrom(istanbul, berlin, "America/New_York", "Pacific/Auckland", "Asia/Kathmandu", "UTC");
  const minutes = integer({ min: 0, max: 30 * 366 * 1440 });
  assert(
    property(zones, minutes, (zone, minute) => {
      const instant = Date.UTC(2010, 0, 1) + minute * 60_000;
      const { date, time } = wallTime(instant, zone);
      expect(`${date}T${time}`).toBe(DateTime.fromMillis(instant, { zone }).toFormat("yyyy-MM-dd'T'HH:mm"));
      const back = instantOf(date, time, zone);
      expect(wallTime(back ?? 0, zone)).toEqual({ date, time });
    }),
  );
});

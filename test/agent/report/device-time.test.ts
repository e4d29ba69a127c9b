import * as fc from "fast-check";
import { DateTime, Settings } from "luxon";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasClock, readDate, readTime, zonedTime } from "../../../agent/report/device-time.ts";

test.each([
  ["20261121", "2026-11-20T21:00:00.000Z"],
  ["2026-11-21", "2026-11-20T21:00:00.000Z"],
  ["202611210930", "2026-11-21T06:30:00.000Z"],
  ["20261121093015", "2026-11-21T06:30:15.000Z"],
  [" 20261121093015 ", "2026-11-21T06:30:15.000Z"],
  ["20261121093015.123", "2026-11-21T06:30:15.000Z"],
  ["2026/11/21 09:30:15", "2026-11-21T06:30:15.000Z"],
  ["2026.11.21 09:30", "2026-11-21T06:30:00.000Z"],
  ["2026-11-2 9:05:03", "2026-11-02T06:05:03.000Z"],
  ["21.11.2026 09:30:15", "2026-11-21T06:30:15.000Z"],
  ["2.1.2026  9:05", "2026-01-02T06:05:00.000Z"],
  ["2026/11/21", "2026-11-20T21:00:00.000Z"],
  ["21/11/2026", "2026-11-20T21:00:00.000Z"],
  ["21-11-2026 9:05", "2026-11-21T06:05:00.000Z"],
  ["11/21/2026 09:30:15", "2026-11-21T06:30:15.000Z"],
])("%j without an offset is the device's zone's", (text, time) => {
  expect(readTime(text, "Europe/Istanbul")).toBe(time);
});

test.each([
  ["20261121093015+0000", "2026-11-21T09:30:15.000Z"],
  ["20261121093015-0500", "2026-11-21T14:30:15.000Z"],
  ["20261121093015+0545", "2026-11-21T03:45:15.000Z"],
  ["20261121093015-0030", "2026-11-21T10:00:15.000Z"],
  ["20261121+0300", "2026-11-20T21:00:00.000Z"],
  ["20261121093015Z", "2026-11-21T09:30:15.000Z"],
  ["2026-11-21T09:30:15.123Z", "2026-11-21T09:30:15.000Z"],
  ["21.11.2026 09:30+01:00", "2026-11-21T08:30:00.000Z"],
])("%j carries its own offset, in any zone", (text, time) => {
  expect(readTime(text, "America/New_York")).toBe(time);
});

describe("daylight saving", () => {
  test.each([
    ["20260115120000", "2026-01-15T11:00:00.000Z"],
    ["20260715120000", "2026-07-15T10:00:00.000Z"],
  ])("%s has the offset of its own season", (text, time) => {
    expect(readTime(text, "Europe/Berlin")).toBe(time);
  });

  test("an hour that the clocks skip is read by the offset before it: the device did not change its clock", () => {
    expect(readTime("20260329023000", "Europe/Berlin")).toBe("2026-03-29T01:30:00.000Z");
  });

  test.each(["2026-07-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"])(
    "an hour that comes twice is the first of both, also when read on %s",
    (today) => {
      onTestFinished(() => void (Settings.now = Date.now));
      Settings.now = () => Date.parse(today);
      expect(readTime("20261025023000", "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
      expect(readTime("20260329023000", "Europe/Berlin")).toBe("2026-03-29T01:30:00.000Z");
    },
  );

  test("where a zone gave up changing its clocks the year decides", () => {
    expect(readTime("20150115120000", "Europe/Istanbul")).toBe("2015-01-15T10:00:00.000Z");
    expect(readTime("20260115120000", "Europe/Istanbul")).toBe("2026-01-15T09:00:00.000Z");
  });
});

test.each([
  "",
  "20260230",
  "20261301",
  "20260001",
  "00000000000000",
  "20261121240100",
  "20261121236000",
  "20261121235960",
  "2026112109",
  "2026",
  "2026/11-21",
  "2026/13/21",
  "01110621143134",
  "5/11/2026",
  "05-11-2026 09:30",
  "21/13/2026",
  "21/11-2026",
  "31/02/2026",
  "21/11/2026 09:30 PM",
  "11.21.2026",
  "21.11.26",
  "20261121093015+9900",
  "20261121093015+0375",
  "yesterday",
])("%j is not a time", (text) => {
  expect(readTime(text, "Europe/Istanbul")).toBeNull();
});

test.each([
  ["20190504", "2019-05-04"],
  ["20190504101500", "2019-05-04"],
  ["4.5.2019", "2019-05-04"],
  ["2019/05/04 10:15", "2019-05-04"],
  ["20240229", "2024-02-29"],
  ["20230229", null],
  ["2019", null],
  ["3Y", null],
  ["", null],
])("the date of birth %j is %j in every zone", (text, date) => {
  expect(readDate(text)).toBe(date);
});

test("a date alone has no clock", () => {
  for (const date of ["20261121", "20261121+0300", "2026-11-21", ""])
    expect([date, hasClock(date)]).toEqual([date, false]);
  for (const time of ["202611210930", "20261121093015+0300", "20261121 09:30:15", "2026-11-21 09:30:15"]) {
    expect([time, hasClock(time)]).toEqual([time, true]);
  }
});

describe("the clock of a zone", () => {
  test.each([
    ["Europe/Berlin", "2026-05-04T07:00:00.999Z", "2026-05-04T09:00:00+02:00"],
    ["Europe/Berlin", "2026-03-29T00:59:59.000Z", "2026-03-29T01:59:59+01:00"],
    ["Europe/Berlin", "2026-03-29T01:00:00.000Z", "2026-03-29T03:00:00+02:00"],
    ["America/St_Johns", "2026-01-01T00:00:00.000Z", "2025-12-31T20:30:00-03:30"],
    ["UTC", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00+00:00"],
  ])("in %s at %s shows %s", (zone, instant, shown) => {
    expect(zonedTime(Date.parse(instant), zone)).toBe(shown);
  });

  test("agrees with luxon, after any earlier call", () => {
    const zone = fc.constantFrom(
      "Europe/Berlin",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "America/New_York",
      "Africa/Casablanca",
    );
    const instant = fc.integer({ min: Date.UTC(1973, 0, 1), max: Date.UTC(2060, 0, 1) });
    fc.assert(
      fc.property(zone, instant, fc.integer({ min: -3_600_000, max: 3_600_000 }), (timeZone, ms, later) => {
        for (const at of [ms, ms + later]) {
          const shown = DateTime.fromMillis(at, { zone: timeZone }).toFormat("yyyy-MM-dd'T'HH:mm:ssZZ");
          expect(zonedTime(at, timeZone)).toBe(shown);
        }
      }),
    );
  });
});

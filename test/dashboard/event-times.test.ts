import { expect, test } from "vitest";
import {
  addMonths,
  daysOfMonth,
  partOfDay,
  printTimes,
  readTimes,
  withStart,
} from "../../server/web/screens/calendar/times.ts";

// The form of an event and the month of the calendar, where clocks change and where they do not.

const berlin = "Europe/Berlin";
const HALF_HOUR = 30 * 60_000;
const spanAt = (start: string) => ({ start: Date.parse(start), end: Date.parse(start) + HALF_HOUR });

test("an event in the doubled hour keeps its instants, unless its time is changed", () => {
  // 02:30 is shown twice on 25 October 2026; this is the second one.
  const second = spanAt("2026-10-25T01:30:00.000Z");
  const times = printTimes(second, berlin);
  expect(times).toEqual({ start: "2026-10-25T02:30", end: "2026-10-25T03:00" });
  expect(readTimes(times, berlin, second)).toEqual(second);
  expect(readTimes(times, berlin, null).start).toBe(second.start - 2 * HALF_HOUR);
  const later = withStart(times, "2026-10-25T02:45", berlin, second);
  expect(later.end).toBe("2026-10-25T03:15");
  expect(readTimes(later, berlin, second)).toEqual(spanAt("2026-10-25T01:45:00.000Z"));
  expect(readTimes(withStart(later, times.start, berlin, second), berlin, second)).toEqual(second);
  expect(readTimes({ ...times, start: "2026-10-26T02:30" }, berlin, second).start).toBe(
    Date.parse("2026-10-26T01:30:00.000Z"),
  );
});

test("an event from the first of the doubled hour into the second keeps its instants and its length", () => {
  const over = { start: Date.parse("2026-10-25T00:45:00.000Z"), end: Date.parse("2026-10-25T01:15:00.000Z") };
  const times = printTimes(over, berlin);
  expect(times).toEqual({ start: "2026-10-25T02:45", end: "2026-10-25T02:15" });
  expect(readTimes(times, berlin, over)).toEqual(over);
  // A new event with these fields: the end is the first 02:15 after the start.
  expect(readTimes(times, berlin, null)).toEqual(over);
  const earlier = withStart(times, "2026-10-25T02:40", berlin, over);
  expect(earlier.end).toBe("2026-10-25T02:10");
  expect(readTimes(earlier, berlin, over).end).toBe(Date.parse("2026-10-25T01:10:00.000Z"));
  // One that would end before it starts is still refused.
  expect(readTimes({ start: "2026-10-26T10:00", end: "2026-10-26T09:00" }, berlin, null)).toEqual({
    start: Date.parse("2026-10-26T09:00:00.000Z"),
    end: Date.parse("2026-10-26T08:00:00.000Z"),
  });
});

test("a new start keeps the length of the event, over a change of the clocks too", () => {
  const span = { start: Date.parse("2026-03-28T22:00:00.000Z"), end: Date.parse("2026-03-29T00:30:00.000Z") };
  const times = printTimes(span, berlin);
  expect(times).toEqual({ start: "2026-03-28T23:00", end: "2026-03-29T01:30" });
  // Clocks go from 02:00 to 03:00.
  expect(withStart(times, "2026-03-29T00:00", berlin, span).end).toBe("2026-03-29T03:30");
  expect(withStart(times, "2026-04-01T09:00", berlin, span).end).toBe("2026-04-01T11:30");
  // A time that clocks skip moves no end, and is none.
  expect(withStart(times, "2026-03-29T02:30", berlin, span)).toEqual({ start: "2026-03-29T02:30", end: times.end });
  expect(readTimes({ ...times, start: "2026-03-29T02:30" }, berlin, span).start).toBeNull();
  expect(withStart({ start: "", end: "" }, "2026-04-01T09:00", berlin, null).end).toBe("2026-04-01T09:30");
});

test("a stay has a part of each of its days, in the zone of the clinic", () => {
  const stay = { start: Date.parse("2026-11-25T22:30:00.000Z"), end: Date.parse("2026-11-28T11:00:00.000Z") };
  const days = ["2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28", "2026-11-29"];
  expect(days.map((day) => partOfDay(stay, day, berlin))).toEqual([
    ...[null, { from: "23:30", to: null }, { from: null, to: null }, { from: null, to: null }],
    ...[{ from: null, to: "12:00" }, null],
  ]);
  expect(partOfDay(stay, "2026-11-25", "Europe/Istanbul")).toBeNull();
  // To midnight.
  const evening = { start: Date.parse("2026-11-25T20:00:00.000Z"), end: Date.parse("2026-11-25T23:00:00.000Z") };
  expect(partOfDay(evening, "2026-11-25", berlin)).toEqual({ from: "21:00", to: "00:00" });
  expect(partOfDay(evening, "2026-11-26", berlin)).toBeNull();
  const moment = { start: evening.start, end: evening.start };
  expect(partOfDay(moment, "2026-11-25", berlin)).toEqual({ from: "21:00", to: "21:00" });
});

test("a month has whole weeks from Monday, and the next one begins with its first day", () => {
  const november = daysOfMonth("2026-11-25");
  expect([november.length, november[0], november.at(-1)]).toEqual([42, "2026-10-26", "2026-12-06"]);
  const february = daysOfMonth("2027-02-28");
  expect([february.length, february[0], february.at(-1)]).toEqual([28, "2027-02-01", "2027-02-28"]);
  expect([addMonths("2026-12-31", 1), addMonths("2027-01-31", 1), addMonths("2026-01-31", -1)]).toEqual([
    ...["2027-01-01", "2027-02-01", "2025-12-01"],
  ]);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readInstant } from "../../../shared/schema/timestamp.ts";

const DAY_MS = 86_400_000;

/** A date-time in a form of RFC 3339 §5.6, and its instant. */
const dateTime = fc
  .record({
    instant: fc.integer({ min: Date.parse("0001-01-02T00:00:00Z"), max: Date.parse("9999-12-30T23:59:59Z") }),
    digits: fc.integer({ min: 0, max: 40 }),
    offset: fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 }),
    zone: fc.constantFrom("Z", "z", "+00:00", "-00:00", "offset"),
    separator: fc.constantFrom("T", "t"),
    tail: fc.stringMatching(/^\d{40}$/),
  })
  .map(({ instant: exact, digits, offset, zone, separator, tail }) => {
    const unit = 10 ** Math.max(0, 3 - digits);
    const instant = Math.floor(exact / unit) * unit;
    const minutes = zone === "offset" ? offset : 0;
    const local = new Date(instant + minutes * 60_000).toISOString();
    const fraction = digits === 0 ? "" : `.${local.slice(20, 23)}${tail}`.slice(0, digits + 1);
    const sign = minutes < 0 ? "-" : "+";
    const written = zone === "offset" ? `${sign}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}` : zone;
    return { text: `${local.slice(0, 10)}${separator}${local.slice(11, 19)}${fraction}${written}`, instant };
  });

function twoDigits(number: number): string {
  return String(Math.trunc(Math.abs(number))).padStart(2, "0");
}

test("every date-time of RFC 3339 is read as its instant, cut off to the millisecond", () => {
  fc.assert(
    fc.property(dateTime, ({ text, instant }) => {
      expect([text, readInstant(text)]).toEqual([text, instant]);
    }),
    { numRuns: 2000 },
  );
});

test("a date alone is its first instant, and a time without seconds or offset is UTC", () => {
  const day = fc.integer({ min: 0, max: 50_000 }).map((days) => days * DAY_MS);
  fc.assert(
    fc.property(day, (instant) => {
      const date = new Date(instant).toISOString().slice(0, 10);
      for (const text of [date, `${date}T00:00`, `${date}T00:00:00`, `${date}T00:00Z`, `${date}T03:00+0300`]) {
        expect([text, readInstant(text)]).toEqual([text, instant]);
      }
    }),
  );
});

test.each([
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
  ["2015-07-01T02:59:60.250+03:00", "2015-07-01T00:00:00.250Z"],
])("the leap second %s is the first second of the next day", (text, expected) => {
  expect(new Date(readInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  ["a leap second within a day", "2016-12-31T12:59:60Z"],
  ["a leap second within a month", "2016-12-30T23:59:60Z"],
  ["a second 61", "2016-12-31T23:59:61Z"],
  ["a day that does not exist", "2026-02-30T00:00:00Z"],
  ["a month that does not exist", "2026-13-01"],
  ["an hour 25", "2026-10-01T25:00:00Z"],
  ["a minute 60", "2026-10-01T10:60:00Z"],
  ["an offset of a day", "2026-10-01T10:00:00+24:00"],
  ["a fraction without digits", "2026-10-01T10:00:00.Z"],
  ["a comma", "2026-10-01T10:00:00,5Z"],
  ["a year alone", "2026"],
  ["a month alone", "2026-10"],
  ["a week", "2026-W05"],
  ["a time alone", "10:00:00Z"],
  ["an hour alone", "2026-10-01T10Z"],
  ["a number", "1760000000"],
  ["a date with an offset", "2026-10-01Z"],
  ["a blank around it", " 2026-10-01"],
  ["a line after it", "2026-10-01\n"],
  ["nothing", ""],
])("%s is not an instant", (_, text) => {
  expect(readInstant(text)).toBe(null);
});

test("text that is not a date-time is never an instant", () => {
  const almost = fc.tuple(dateTime, fc.nat(60), fc.string({ maxLength: 3 })).map(([{ text }, at, more]) => {
    return text.slice(0, at) + more + text.slice(at + 1);
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const looksLikeOne = /^\d{4}-\d\d-\d\d(t\d\d:\d\d(:\d\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?)?$/i.test(text);
      expect([text, readInstant(text) !== null && !looksLikeOne]).toEqual([text, false]);
    }),
  );
});

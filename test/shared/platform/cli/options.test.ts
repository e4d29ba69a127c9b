import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import { collect, parsePeriod, parsePositiveInteger, parseTime } from "../../../../shared/platform/cli/options.ts";

describe("a period", () => {
  test.each([
    ["1h", 3_600_000],
    ["12h", 43_200_000],
    ["90d", 7_776_000_000],
  ])("the period %s is read in milliseconds", (text, ms) => {
    expect(parsePeriod(text)).toBe(ms);
  });

  test.each(["", "0h", "1w", "1.5h", "h", "100000h", "-1d"])("the period %j is refused", (text) => {
    expect(() => parsePeriod(text)).toThrow(new InvalidArgumentError("expected hours or days, such as 12h or 90d"));
  });
});

describe("a time", () => {
  test("a period of hours or days is a time that long ago", () => {
    const before = Date.now();
    const time = parseTime("24h");
    expect(time).toBeGreaterThanOrEqual(before - 86_400_000);
    expect(time).toBeLessThanOrEqual(Date.now() - 86_400_000);
  });

  test.each([
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2026-11-21T09:30Z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21T12:30:00+03:00", "2026-11-21T09:30:00.000Z"],
  ])("the time %s is read as an instant", (text, iso) => {
    expect(new Date(parseTime(text)).toISOString()).toBe(iso);
  });

  test.each(["", "yesterday", "2026-02-30", "21.11.2026", "0d"])("the time %j is refused", (text) => {
    expect(() => parseTime(text)).toThrow(/^expected hours or days/);
  });
});

test("a positive integer has one to nine digits and no leading zero", () => {
  expect([parsePositiveInteger("1"), parsePositiveInteger("999999999")]).toEqual([1, 999_999_999]);
  for (const text of ["0", "01", "-1", "1.5", "1e3", "1000000000", ""])
    expect(() => parsePositiveInteger(text)).toThrow("expected a whole number from 1 to 999999999");
});

test("a repeatable option collects its values in order", () => {
  expect(collect("b", collect("a", []))).toEqual(["a", "b"]);
});

import { expect, test } from "vitest";
import { readRetryAfter } from "../../../shared/network/retry-after.ts";

const now = Date.UTC(2026, 10, 30, 9, 0, 0);

test.each([
  ["120", 120_000],
  ["Mon, 30 Nov 2026 09:02:00 GMT", 120_000],
  ["Monday, 30-Nov-26 09:02:00 GMT", 120_000],
  ["Mon Nov 30 09:02:00 2026", 120_000],
  ["99999999999999999999", 3_600_000],
  ["Mon, 30 Nov 2099 09:02:00 GMT", 3_600_000],
  ["0", null],
  ["Mon, 30 Nov 2026 08:59:59 GMT", null],
  ["", null],
  ["-5", null],
  ["1.5", null],
  ["soon", null],
  ["Monday", null],
  [undefined, null],
])("Retry-After %s is a wait of %s ms", (text, ms) => {
  expect(readRetryAfter({ "retry-after": text }, now)).toBe(ms);
});

test("a date of Retry-After counts from the date of the response, whatever the clock of this machine is", () => {
  const headers = { date: "Fri, 01 Jan 2021 00:00:00 GMT", "retry-after": "Fri, 01 Jan 2021 00:00:30 GMT" };
  expect(readRetryAfter(headers, now)).toBe(30_000);
});

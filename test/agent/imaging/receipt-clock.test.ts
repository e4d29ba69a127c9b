import { expect, test } from "vitest";
import { ReceiptClock } from "../../../agent/imaging/receipt-clock.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const HOUR = 60 * 60_000;
const YEARS = 3 * 365 * 24 * HOUR;

function machine() {
  let [wall, running] = [NOON, 500.25];
  const clock = new ReceiptClock(
    () => wall,
    () => running,
  );
  const pass = (ms: number) => {
    wall += ms;
    running += ms;
  };
  return { clock, pass, set: (ms: number) => (wall += ms) };
}

test("a clock that is set back stamps no image as old, before and after the main thread notices it", () => {
  const { clock, pass, set } = machine();
  expect(clock.now()).toBe(NOON);
  clock.isAhead(0);
  pass(HOUR);
  set(-YEARS);
  expect(clock.now()).toBe(NOON + HOUR);
  clock.isAhead(-YEARS);
  pass(HOUR);
  expect(clock.now()).toBe(NOON + 2 * HOUR);
  set(YEARS);
  clock.isAhead(0);
  expect(clock.now()).toBe(NOON + 2 * HOUR);
});

test("the clock of a machine that slept counts", () => {
  const { clock, set } = machine();
  clock.isAhead(0);
  set(8 * HOUR);
  expect(clock.now()).toBe(NOON + 8 * HOUR);
});

import { expect, test } from "vitest";
import { STEADY_MS, SteadyTime } from "../../../server/database/steady-time.ts";

const DAY_MS = 24 * 3_600_000;
const YEARS_MS = 3 * 365 * DAY_MS;

function machine() {
  const clock = { wall: Date.UTC(2026, 10, 21), running: 1_000 };
  const steady = new SteadyTime({ wall: () => clock.wall, running: () => clock.running });
  const pass = (ms: number) => {
    clock.wall += ms;
    clock.running += ms;
    return steady.now();
  };
  const jump = (ms: number) => {
    clock.wall += ms;
    return steady.now();
  };
  return { clock, pass, jump };
}

test("the clock counts once it has run for six hours", () => {
  const { clock, pass } = machine();
  expect(pass(STEADY_MS - 1)).toBeNull();
  expect(pass(1)).toBe(clock.wall);
});

test.each([
  ["ahead", YEARS_MS],
  ["back", -YEARS_MS],
])("a clock that jumps years %s counts again after six hours", (_where, ms) => {
  const { clock, pass, jump } = machine();
  pass(STEADY_MS);
  expect(jump(ms)).toBeNull();
  expect(pass(STEADY_MS - 1)).toBeNull();
  expect(pass(1)).toBe(clock.wall);
});

test("a jump and its correction leave no moment at which the wrong time counts", () => {
  const { pass, jump } = machine();
  pass(STEADY_MS);
  const times = [jump(YEARS_MS), pass(60_000), jump(-YEARS_MS), pass(STEADY_MS - 1)];
  expect(times).toEqual([null, null, null, null]);
});

test("a correction of an hour and a night of sleep change nothing", () => {
  const { clock, pass, jump } = machine();
  pass(STEADY_MS);
  expect(jump(3_600_000)).toBe(clock.wall);
  expect(jump(DAY_MS)).toBe(clock.wall);
});

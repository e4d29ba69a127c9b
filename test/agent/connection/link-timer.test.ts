import { beforeEach, expect, test } from "vitest";
import { LinkTimer } from "../../../agent/connection/link-timer.ts";
import { TestClock } from "../../support/protocols/wire.ts";

let clock: TestClock;
let timer: LinkTimer;
let isPending: boolean;
let timeouts: number;

beforeEach(() => {
  clock = new TestClock();
  isPending = false;
  timeouts = 0;
  timer = new LinkTimer(
    clock.setTimer,
    () => isPending,
    () => (timeouts += 1),
  );
});

test("a timer that runs out calls the timeout once", () => {
  timer.set(1_000);
  clock.advance(1_000);
  expect([timeouts, clock.pending, timer.clearDue()]).toEqual([1, [], false]);
});

test("a timer that is set again replaces the running one", () => {
  timer.set(1_000);
  timer.set(3_000);
  expect(clock.pending).toEqual([3_000]);
  timer.set(null);
  expect(clock.pending).toEqual([]);
});

test("a timer that runs out while events are pending is due once the link has received them", () => {
  timer.set(1_000);
  isPending = true;
  clock.advance(1_000);
  expect([timeouts, timer.clearDue(), timer.clearDue()]).toEqual([0, true, false]);
});

test("a timer that is restarted counts from then on, running or due, and stays off if it was off", () => {
  timer.restart();
  expect(clock.pending).toEqual([]);
  timer.set(1_000);
  clock.advance(900);
  timer.restart();
  expect(clock.pending).toEqual([1_000]);
  isPending = true;
  clock.advance(1_000);
  timer.restart();
  expect([clock.pending, timer.clearDue(), timeouts]).toEqual([[1_000], false, 0]);
});

test("a pending event that sets the timer again cancels a due timeout", () => {
  timer.set(1_000);
  isPending = true;
  clock.advance(1_000);
  timer.set(2_000);
  expect([timer.clearDue(), clock.pending]).toEqual([false, [2_000]]);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AgreedTime } from "../../../agent/push/agreed-time.ts";

// Method: the test sets this machine's clock, the running time and the server's clock.

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const SECOND = 1_000;
const HOUR = 60 * 60 * SECOND;
const DAY = 24 * 60 * 60 * SECOND;
const YEARS = 3 * 365 * DAY;

function machine(notBefore = 0) {
  let running = 500; // a Date header has whole seconds
  let ahead = 0;
  const wall = () => NOON + running + ahead;
  const time = new AgreedTime(notBefore, { wall, running: () => running });
  return {
    time,
    /** The true time. */
    truth: () => NOON + running,
    pass: (ms: number) => (running += ms),
    /** Sets this machine's clock that far ahead of the true time. */
    set: (ms: number) => (ahead = ms),
    /** The server responds with a clock that far ahead of the true time. */
    answer: (serverAhead = 0) => {
      const date = new Date(NOON + running + serverAhead).toUTCString();
      time.heard({ date, sentAt: wall(), receivedAt: wall() });
    },
  };
}

test("there is no agreed time before a response with a date", () => {
  const { time, set, answer } = machine();
  expect(time.now()).toBeNull();
  time.heard({ date: undefined, sentAt: NOON, receivedAt: NOON });
  expect(time.now()).toBeNull();
  answer();
  expect(time.now()).toBe(NOON + 500);
  set(YEARS);
  expect(time.now()).toBeNull();
});

test("the times are whole milliseconds, which the spool's columns demand, though the running time has fractions", () => {
  const { time, pass, set, answer } = machine();
  answer(-5 * 60 * SECOND);
  pass(0.3);
  set(2 * DAY - 0.7);
  expect(Number.isInteger(time.best())).toBe(true);
  set(-HOUR - 0.2);
  expect([time.best(), time.now()].map(Number.isInteger)).toEqual([true, true]);
});

test.each([YEARS, -YEARS, 2 * DAY, -2 * DAY])(
  "a clock that is %i ms off ends the agreed time until it is right",
  (ms) => {
    const { time, set, pass, answer, truth } = machine();
    answer();
    pass(60 * SECOND);
    expect(time.now()).toBe(truth());
    set(ms);
    expect(time.now()).toBeNull();
    answer();
    expect(time.now()).toBeNull();
    set(0);
    expect(time.now()).toBeNull();
    answer();
    expect(time.now()).toBe(truth());
    answer(ms);
    expect(time.now()).toBeNull();
  },
);

test("clocks that differ by hours agree about days, and the earlier one counts", () => {
  const { time, set, answer, truth } = machine();
  set(3 * 60 * 60 * SECOND);
  answer();
  expect(time.now()).toBe(truth());
  set(-3 * 60 * 60 * SECOND);
  answer();
  expect(time.now()).toBe(truth() - 3 * 60 * 60 * SECOND);
});

test.each([60 * 60 * SECOND, DAY, YEARS])("the best time stays right while this machine's clock is %i ms off", (ms) => {
  const { time, set, pass, answer, truth } = machine();
  answer();
  for (const off of [ms, -ms]) {
    set(off);
    pass(10 * SECOND);
    expect(time.best()).toBe(off > 0 ? truth() : truth() + off); // nothing has confirmed the jump yet
    answer();
    pass(10 * SECOND);
    expect(time.best()).toBe(truth());
    set(0);
    expect(time.best()).toBeLessThanOrEqual(truth());
    answer();
    expect(time.best()).toBe(truth());
  }
});

test.each([DAY, -DAY, YEARS, -YEARS])("a server whose clock jumps by %i ms changes no time of this machine", (ms) => {
  const { time, pass, answer, truth } = machine();
  answer();
  pass(60 * SECOND);
  answer(ms);
  expect(time.best()).toBe(truth());
});

test.each([
  [YEARS, -YEARS],
  [-YEARS, YEARS],
  [-YEARS, -2 * YEARS],
  [YEARS, DAY],
])(
  "while both clocks are wrong, by %i and %i ms, the earlier one counts, but not before an agreed time",
  (own, server) => {
    const { time, set, pass, answer, truth } = machine(NOON - DAY);
    answer();
    pass(HOUR);
    set(own);
    answer(server);
    const ahead = Math.max(0, Math.min(own, server));
    expect(Math.abs(time.best() - truth() - ahead)).toBeLessThanOrEqual(SECOND);
    expect(time.now()).toBeNull();
  },
);

test("without an earlier agreement a clock earlier than a known time is wrong, else the earlier one counts", () => {
  const known = machine(NOON - DAY);
  known.set(-YEARS);
  expect(known.time.best()).toBe(NOON - DAY);
  known.answer();
  expect(known.time.best()).toBe(known.truth());
  const knownToo = machine(NOON - DAY);
  knownToo.answer(-YEARS);
  expect(knownToo.time.best()).toBe(knownToo.truth());
  const unknown = machine();
  unknown.answer(YEARS);
  expect(unknown.time.best()).toBe(unknown.truth());
  unknown.set(YEARS);
  unknown.answer();
  expect(unknown.time.best()).toBe(unknown.truth());
});

test("random jumps of this machine's clock never put the time ahead nor allow a removal too early while the server is right", () => {
  const jump = fc.oneof(fc.constant(0), fc.integer({ min: -YEARS, max: YEARS }), fc.integer({ min: -DAY, max: DAY }));
  const step = fc.record({ jump, passes: fc.integer({ min: 0, max: DAY }), answers: fc.boolean() });
  const check = (steps: readonly { jump: number; passes: number; answers: boolean }[]) => {
    const { time, set, pass, answer, truth } = machine();
    answer();
    for (const { jump: ahead, passes, answers } of steps) {
      set(ahead);
      pass(passes);
      if (answers) answer();
      // A minute counts as equal, before and after a jump; a Date header has whole seconds.
      expect(time.best() - truth()).toBeLessThanOrEqual(2 * 60 * SECOND + SECOND);
      const removal = time.now() ?? Number.NEGATIVE_INFINITY;
      expect(removal - truth()).toBeLessThanOrEqual(DAY + 2 * 60 * SECOND);
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), check));
});

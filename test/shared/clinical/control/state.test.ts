import * as fc from "fast-check";
import { expect, test } from "vitest";
import { judge } from "../../../../shared/clinical/control/rules.ts";
import { stateAt } from "../../../../shared/clinical/control/state.ts";
import type { JudgedRun, RuleChoice } from "../../../../shared/clinical/control/types.ts";

const RULES: RuleChoice = { "1-2s": "warn", "1-3s": "reject", "2-2s": "reject", "R-4s": "reject" };

type Levels = Readonly<Record<string, number | undefined>>;

/** Judges a run at each time: `{ 9: { L1: 3.5 } }` is a failure at 9. */
function judged(runs: Readonly<Record<number, Levels>>): JudgedRun[] {
  const list = Object.entries(runs).map(([at, levels]) => ({
    at: Number(at),
    points: Object.entries(levels).flatMap(([level, z]) =>
      z === undefined ? [] : [{ id: `${level}.${at}`, level, z }],
    ),
  }));
  return judge(list, RULES);
}

const NO_AGE = { maxAgeMs: null };

test("there is no state before the first control", () => {
  expect(stateAt([], 5, NO_AGE)).toEqual({ quality: "none", since: null });
  expect(stateAt(judged({ 9: { L1: 0 } }), 8, NO_AGE)).toEqual({ quality: "none", since: null });
});

test("a passing control is ok from its own moment on, since the first of those in a row", () => {
  const runs = judged({ 8: { L1: 0 }, 9: { L1: 1 } });
  expect(stateAt(runs, 8, NO_AGE)).toEqual({ quality: "ok", since: 8 });
  expect(stateAt(runs, 900, NO_AGE)).toEqual({ quality: "ok", since: 8 });
});

test("a failed control marks until its level passes, not until a time is over", () => {
  const runs = judged({ 8: { L1: 0 }, 9: { L1: 3.5 }, 12: { L1: 0.1 } });
  const failed = { quality: "failed", since: 9, rule: "1-3s" };
  expect(stateAt(runs, 9, { maxAgeMs: 1 })).toEqual(failed);
  expect(stateAt(runs, 11.9, { maxAgeMs: 1 })).toEqual(failed);
  expect(stateAt(runs, 12, { maxAgeMs: 1 })).toEqual({ quality: "ok", since: 12 });
});

test("a failure lasts since its first control, with the rule that this one broke", () => {
  const runs = judged({ 8: { L1: 2.1 }, 9: { L1: 2.2 }, 10: { L1: 3.3 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "failed", since: 9, rule: "2-2s" });
});

test("one level fails alone, and the pass of another level does not end it", () => {
  const runs = judged({ 9: { L1: 3.5, L2: 0 }, 10: { L2: 0 }, 11: { L1: 0 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "failed", since: 9, rule: "1-3s" });
  expect(stateAt(runs, 11, NO_AGE)).toEqual({ quality: "ok", since: 11 });
});

test("the level that passed in a failed run is not asked for again", () => {
  const runs = judged({ 9: { L1: 3.5, L2: 0 }, 10: { L1: 0 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "ok", since: 10 });
});

test("a rule over both levels fails both, so that both have to pass", () => {
  const runs = judged({ 9: { L1: 2.3, L2: -2.3 }, 10: { L1: 0 }, 11: { L2: 0 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "failed", since: 9, rule: "R-4s" });
  expect(stateAt(runs, 11, NO_AGE)).toEqual({ quality: "ok", since: 11 });
});

test("the level that has failed for the longest gives the time and the rule", () => {
  const runs = judged({ 9: { L1: 3.5, L2: 0 }, 10: { L1: 3.6, L2: -3.5 }, 11: { L1: 0, L2: -0.5 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "failed", since: 9, rule: "1-3s" });
  expect(stateAt(runs, 11, NO_AGE)).toEqual({ quality: "ok", since: 11 });
});

test("a warning passes: it ends a failure and is a state of its own", () => {
  const runs = judged({ 9: { L1: 3.5 }, 10: { L1: -2.5 }, 11: { L1: 0 } });
  expect(stateAt(runs, 10, NO_AGE)).toEqual({ quality: "warning", since: 10, rule: "1-2s" });
  expect(stateAt(runs, 11, NO_AGE)).toEqual({ quality: "ok", since: 11 });
});

test("a control that is older than the schedule allows is none, since its own time", () => {
  const runs = judged({ 10: { L1: 0 }, 30: { L1: 0 } });
  expect(stateAt(runs, 15, { maxAgeMs: 5 })).toEqual({ quality: "ok", since: 10 });
  expect(stateAt(runs, 16, { maxAgeMs: 5 })).toEqual({ quality: "none", since: 10 });
  expect(stateAt(runs, 30, { maxAgeMs: 5 })).toEqual({ quality: "ok", since: 30 });
  const warned = judged({ 10: { L1: 2.5 } });
  expect(stateAt(warned, 16, { maxAgeMs: 5 })).toEqual({ quality: "none", since: 10 });
});

test("a control that fails later asks about the results since the last good one", () => {
  const runs = judged({ 8: { L1: 0 }, 12: { L1: 0 }, 16: { L1: 3.5 }, 17: { L1: 0 } });
  const afterwards = { at: 16, rule: "1-3s" };
  expect(stateAt(runs, 9, NO_AGE)).toEqual({ quality: "ok", since: 8 });
  expect(stateAt(runs, 12, NO_AGE)).toEqual({ quality: "ok", since: 8, afterwards });
  expect(stateAt(runs, 16, NO_AGE)).toEqual({ quality: "failed", since: 16, rule: "1-3s" });
  expect(stateAt(runs, 17, NO_AGE)).toEqual({ quality: "ok", since: 17 });
  expect(stateAt(judged({ 8: { L1: 3.5 }, 9: { L1: 3.5 } }), 8, NO_AGE)).not.toHaveProperty("afterwards");
});

test("the pass of another level does not answer for the level that fails later", () => {
  const runs = judged({ 8: { L1: 0, L2: 0 }, 10: { L2: 0 }, 12: { L1: -3.5 } });
  expect(stateAt(runs, 9, NO_AGE).afterwards).toEqual({ at: 12, rule: "1-3s" });
  expect(stateAt(judged({ 12: { L1: -3.5 } }), 9, NO_AGE)).toEqual({
    quality: "none",
    since: null,
    afterwards: { at: 12, rule: "1-3s" },
  });
});

const z = fc.constantFrom(0, 0.5, -1.5, 2.2, -2.2, 3.5, -3.5);
const series = fc.array(fc.record({ L1: z, L2: z }, { requiredKeys: [] }), { maxLength: 12 });
const hourly = (values: readonly Levels[]) => judged(Object.fromEntries(values.map((run, at) => [at + 1, run])));

test("a moment is failed exactly if the latest value of a level belongs to a rejection", () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 0, max: 13 }), (values, at) => {
      const runs = hourly(values);
      const fails = ["L1", "L2"].some((level) => {
        const latest = runs.findLast(({ run }) => run.at <= at && run.points.some((one) => one.level === level));
        return latest?.violations.some(
          ({ verdict, points }) => verdict === "reject" && points.includes(`${level}.${latest.run.at}`),
        );
      });
      expect(stateAt(runs, at, NO_AGE).quality === "failed").toBe(fails);
    }),
  );
});

test("a later control changes nothing of an earlier moment but what failed afterwards", () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 0, max: 13 }), (values, at) => {
      const { afterwards: _, ...state } = stateAt(hourly(values), at, NO_AGE);
      expect(state).toEqual(stateAt(hourly(values.slice(0, at)), at, NO_AGE));
    }),
  );
});

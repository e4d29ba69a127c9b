import * as fc from "fast-check";
import { expect, test } from "vitest";
import { judge } from "../../../../shared/clinical/control/rules.ts";
import type { JudgedRun, RuleChoice, Run, Violation } from "../../../../shared/clinical/control/types.ts";
import textbook from "./westgard-cases.json" with { type: "json" };

const ALL: RuleChoice = {
  "1-2s": "warn",
  "1-3s": "reject",
  "2-2s": "reject",
  "R-4s": "reject",
  "4-1s": "reject",
  "10x": "reject",
};

type Values = Readonly<Record<string, number | undefined>>;

/** A run each hour; the id of a value is its level and its run: `L1.0`. */
function runsOf(values: readonly Values[]): Run[] {
  return values.map((levels, index) => ({
    at: index * 3_600_000,
    points: Object.entries(levels).flatMap(([level, z]) =>
      z === undefined ? [] : [{ id: `${level}.${index}`, level, z }],
    ),
  }));
}

const judgeAll = (values: readonly Values[], restarts?: readonly number[]) => judge(runsOf(values), ALL, restarts);
const lastOf = (judged: readonly JudgedRun[]) => judged.at(-1)?.violations ?? [];
const level1 = (...zs: number[]) => zs.map((z) => ({ L1: z }));

/** Names a violation as the textbook cases do. */
function textbookName({ rule, scope }: Violation): string {
  const suffixes: Partial<Record<string, string>> = {
    "2-2s run": "within",
    "2-2s level": "across",
    "4-1s level": "one level",
    "4-1s levels": "both levels",
    "10x level": "one level",
    "10x levels": "both levels",
  };
  return [rule, suffixes[`${rule} ${scope}`]].filter((part) => part !== undefined).join(" ");
}

test.each(textbook.cases)("textbook: $name", ({ runs, fires, verdict }) => {
  const judged = judgeAll(runs);
  const worst = (["reject", "warn", "accept"] as const).find((one) => judged.some((run) => run.verdict === one));
  const fired = new Set(judged.flatMap(({ violations }) => violations.map(textbookName)));
  expect({ fires: fired, verdict: worst }).toEqual({ fires: new Set<string>(fires), verdict });
});

test("there are 22 textbook cases", () => {
  expect(textbook.cases).toHaveLength(22);
});

test("a violation has its rule, its scope, its side and the values that broke it together, the last one last", () => {
  expect(
    judgeAll([
      { L1: 2.5, L2: 0 },
      { L1: 2.2, L2: -3.5 },
    ]),
  ).toEqual([
    {
      run: expect.anything(),
      verdict: "warn",
      violations: [{ rule: "1-2s", verdict: "warn", scope: "level", side: "high", points: ["L1.0"] }],
    },
    {
      run: expect.anything(),
      verdict: "reject",
      violations: [
        { rule: "1-2s", verdict: "warn", scope: "level", side: "high", points: ["L1.1"] },
        { rule: "1-2s", verdict: "warn", scope: "level", side: "low", points: ["L2.1"] },
        { rule: "1-3s", verdict: "reject", scope: "level", side: "low", points: ["L2.1"] },
        { rule: "R-4s", verdict: "reject", scope: "run", side: "both", points: ["L1.1", "L2.1"] },
        { rule: "2-2s", verdict: "reject", scope: "level", side: "high", points: ["L1.0", "L1.1"] },
      ],
    },
  ]);
});

test("a row that goes on breaks its rule again, by its last values", () => {
  const judged = judgeAll(level1(1.1, 1.2, 1.3, 1.4, 1.5));
  expect(judged.map(({ violations }) => violations.map(({ points }) => points))).toEqual([
    [],
    [],
    [],
    [["L1.0", "L1.1", "L1.2", "L1.3"]],
    [["L1.1", "L1.2", "L1.3", "L1.4"]],
  ]);
});

test("a rule that is not in force finds nothing, and one that warns rejects nothing", () => {
  const runs = runsOf([{ L1: 3.5, L2: 2.5 }]);
  expect(judge(runs, {})[0]).toMatchObject({ verdict: "accept", violations: [] });
  expect(judge(runs, { "1-3s": "warn" })[0]).toMatchObject({ verdict: "warn", violations: [{ rule: "1-3s" }] });
});

test("with three levels any two break 2-2s and R-4s, and rows over all levels need complete runs", () => {
  const ofRun = (values: Values) => lastOf(judgeAll([values])).filter(({ scope }) => scope === "run");
  expect(ofRun({ L1: 2.1, L2: 0, L3: 2.3 })).toMatchObject([{ rule: "2-2s", points: ["L1.0", "L3.0"] }]);
  expect(ofRun({ L1: 0, L2: 2.1, L3: -2.3 })).toMatchObject([{ rule: "R-4s", points: ["L2.0", "L3.0"] }]);
  const shifted = { L1: 1.1, L2: 1.2, L3: 1.3 };
  expect(lastOf(judgeAll([shifted]))).toEqual([]);
  expect(lastOf(judgeAll([shifted, shifted]))).toMatchObject([{ rule: "4-1s", scope: "levels" }]);
  const near = { L1: 0.1, L2: 0.2, L3: 0.3 };
  expect(lastOf(judgeAll([near, near, near]))).toEqual([]);
  const [violation] = lastOf(judgeAll([near, near, near, near]));
  expect(violation).toMatchObject({ rule: "10x", scope: "levels" });
  expect(violation?.points).toHaveLength(12);
});

test("a missing level ends the rows over all levels, but not the row of a level", () => {
  const both = { L1: 1.5, L2: 1.5 };
  expect(lastOf(judgeAll([both, { L1: 1.5 }, both]))).toEqual([]);
  expect(lastOf(judgeAll([both, { L2: 0 }, { L1: 1.5 }, { L1: 1.5 }, { L1: 1.5 }]))).toMatchObject([
    { rule: "4-1s", scope: "level", points: ["L1.0", "L1.2", "L1.3", "L1.4"] },
  ]);
});

test("all rows start again at a new lot, target or repair", () => {
  const nine = level1(...Array.from({ length: 9 }, () => 0.2));
  expect(lastOf(judgeAll([...nine, { L1: 0.2 }]))).toMatchObject([{ rule: "10x" }]);
  expect(lastOf(judgeAll([...nine, { L1: 0.2 }], [9 * 3_600_000]))).toEqual([]);
  expect(lastOf(judgeAll([...nine, { L1: 0.2 }], [0]))).toMatchObject([{ rule: "10x" }]);
  expect(lastOf(judgeAll([{ L1: 2.1 }, { L1: 2.1 }], [1, 2, 3_600_000]))).toMatchObject([{ rule: "1-2s" }]);
});

const z = fc.oneof(
  fc.constantFrom(0, 1, -1, 2, -2, 3, -3),
  fc.double({ min: -4, max: 4, noNaN: true }),
  // Rows on one side are rare among random values.
  fc.double({ min: 0.001, max: 2.5, noNaN: true }),
);
const series = fc.array(fc.record({ L1: z, L2: z, L3: z }, { requiredKeys: [] }), { maxLength: 30 });

const flip = (values: readonly Values[]) =>
  values.map((run) =>
    Object.fromEntries(Object.entries(run).map(([level, value]) => [level, value === undefined ? value : -value])),
  );
const OTHER_SIDE = { high: "low", low: "high", both: "both" } as const;

test("a mirrored series breaks the same rules on the other side", () => {
  fc.assert(
    fc.property(series, (values) => {
      const mirrored = judgeAll(flip(values)).map(({ violations }) =>
        violations.map((one) => ({ ...one, side: OTHER_SIDE[one.side] })),
      );
      const keyed = (lists: readonly (readonly Violation[])[]) =>
        lists.map((list) => list.map((one) => JSON.stringify(one, Object.keys(one).toSorted())).toSorted());
      expect(keyed(mirrored)).toEqual(keyed(judgeAll(values).map(({ violations }) => violations)));
    }),
  );
});

test("a later run changes no judgement, and neither does an earlier one before a restart", () => {
  fc.assert(
    fc.property(series, series, (before, after) => {
      const whole = judgeAll([...before, ...after], [before.length * 3_600_000]);
      expect(whole.slice(0, before.length)).toEqual(judgeAll(before));
      const alone = judgeAll(after).map(({ verdict }) => verdict);
      expect(whole.slice(before.length).map(({ verdict }) => verdict)).toEqual(alone);
    }),
  );
});

test("the order of the levels in a run changes no rule that it breaks", () => {
  fc.assert(
    fc.property(series, (values) => {
      const reversed = runsOf(values).map((run) => ({ ...run, points: run.points.toReversed() }));
      const rules = (judged: readonly JudgedRun[]) =>
        judged.map(({ violations }) =>
          violations.map(({ rule, scope, side }) => `${rule} ${scope} ${side}`).toSorted(),
        );
      expect(rules(judge(reversed, ALL))).toEqual(rules(judgeAll(values)));
    }),
  );
});

test("values within 1 SD break no rule but 10x, and within 2 SD none of a run", () => {
  const within = (limit: number) =>
    fc.array(fc.dictionary(fc.constantFrom("L1", "L2"), fc.double({ min: -limit, max: limit, noNaN: true })), {
      maxLength: 30,
    });
  fc.assert(
    fc.property(within(1), within(2), (near, far) => {
      const rulesOf = (values: readonly Values[]) =>
        judgeAll(values).flatMap(({ violations }) => violations.map(({ rule }) => rule));
      expect(rulesOf(near).filter((rule) => rule !== "10x")).toEqual([]);
      expect(rulesOf(far).filter((rule) => rule !== "10x" && rule !== "4-1s")).toEqual([]);
    }),
  );
});

test("each violation names values of its rule, and the last is of the run", () => {
  const limits = { "1-2s": 2, "1-3s": 3, "2-2s": 2, "R-4s": 2, "4-1s": 1, "10x": 0 };
  const least = { "1-2s": 1, "1-3s": 1, "2-2s": 2, "R-4s": 2, "4-1s": 4, "10x": 10 };
  fc.assert(
    fc.property(series, (values) => {
      const judged = judgeAll(values);
      const known = new Map(judged.flatMap(({ run }) => run.points).map((point) => [point.id, point.z]));
      for (const { run, violations } of judged) {
        for (const { rule, side, points } of violations) {
          const zs = points.map((id) => known.get(id) ?? Number.NaN);
          expect(points.length).toBeGreaterThanOrEqual(least[rule]);
          expect(zs.every((one) => Math.abs(one) > limits[rule])).toBe(true);
          expect(new Set(zs.map(Math.sign)).size).toBe(side === "both" ? 2 : 1);
          expect(run.points.map(({ id }) => id)).toContain(points.at(-1));
        }
      }
    }),
  );
});

/** The published words of 4-1s and 10x for one level, tried on all windows. */
test("the rows of one level are those of a plain search of all windows", () => {
  fc.assert(
    fc.property(fc.array(z, { maxLength: 40 }), (zs) => {
      const windows = (count: number, isBeyond: (value: number) => boolean) =>
        zs.flatMap((_, end) => {
          const window = zs.slice(Math.max(0, end + 1 - count), end + 1);
          return window.length === count && window.every(isBeyond) ? [end] : [];
        });
      const judged = judgeAll(level1(...zs));
      const endsOf = (rule: string, side: string) =>
        judged.flatMap(({ violations }, end) =>
          violations.some((one) => one.rule === rule && one.scope === "level" && one.side === side) ? [end] : [],
        );
      for (const [rule, count, limit] of [
        ["2-2s", 2, 2],
        ["4-1s", 4, 1],
        ["10x", 10, 0],
      ] as const) {
        expect(endsOf(rule, "high")).toEqual(windows(count, (value) => value > limit));
        expect(endsOf(rule, "low")).toEqual(windows(count, (value) => value < -limit));
      }
    }),
  );
});

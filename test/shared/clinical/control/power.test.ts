import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { judge } from "../../../../shared/clinical/control/rules.ts";
import type { JudgedRun, Rule, RuleChoice, Run } from "../../../../shared/clinical/control/types.ts";
import { type Dice, diceOf } from "../../../support/runner/dice.ts";
import { below, normalOf } from "./normal.ts";

// How often the rules find planted errors, and how often they are wrong: 10 000 series of two levels, with fixed seeds. The tables are
// in the README of shared/clinical/control.

const README = path.resolve(import.meta.dirname, "../../../../shared/clinical/control/README.md");

const ALL: RuleChoice = {
  "1-2s": "warn",
  "1-3s": "reject",
  "2-2s": "reject",
  "R-4s": "reject",
  "4-1s": "reject",
  "10x": "reject",
};
/** Runs before the error, so that rows have their length when it begins, and runs with it. */
const BEFORE = 10;
const WITH = 10;

interface Planted {
  readonly name: string;
  readonly series: number;
  /** What an undisturbed value becomes, by the number of runs since the error began and by the level. */
  readonly bend: (z: number, since: number, level: number) => number;
}

const shift = (size: number): Planted => ({ name: `shift of ${size} SD`, series: 1_000, bend: (z) => z + size });
const PLANTED: readonly Planted[] = [
  { name: "nothing", series: 4_000, bend: (z) => z },
  shift(1),
  shift(2),
  shift(3),
  { name: "drift of 0.3 SD a run", series: 1_000, bend: (z, since) => z + 0.3 * (since + 1) },
  {
    name: "one value off by 4 SD",
    series: 1_000,
    bend: (z, since, level) => (since === 0 && level === 0 ? z + 4 : z),
  },
  { name: "SD doubled", series: 1_000, bend: (z) => 2 * z },
];

function seriesOf({ bend }: Planted, dice: Dice): Run[] {
  return Array.from({ length: BEFORE + WITH }, (_, at) => ({
    at,
    points: ["1", "2"].map((level, index) => {
      const z = normalOf(dice);
      return { id: `${level}.${at}`, level, z: at < BEFORE ? z : bend(z, at - BEFORE, index) };
    }),
  }));
}

const judgedSeries = new Map(
  PLANTED.map((planted, index) => {
    const dice = diceOf(45 + index);
    return [planted.name, Array.from({ length: planted.series }, () => judge(seriesOf(planted, dice), ALL))] as const;
  }),
);

function seriesWith(name: string): readonly JudgedRun[][] {
  return judgedSeries.get(name) ?? [];
}

const breaks = ({ violations }: JudgedRun, rules: readonly Rule[]) =>
  violations.some(({ rule }) => rules.includes(rule));

/** Returns the share of series in which a run with the error breaks one of the rules within so many runs. */
function found(name: string, rules: readonly Rule[], within: number): number {
  const series = seriesWith(name);
  const hits = series.filter((runs) => runs.slice(BEFORE, BEFORE + within).some((run) => breaks(run, rules)));
  return hits.length / series.length;
}

/** Returns the share of undisturbed runs that break one of the rules. */
function falseAlarms(rules: readonly Rule[]): number {
  const runs = seriesWith("nothing").flatMap((series) => series.slice(BEFORE));
  return runs.filter((run) => breaks(run, rules)).length / runs.length;
}

const SETS: readonly (readonly [string, readonly Rule[]])[] = [
  ["1-3s", ["1-3s"]],
  ["with 2-2s, R-4s", ["1-3s", "2-2s", "R-4s"]],
  ["with 4-1s", ["1-3s", "2-2s", "R-4s", "4-1s"]],
  ["with 10x", ["1-3s", "2-2s", "R-4s", "4-1s", "10x"]],
];
const [OF_3S, WITHIN, , EVERY] = SETS.map(([, rules]) => rules);

/** Four standard errors of a share that was counted. */
const margin = (share: number, count: number) => 4 * Math.sqrt((share * (1 - share)) / count);

const beyond = (limit: number) => 2 * below(-limit);
/** Both values of a run are safe, by the normal curve. */
const either = (single: number) => 1 - (1 - single) ** 2;

/**
 * False alarms in a run of two by the normal curve. The rows of a level and of both levels overlap, so that their sum is a bound from
 * above; a row of one level alone is one from below.
 */
const EXPECTED: readonly (readonly [Rule, number, number])[] = [
  ["1-2s", either(beyond(2)), either(beyond(2))],
  ["1-3s", either(beyond(3)), either(beyond(3))],
  ["R-4s", 2 * below(-2) ** 2, 2 * below(-2) ** 2],
  ["2-2s", 2 * below(-2) ** 2, 3 * 2 * below(-2) ** 2],
  ["4-1s", 2 * below(-1) ** 4, 3 * 2 * below(-1) ** 4],
  ["10x", 2 * 0.5 ** 10, 3 * 2 * 0.5 ** 10],
];

test("false alarms are those of the normal curve", () => {
  expect(beyond(2)).toBeCloseTo(0.0455, 4);
  expect(beyond(3)).toBeCloseTo(0.0027, 4);
  expect(either(beyond(2))).toBeCloseTo(0.089, 3);
  expect(either(beyond(3))).toBeCloseTo(0.0054, 4);
  const runs = seriesWith("nothing").flatMap((series) => series.slice(BEFORE));
  const outside = EXPECTED.filter(([rule, least, most]) => {
    const counted = falseAlarms([rule]);
    return counted < least - margin(least, runs.length) || counted > most + margin(most, runs.length);
  });
  expect(outside).toEqual([]);
  const values = runs.flatMap(({ violations }) => violations.filter(({ rule }) => rule === "1-2s"));
  const single = values.length / (2 * runs.length);
  expect(Math.abs(single - beyond(2))).toBeLessThan(margin(beyond(2), 2 * runs.length));
});

/** Detection in the first run by the normal curve: of 1-3s, and of it with the rules within a run. */
function curve(mean: readonly [number, number], sd: number): readonly [number, number] {
  const inside = (limit: number, by: number) => below((limit - by) / sd) - below((-limit - by) / sd);
  const [one, other] = mean.map((by) => ({ three: inside(3, by), two: inside(2, by) }));
  if (one === undefined || other === undefined) throw new Error("expected two levels");
  const safe = one.three * other.three;
  // Two values between 2 and 3 SD break 2-2s on the same side, and R-4s on two.
  const bothOff = (one.three - one.two) * (other.three - other.two);
  return [1 - safe, 1 - safe + bothOff];
}

const CURVES: Readonly<Record<string, readonly [number, number]>> = {
  nothing: curve([0, 0], 1),
  "shift of 1 SD": curve([1, 1], 1),
  "shift of 2 SD": curve([2, 2], 1),
  "shift of 3 SD": curve([3, 3], 1),
  "drift of 0.3 SD a run": curve([0.3, 0.3], 1),
  "one value off by 4 SD": curve([4, 0], 1),
  "SD doubled": curve([0, 0], 2),
};

test.each(PLANTED)("the first run with $name is found as often as the normal curve says", ({ name, series }) => {
  const [ofSingle, ofRun] = CURVES[name] ?? [Number.NaN, Number.NaN];
  const single = found(name, OF_3S ?? [], 1);
  const run = found(name, WITHIN ?? [], 1);
  expect(Math.abs(single - ofSingle)).toBeLessThan(margin(ofSingle, series));
  expect(run).toBeGreaterThan(ofRun - margin(ofRun, series));
  // 2-2s also looks at the run before, where 1 of 44 values of a level is beyond the limit.
  expect(run).toBeLessThan(ofRun + 2 * below(-2) + margin(ofRun, series));
});

test("the order of the rules is that of the published power functions", () => {
  for (const { name } of PLANTED.filter(({ name: one }) => one.startsWith("shift"))) {
    const shares = SETS.map(([, rules]) => found(name, rules, WITH));
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  }
  // For a random error the rules over runs add little to those within one: it is found by 1-3s and R-4s.
  const random = SETS.map(([, rules]) => found("SD doubled", rules, 1));
  expect((random[3] ?? 0) - (random[1] ?? 0)).toBeLessThan(0.05);
  // A small shift that goes on is found by the rules over runs.
  expect(found("shift of 1 SD", EVERY ?? [], WITH)).toBeGreaterThan(2 * found("shift of 1 SD", OF_3S ?? [], WITH));
});

const percent = (share: number, digits = 0) => (share * 100).toFixed(digits);

function tables(): string[] {
  const alarms = EXPECTED.map(([rule, least, most]) => {
    const bounds = least === most ? percent(least, 2) : `${percent(least, 2)} to ${percent(most, 2)}`;
    return `| ${rule} | ${percent(falseAlarms([rule]), 2)} | ${bounds} |`;
  });
  const rejections = SETS.slice(1).map(([name, rules]) => `| ${name} | ${percent(falseAlarms(rules), 2)} | |`);
  const detection = PLANTED.map(({ name }) => {
    const cells = SETS.map(([, rules]) =>
      [1, 5, WITH].map((within) => percent(found(name, rules, within))).join(" / "),
    );
    const curves = CURVES[name]?.map((share) => percent(share, 1)).join(" and ");
    return `| ${name} | ${cells.join(" | ")} | ${curves} |`;
  });
  return [
    ["| rule | false alarms, % of runs | normal curve |", "|---|---|---|", ...alarms, ...rejections],
    [
      `| planted | ${SETS.map(([name]) => name).join(" | ")} | normal curve, first run |`,
      "|---|---|---|---|---|---|",
      ...detection,
    ],
  ].map((rows) => rows.join("\n"));
}

test("the README has the tables of these series", () => {
  const readme = fs.readFileSync(README, "utf8");
  for (const table of tables()) {
    process.stdout.write(`${table}\n`);
    expect(readme).toContain(table);
  }
});

import { expect, test } from "vitest";
import {
  type JudgedValue,
  type JudgingFacts,
  judgeValues,
  type TargetedSeries,
} from "../../../../server/records/controls/judging.ts";
import { stateAt } from "../../../../shared/clinical/control/state.ts";

const DAY_MS = 86_400_000;
const start = Date.parse("2026-08-01T06:00:00.000Z");

/** A series with mean 100 and SD 2. `fullAt` is the time of its 20th run. */
function series(id: number, level: string, changes: Partial<TargetedSeries> = {}): TargetedSeries {
  return {
    ...{ id, device_id: "chem-1", analyte: "ALT", unit: "U/L", material: "Multi", level, lot: "A", expires: null },
    ...{ runs: 40, counted: 40, mean: 100, sd: 2, last_at: null, recent_at: null },
    ...{ full_at: null, full_mean: null, full_sd: null },
    targets: [
      { ...{ series_id: id, from_at: 0, mean: 100, sd: 2, basis: "sheet", runs: null }, author: "Ada", at: start },
    ],
    ...changes,
  };
}

let last = 0;
const value = (of: number, at: number, z: number): JudgedValue => ({
  ...{ id: (last += 1), series_id: of, measured_at: at, value: 100 + 2 * z, comparator: null, excluded_at: null },
});

function rulesOf(values: readonly JudgedValue[], facts: Partial<JudgingFacts>): string[][] {
  const judged = judgeValues(values, { series: [series(1, "1")], own: null, timeZone: null, restarts: [], ...facts });
  return judged.map(({ violations }) => violations.map(({ rule, verdict }) => `${rule} ${verdict}`));
}

test("a calibration or maintenance starts all rows again, and parts the values before it from those after", () => {
  const own = { "2-2s": "reject" } as const;
  const values = [value(1, start, 2.5), value(1, start + DAY_MS, 2.5)];
  expect(rulesOf(values, { own })).toEqual([[], ["2-2s reject"]]);
  expect(rulesOf(values, { own, restarts: [start + 3_600_000] })).toEqual([[], []]);
  const two = [series(1, "1"), series(2, "2")];
  const together = [value(1, start, 2.5), value(2, start + 600_000, 2.5)];
  expect(rulesOf(together, { own, series: two })).toEqual([["2-2s reject"]]);
  expect(rulesOf(together, { own, series: two, restarts: [start + 300_000] })).toEqual([[], []]);
});

test("the rules of a run are those of the runs up to it: the 20th run rejects nothing afterwards", () => {
  const at = (day: number) => start + day * DAY_MS;
  const full = { full_at: at(19), full_mean: 100, full_sd: 2 };
  const values = Array.from({ length: 30 }, (_, day) => {
    const z = day === 5 || day === 25 ? 2.5 : 0;
    return [value(1, at(day), z), value(2, at(day) + 60_000, z)];
  }).flat();
  const rules = rulesOf(values, { series: [series(1, "1", full), series(2, "2", full)] });
  expect(rules[5]).toEqual(["1-2s warn", "1-2s warn"]);
  expect(rules[25]).toEqual(["1-2s warn", "1-2s warn", "2-2s reject"]);
});

test("a passing control of one material hides no failure of another with the same name of its level", () => {
  const both = [series(1, "1", { material: "Chemistry" }), series(2, "1", { material: "Immunology", lot: "B" })];
  const values = [value(1, start, 4), value(2, start + 60_000, 0), value(2, start + DAY_MS, 0)];
  const judged = judgeValues(values, { series: both, own: null, timeZone: null, restarts: [] });
  expect(stateAt(judged, start + 2 * DAY_MS, { maxAgeMs: null })).toMatchObject({ quality: "failed", rule: "1-3s" });
});

test("a level keeps its failures when its material gets another name, and passes under the new one", () => {
  const names = [
    series(1, "1", { material: "" }),
    series(2, "1", { material: "Multi" }),
    series(3, "1", { material: "Multi", lot: "B" }),
    series(4, "1", { material: "Multi-Control", lot: "B" }),
    series(5, "2", { material: "Multi-Control" }),
  ];
  const facts = { series: names, own: null, timeZone: null, restarts: [] };
  for (const renamed of [2, 3, 4]) {
    const later = start + DAY_MS;
    const judged = judgeValues([value(1, start, 4), value(renamed, later, 0), value(5, later, 0)], facts);
    expect(stateAt(judged, start, { maxAgeMs: null }).quality).toBe("failed");
    expect(stateAt(judged, later, { maxAgeMs: null }).quality).toBe("ok");
  }
  const other = judgeValues([value(1, start, 4), value(5, start + DAY_MS, 0)], facts);
  expect(stateAt(other, start + DAY_MS, { maxAgeMs: null }).quality).toBe("failed");
});

test("a run at midnight is split by the clinic's day", () => {
  const midnight = Date.parse("2026-08-01T21:00:00.000Z");
  const own = { "R-4s": "reject" } as const;
  const values = [value(1, midnight - 60_000, 2.5), value(2, midnight + 60_000, -2.5)];
  const two = [series(1, "1"), series(2, "2")];
  expect(rulesOf(values, { own, series: two })).toEqual([["R-4s reject"]]);
  expect(rulesOf(values, { own, series: two, timeZone: "Europe/Istanbul" })).toEqual([[], []]);
});
